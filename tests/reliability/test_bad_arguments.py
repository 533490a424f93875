"""Whatever is given to a constructor, a method or as a label: an answer, or an error of ours."""

import datetime
import inspect

import numpy as np
import pytest

import osp_core as osp
from osp_core.registry import load_factory
from osp_core.testing import space_examples

MASKED = np.ma.masked_array([1.0, 2.0], [True, False])
# fmt: off
RUBBISH = [
    None, True, -1, 0, 2, 10**400, -(10**400), 1.5, np.nan, np.inf, 1e308, 1 + 2j, "abc", "3", "", "\ud800",
    b"ab",
    [], (), {}, set(), {"a": 1}, frozenset("ab"), [1, 2], [1.0, np.nan], [1, np.inf], [-1, 2], [10**400, 1],
    [[10**400, 1]], [[1, 2], [3]], [[1e200, 1]], [[]], [["a", "b"], ["c"]], ["a", "a"], ["a", ["b"]], [None],
    [True, False], [np.nan, np.nan], [1 + 2j, 2], [(1, 2), (2, 3)], [(1,)], [("a", "x"), ("b", "y")],
    range(3),
    np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.ones((2, 2, 2)), np.array(3.0), np.array("a"), MASKED,
    np.ma.masked_array(np.eye(2), np.eye(2) > 0), np.array(["x", "y"]), np.array([object(), None]),
    np.array([[1 + 2j, 0], [0, 1]]), np.bool_(True), np.int64(2), np.datetime64("2020-01-01"),
    datetime.date(2020, 1, 1), object(), int, Ellipsis, memoryview(b"abc"),
]
# fmt: on
USUAL = {
    "simplex": {"d": 3},
    "hypercube": {"d": 3},
    "ordinal": {"d": 2},
    "birkhoff": {"n": 2},
    "assignment": {"m": 2, "n": 3},
    "matching": {"graph": [("a", "x"), ("a", "y"), ("b", "y"), ("b", "x")]},
    "permutahedron": {"d": 3},
    "k_subsets": {"d": 3, "k": 1},
    "partition_matroid": {"blocks": [2, 2], "capacities": 1},
    "graphic_matroid": {"graph": 3},
    "linear_matroid": {"matrix": np.eye(2)},
    "transversal_matroid": {"sets": [["a", "b"], ["b"]]},
    "laminar_matroid": {"family": [["a", "b"]], "capacities": [1]},
    "matroid": {"ground": ["a", "b"], "independent": lambda chosen: len(chosen) <= 1},
    "vertices": {"array": [[0.0, 1.0], [1.0, 0.0]]},
    "product": {"spaces": [osp.Vertices([[0.0], [1.0]])]},
    "masked": {"space": osp.Vertices(np.eye(3)), "forbidden": [0]},
}
# Names that are given instead of a number.
INSTEAD = {"classes": "d", "labels": "d", "categories": "d", "items": "n", "weights": "d", "elements": "d"}
INSTEAD |= {"edges": "graph", "rows": "m", "columns": "n"}
METHODS = [
    "lmo", "nearest_vertex", "predict", "project", "kl_project", "binary_kl_project", "marginals",
    "log_partition", "decompose", "project_direction", "contains", "at", "with_psi", "accurate_to",
    "lmo_many",
    "predict_many", "nearest_vertex_many", "project_many", "from_label", "to_label", "as_vertex", "is_vertex",
]  # fmt: skip


def act(function, *args, **kwargs):
    """The answer, or None where it is refused with an error of ours."""
    try:
        return function(*args, **kwargs)
    except osp.OspError:
        return None


def parameters():
    for name, usual in USUAL.items():
        for parameter in inspect.signature(load_factory("space", name)).parameters:
            given = {key: value for key, value in usual.items() if key != INSTEAD.get(parameter)}
            yield pytest.param(name, given, parameter, id=f"{name}-{parameter}")


@pytest.mark.parametrize(("name", "given", "parameter"), list(parameters()))
def test_a_constructor_makes_a_sound_space_or_refuses(name, given, parameter):
    for value in RUBBISH:
        if parameter == "independent" and callable(value):
            continue  # what a function of the user's raises is the user's
        space = act(osp.make_space, name, **{**given, parameter: value})
        if space is not None:
            theta = np.linspace(-1.0, 1.0, space.dim)
            assert np.isfinite(space.predict(theta).point).all()
            y = space.lmo(theta)
            assert np.array_equal(space.from_label(space.to_label(y)), y)


@pytest.mark.parametrize("name", [record.name for record in osp.list_spaces() if record.available])
def test_a_method_answers_or_refuses(name):
    space = space_examples(name)[0].make()
    hidden = np.ma.masked_array(np.ones(space.dim), np.arange(space.dim) == 0)
    values = [*RUBBISH, hidden, np.full(space.dim, np.nan), np.full(space.dim, 1e99), np.zeros(space.dim + 1)]
    values += [np.ones(space.dim, dtype=complex), [10**400] * space.dim, np.array(["1"] * space.dim)]
    for method in METHODS:
        for value in values:
            answer = act(getattr(space, method), value)
            if method == "is_vertex" and answer:
                assert np.array_equal(space.lmo(1.0 - 2.0 * np.asarray(value, dtype=float)), value)
            if value is hidden and method != "is_vertex":
                assert answer is None


@pytest.mark.parametrize("d", [10**9, 10**15, 10**400, 10**5000], ids=["1e9", "1e15", "1e400", "1e5000"])
@pytest.mark.parametrize(
    ("name", "parameter"),
    [("simplex", "d"), ("hypercube", "d"), ("ordinal", "d"), ("k_subsets", "d"), ("permutahedron", "d"),
     ("birkhoff", "n"), ("assignment", "m"), ("graphic_matroid", "graph")],
)  # fmt: skip
def test_a_space_that_no_memory_holds_is_refused_at_once(name, parameter, d):
    with pytest.raises(osp.InvalidInputError, match="must be at most"):
        osp.make_space(name, **{**USUAL[name], parameter: d})


NAMED = {
    "simplex": lambda names: osp.make_space("simplex", classes=names),
    "ordinal": lambda names: osp.make_space("ordinal", categories=names),
    "hypercube": lambda names: osp.make_space("hypercube", labels=names),
    "k_subsets": lambda names: osp.make_space("k_subsets", elements=names, k=1),
    "permutahedron": lambda names: osp.make_space("permutahedron", items=names),
    "birkhoff": lambda names: osp.make_space("birkhoff", items=names),
    "assignment": lambda names: osp.make_space("assignment", rows=names, columns=names),
    "partition_matroid": lambda names: osp.make_space(
        "partition_matroid", blocks=[names], capacities=1, elements=names
    ),
    "vertices": lambda names: osp.make_space("vertices", array=np.eye(len(names)), labels=names),
}
every_named = pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)


@every_named
@pytest.mark.parametrize(
    "names",
    [["\ud800", "b"], ["caf\u00e9", "cafe\u0301"], [b"a", "a"], [True, False], [True, 2], [None, "None"],
     [np.str_("a"), np.int64(1)], [(1, "x"), (1, "y")], ["", " "], [1.5, -0.0],
     [datetime.date(2020, 1, 1), 7]],
    ids=ascii,
)  # fmt: skip
def test_names_of_every_kind_are_found_again(make, names):
    space = make(names)
    for cost in (np.arange(space.dim), -np.arange(space.dim), np.ones(space.dim)):
        y = space.lmo(cost.astype(float))
        assert np.array_equal(space.from_label(space.to_label(y)), y)


@every_named
@pytest.mark.parametrize(
    ("names", "fault"), [(["a", ["b"]], "hashable"), (["a", np.nan], "themselves"), ([1, True], "distinct")]
)
def test_names_that_cannot_be_told_apart_are_refused(make, names, fault):
    with pytest.raises(osp.InvalidInputError, match=fault):
        make(names)


def test_a_truth_value_is_not_the_number_it_equals():
    for space in (osp.make_space("simplex", d=2), osp.make_space("ordinal", d=2), osp.Vertices(np.eye(2))):
        for label in (True, np.True_):
            with pytest.raises(osp.NotAVertexError):
                space.from_label(label)
        for label in (1, 1.0, np.int8(1), np.array(1)):
            assert np.array_equal(space.from_label(label), space.from_label(1))
