"""Figures as data and as SVG."""

import itertools
import math
from xml.etree import ElementTree

import pytest

import osp_core as osp
from osp_core.report import draw_output, plots
from osp_core.report.axes import Axis, axes_of, shown
from osp_core.report.figures import COLOURS, Box, Line, Plot, Stroke, Words
from osp_core.report.svg import WIDTH, figure_svg, standalone_svg

SPACES = {
    "simplex": {"classes": ["<script>alert(1)</script>", "b & c", 'd"e']},
    "hypercube": {"labels": ["red", "green", "a very long label indeed", "x"]},
    "ordinal": {"categories": ["low", "mid", "high"]},
    "permutahedron": {"d": 5},
    "birkhoff": {"n": 4},
    "assignment": {"m": 2, "n": 4},
    "matching": {"graph": [("a", "x"), ("b", "y"), ("a", "y"), ("b", "x")]},
    "graphic_matroid": {"edges": [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]},
    "k_subsets": {"d": 6, "k": 2},
    "partition_matroid": {"blocks": [["a", "b"], ["c", "d"]], "capacities": [1, 1]},
    "vertices": {"array": [[0.0, -2.0], [1.0, 3.0], [4.0, 0.0]]},
}


@pytest.fixture(params=SPACES)
def space(request):
    return osp.make_space(request.param, **SPACES[request.param])


def texts(figure):
    return [shape.text for shape in figure.shapes if isinstance(shape, Words)]


def test_every_output_becomes_well_formed_svg(space, example):
    drawn = draw_output(space, example(space))
    tree = ElementTree.fromstring(standalone_svg(drawn))
    assert tree.tag.endswith("svg")
    assert "<script" not in figure_svg(drawn)
    for shape in drawn.shapes:  # everything lies on the canvas
        if isinstance(shape, Box):
            assert 0 <= shape.x <= shape.x + shape.width <= drawn.width + 1
            assert 0 <= shape.y <= shape.y + shape.height <= drawn.height + 1
        if isinstance(shape, Words):
            assert 0 <= shape.y <= drawn.height


def test_all_roles_have_colours(space, example):
    for shape in draw_output(space, example(space)).shapes:
        roles = (shape.fill, shape.outline) if isinstance(shape, Box) else (shape.colour,)
        assert set(roles) <= {*COLOURS, ""}


def test_a_ranking_is_a_slope_chart(example):
    space = osp.make_space("permutahedron", d=4, items=["p", "q", "r", "s"])
    drawn = draw_output(space, example(space, right=True))
    slopes = [shape for shape in drawn.shapes if isinstance(shape, Stroke)]
    assert len(slopes) == 4
    assert all(start[1] == end[1] for start, end in (slope.points for slope in slopes))  # nothing moved
    wrong = draw_output(space, example(space, seed=1))
    assert any(
        shape.points[0][1] != shape.points[1][1] for shape in wrong.shapes if isinstance(shape, Stroke)
    )
    first = space.to_label(example(space).truth)[0]
    assert f"1. {first}" in texts(draw_output(space, example(space)))


def test_a_matching_joins_two_columns(example):
    space = osp.make_space("birkhoff", n=3)
    one = example(space, right=True)
    drawn = draw_output(space, one)
    green = {shape.points for shape in drawn.shapes if isinstance(shape, Stroke) and shape.colour == "green"}
    assert len(green) == 3
    assert {"place 1", "place 2", "place 3"} <= set(texts(drawn))
    wrong = example(space)
    colours = {s.colour for s in draw_output(space, wrong).shapes if isinstance(s, Stroke)}
    assert {"blue", "orange"} <= colours
    assert any(s.dashed for s in draw_output(space, wrong).shapes if isinstance(s, Stroke))


def test_a_tree_is_drawn_on_its_graph(example):
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    space = osp.make_space("graphic_matroid", edges=edges)
    drawn = draw_output(space, example(space, right=True))
    assert {"a", "b", "c", "d"} == set(texts(drawn))
    kinds = [shape.colour for shape in drawn.shapes if isinstance(shape, Stroke)]
    assert kinds.count("faint") == 4  # the graph
    assert kinds.count("green") == 3  # the tree


def test_a_label_set_is_chips(example):
    space = osp.make_space("hypercube", labels=["red", "green", "blue"])
    one = example(space)
    drawn = draw_output(space, one)
    chips = [shape for shape in drawn.shapes if isinstance(shape, Box)]
    assert [bool(chip.fill) for chip in chips] == [bool(value) for value in one.played]
    assert [text.split()[0] for text in texts(drawn)] == ["red", "green", "blue"]


def test_a_level_is_a_rung_of_a_ladder(example):
    space = osp.make_space("ordinal", categories=["low", "mid", "high"])
    drawn = draw_output(space, example(space, right=True))
    names = {shape.text: shape.y for shape in drawn.shapes if isinstance(shape, Words)}
    assert names["high"] < names["mid"] < names["low"]  # the highest is on top
    chances = [float(text) for text in texts(drawn) if text[0].isdigit()]
    assert sum(chances) == pytest.approx(1.0, abs=0.02)


def test_long_and_wide_names_are_cut_to_their_room(example):
    names = ["a name that is far too long", "構造化された予測の例題です", "two\nlines", ""]
    space = osp.make_space("simplex", classes=names)
    found = texts(draw_output(space, example(space)))
    assert "a name that…" in found
    assert "構造化され…" in found
    assert "two lines" in found


def test_an_unknown_space_is_bars_and_a_large_one_is_cut(example):
    class Strange(osp.OutputSpace):
        dim = 100

        def lmo(self, cost):
            return (cost < 0).astype(float) if cost.any() else cost

    space = osp.make_space("hypercube", d=100)
    unknown = draw_output(Strange(), example(space))
    assert "and 86 more entries" in texts(unknown)
    assert "and 76 more labels" in texts(draw_output(space, example(space)))
    large = osp.make_space("permutahedron", d=40)
    assert any("more entries" in text for text in texts(draw_output(large, example(large))))


def test_plots_of_a_run_are_well_formed_and_name_their_lines(evidence):
    runs = [evidence(seed=seed) for seed in (0, 1)]
    drawn = plots.run_plots(runs)
    names = [plot.name for plot in drawn]
    assert names == ["losses", "regret", "learning", "p", "deviation", "calibration"]
    for plot in drawn:
        svg = standalone_svg(plot)
        found = "".join(ElementTree.fromstring(svg).itertext())
        assert all(line.name in found for line in plot.lines)
        assert plot.x_label in found
        assert plot.y_label in found
        assert "nan" not in svg
        assert "inf" not in svg


def test_bands_hold_their_means_and_one_seed_has_none(evidence):
    runs = [evidence(seed=seed) for seed in (0, 1, 2)]
    line = plots.loss_plot(runs).lines[0]
    assert all(low <= y <= high for low, y, high in zip(line.low, line.y, line.high, strict=True))
    assert plots.loss_plot(runs[:1]).lines[0].low == ()


def test_a_bound_far_above_the_regret_bends_the_axis(evidence):
    import dataclasses

    run = evidence()
    assert plots.regret_plot([run]).y_scale == "linear"
    far = dataclasses.replace(run.statements[0], bound=dataclasses.replace(run.bound, value=1e6))
    plot = plots.regret_plot([dataclasses.replace(run, statements=(far, *run.statements[1:]))])
    assert plot.y_scale == "symlog"
    vertical = axes_of(plot)[1]
    assert 0.5 < vertical.place(1e6) <= 1.0
    assert vertical.place(30.0) - vertical.place(0.0) > 0.05  # and the regret is still to be seen


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
@pytest.mark.parametrize(("low", "high"), [(0.002, 0.9), (1.0, 7e5), (3.0, 4.0), (0.1, 1e9)])
def test_axes_have_a_few_increasing_ticks(scale, low, high):
    axis = Axis(scale, -high if scale == "symlog" else low, high)
    ticks = axis.ticks()
    places = [axis.place(value) for value, _ in ticks]
    assert 1 <= len(ticks) <= 14
    assert all(0 <= place <= 1 + 1e-9 for place in places)
    assert all(b > a for a, b in itertools.pairwise(places))
    assert len({text for _, text in ticks}) == len(ticks)
    assert axis.place(axis.low) == 0.0
    assert axis.place(axis.high) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-2.5, "−2.5"), (1500.0, "1500"), (20_000.0, "20k"), (3e6, "3M")]
)
def test_numbers_are_short(value, text):
    assert shown(value) == text


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
@pytest.mark.parametrize("values", [(0.0,), (5.0, 5.0), (math.nan, 1.0), (-3.0, -3.0)])
def test_degenerate_data_still_have_an_axis(scale, values):
    plot = Plot("x", "t", "x", "y", (Line("a", tuple(range(len(values))), values),), y_scale=scale)
    horizontal, vertical = axes_of(plot)
    assert vertical.low < vertical.high
    assert horizontal.low < horizontal.high


def test_a_long_legend_wraps():
    lines = tuple(Line(f"a rather long name {i}", (0.0, 1.0), (0.0, 1.0)) for i in range(4))
    tree = ElementTree.fromstring(figure_svg(Plot("x", "t", "x", "y", lines)))
    found = [element for element in tree.iter("text") if (element.text or "").startswith("a rather")]
    assert len({element.get("y") for element in found}) > 1
    assert all(float(element.get("x")) + 6.4 * 20 < WIDTH for element in found)
