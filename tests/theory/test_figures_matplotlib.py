"""Every experiment can be drawn."""

import pytest

from osp_core import experiments


@pytest.mark.parametrize("name", experiments.list_experiments())
def test_a_figure_is_drawn_and_saved(name, tmp_path):
    result = experiments.run(name, quick=True)
    written = result.save(tmp_path)
    figure = next(path for path in written if path.suffix == ".svg")
    assert figure.read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert result.figure().axes
