"""The plugin that offers the file formats of the core.

It only names the readers, and stands apart from them: they are built on the registry, and asking for a space
shall not import them.
"""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_formats() -> list[Registration]:
    takes = ("path", "wanted")
    text, arrays = "osp_core.runs.text_files", "osp_core.runs.array_files"
    return [
        Registration("csv", f"{text}:CsvTable", summary="comma-separated values", parameters=takes),
        Registration("tsv", f"{text}:CsvTable", summary="tab-separated values", parameters=takes),
        Registration("jsonl", f"{text}:JsonLinesTable", summary="a JSON object a line", parameters=takes),
        Registration("ndjson", f"{text}:JsonLinesTable", summary="a JSON object a line", parameters=takes),
        Registration("npz", f"{arrays}:NpzTable", summary="arrays of numpy", parameters=takes),
        Registration(
            "parquet",
            f"{arrays}:ParquetTable",
            summary="Parquet, read in batches",
            parameters=takes,
            requires={"pyarrow": "online-structured-prediction[all]"},
        ),
    ]
