"""Every kind of picture is open to every space: what `draw` returns is what a report shows."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.report import draw_output
from osp_core.report.figures import Stroke, Words
from osp_core.spaces.pictures import Bars, Chips, Columns, Graph, Ladder, Ranking
from osp_core.testing.registered import space_examples

NAMES = ["north", "east", "south", "west"]


class Strange(osp.ZeroOneSpace):
    """One of four directions, written by somebody else; what it looks like is up to the test."""

    dim = 4
    nu1 = 2.0

    def __init__(self, picture):
        super().__init__()
        self.picture = picture

    def lmo(self, cost):
        return np.eye(4)[np.argmin(cost)]

    def draw(self, point):
        return self.picture(point)


def words(figure):
    return {shape.text for shape in figure.shapes if isinstance(shape, Words)}


@pytest.mark.parametrize(
    ("picture", "twin"),
    [
        (lambda y: Bars(NAMES, y), lambda: osp.make_space("simplex", classes=NAMES)),
        (lambda y: Chips(NAMES, y), lambda: osp.make_space("k_subsets", elements=NAMES, k=1)),
        (
            lambda y: Graph("abcd", [0, 1, 0, 2], [1, 2, 2, 3], y),
            lambda: osp.make_space("graphic_matroid", edges=[("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]),
        ),
        (
            lambda y: Columns([0, 1], ["place 1", "place 2"], y.reshape(2, 2)),
            lambda: osp.make_space("birkhoff", n=2),
        ),
        (
            lambda y: Ranking([NAMES[i] for i in np.argsort(-y, kind="stable")]),
            lambda: osp.make_space("permutahedron", items=NAMES),
        ),
    ],
    ids=["bars", "chips", "graph", "columns", "ranking"],
)
def test_a_strangers_space_is_drawn_as_ours_is(picture, twin, example):
    one = example(Strange(picture))
    assert draw_output(Strange(picture), one) == draw_output(twin(), one)


def test_a_strangers_ladder_shows_the_probabilities_of_its_levels(example):
    space = Strange(lambda y: Ladder(NAMES, y))
    one = example(space, right=True)
    assert {*NAMES, *(f"{chance:.2f}" for chance in one.y_hat)} == words(draw_output(space, one))


def test_without_a_picture_the_coordinates_are_bars(example):
    space = Strange(lambda y: None)
    assert {"y1", "y2", "y3", "y4"} <= words(draw_output(space, example(space)))


def test_a_picture_too_large_to_draw_is_bars_of_the_coordinates(example):
    space = Strange(lambda y: Graph(range(99), [0, 1, 2, 3], [1, 2, 3, 4], y))
    drawn = draw_output(space, example(space))
    assert {"y1", "y2", "y3", "y4"} <= words(drawn)
    assert sum(isinstance(shape, Stroke) for shape in drawn.shapes) == 1  # the axis, and no edges


@pytest.mark.parametrize(
    "picture", [lambda y: "a drawing", lambda y: Bars(NAMES, y) if y.max() == 1 else Chips(NAMES, y)]
)
def test_what_is_no_picture_is_refused_with_the_kinds_there_are(picture, example):
    with pytest.raises(osp.PluginError, match="Bars, Chips, Ladder, Ranking, Columns, Graph"):
        draw_output(Strange(picture), example(Strange(picture)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bars(NAMES, np.zeros(3)),
        lambda: Columns("ab", "cde", np.zeros((3, 2))),
        lambda: Graph("ab", [0, 1], [1], np.zeros(2)),
    ],
)
def test_a_picture_has_one_value_per_name(make):
    with pytest.raises(osp.InvalidInputError, match="one value per name"):
        make()


@pytest.mark.parametrize("name", [record.name for record in osp.list_spaces() if record.available])
def test_names_and_kind_of_a_picture_do_not_depend_on_the_point(name):
    for one in space_examples(name):
        space, rng = one.make(), np.random.default_rng(0)
        pictures = [space.draw(space.lmo(rng.standard_normal(space.dim))) for _ in range(2)]
        assert type(pictures[0]) is type(pictures[1])
        for field in ("names", "left", "right", "nodes"):
            assert getattr(pictures[0], field, None) == getattr(pictures[1], field, None)


def test_the_point_to_draw_is_checked():
    with pytest.raises(osp.InvalidInputError, match="point"):
        osp.make_space("simplex", d=3).draw([0.5, np.nan, 0.5])
