"""The figures of ``osp experiment``."""


def test_the_figure_is_written_as_svg_and_png(osp_command, tmp_path):
    result = osp_command("experiment", "tightness", "--quick", "--out", str(tmp_path))
    assert result.exit_code == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"tightness.csv", "tightness.md", "tightness.svg", "tightness.png"}
    assert (tmp_path / "tightness.png").read_bytes().startswith(b"\x89PNG")
