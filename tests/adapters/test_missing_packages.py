"""Each adapter, absent its package, says which extra brings it."""

import subprocess
import sys

import pytest

# What to do, the package that is hidden from it, and the extra that the message must name.
NEEDS = [
    ("import osp_core.adapters.sklearn", "sklearn", "sklearn"),
    ("import osp_core.adapters.river", "river", "river"),
    ("import osp_core.adapters.torch", "torch", "torch"),
    ("from osp_core.adapters.frames import make_frame as f; f('pandas', {})", "pandas", "all"),
    ("from osp_core.adapters.frames import make_frame as f; f('polars', {})", "polars", "all"),
    ("from osp_core.runs import open_table as f; f('d.parquet', 'label')", "pyarrow", "all"),
    ("from osp_core.runs.write_rows import *; write_rows(Path('new.parquet'), [])", "pyarrow", "all"),
    ("from osp_core.sweeps.schedulers import on_local_cores as f; f([], 2)", "joblib", "distributed"),
    (
        "from osp_core.sweeps.schedulers import on_dask as f; list(f([], 'tcp://x'))",
        "distributed",
        "distributed",
    ),
    ("from osp_core.report.matplotlib_figures import matplotlib_figure as f; f(None)", "matplotlib", "plot"),
    ("from osp_core.cli.terminal_tables import show_rich as f; f('title', [], [])", "rich", "rich"),
]


@pytest.mark.parametrize(("deed", "package", "extra"), NEEDS)
def test_an_absent_package_is_named_with_the_extra_that_brings_it(deed, package, extra, tmp_path):
    (tmp_path / "d.parquet").touch()
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from osp_core import MissingDependencyError\n"
        "try:\n"
        f"    {deed}\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert f"online-structured-prediction[{extra}]" in run.stdout


def test_no_part_of_the_core_imports_an_adapter():
    program = (
        "import sys, osp_core, osp_core.cli\n"
        "print([name for name in sys.modules if name.startswith('osp_core.adapters')])\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
