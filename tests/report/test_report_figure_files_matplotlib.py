"""The second renderer: figures as files."""

from xml.etree import ElementTree

import pytest
from matplotlib.image import imread

import osp_core as osp
from osp_core.report import Subject, demo_report, draw_output, plots, save_figures, write_run_report
from osp_core.report.axes import axes_of
from osp_core.report.matplotlib_figures import matplotlib_figure
from osp_core.runs import RunConfig, execute


def test_every_figure_becomes_an_svg_and_a_png(tmp_path, evidence):
    report = demo_report([Subject("one", "", (evidence(params={"classes": ["$x$", "<b>", "c"]}),))])
    written = save_figures(report, tmp_path)
    assert len(written) == 2 * len(report.figures()) == 20
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in written}
    for path in written:
        if path.suffix == ".svg":
            ElementTree.parse(path)
        else:
            assert imread(path).std() > 0.01  # something is drawn


def test_both_renderers_place_the_same_values(evidence):
    plot = plots.loss_plot([evidence()])
    axes = matplotlib_figure(plot).axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [line.name for line in plot.lines]
    horizontal, vertical = axes_of(plot)
    curve, line = axes.get_lines()[0], plot.lines[0]
    assert curve.get_xdata() == pytest.approx([horizontal.place(x) for x in line.x])
    assert curve.get_ydata() == pytest.approx([vertical.place(y) for y in line.y])
    assert axes.get_xlabel() == plot.x_label


@pytest.mark.parametrize(
    ("name", "params"), [("birkhoff", {"n": 3}), ("hypercube", {"d": 4}), ("ordinal", {"d": 3})]
)
def test_sketches_have_all_their_words(example, name, params):
    space = osp.make_space(name, **params)
    sketch = draw_output(space, example(space))
    words = {shape.text for shape in sketch.shapes if hasattr(shape, "text")}
    assert words <= {text.get_text() for text in matplotlib_figure(sketch).axes[0].texts}


def test_a_run_gets_its_figures(tmp_path):
    config = RunConfig(space="simplex", params={"d": 3}, stream="linear_teacher", rounds=20)
    written = write_run_report(tmp_path, execute(config, tmp_path / "run"), figures=True)
    assert {tmp_path / "figures" / "regret.svg", tmp_path / "figures" / "regret.png"} <= set(written)
    assert all(path.stat().st_size for path in written)


def test_control_characters_in_labels_leave_the_files_sound(tmp_path, evidence):
    strange = ["a\x00b", "\x1b[31m", "\x07", "\ufffe", "--", "]]>"]
    report = demo_report([Subject("one \x01", "", (evidence("hypercube", params={"labels": strange}),))])
    for path in save_figures(report, tmp_path, formats=["svg"]):
        ElementTree.parse(path)
