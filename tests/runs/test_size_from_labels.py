"""Any space may say how the labels of a file give its size: ours have no privilege."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.hooks import Registration, hookimpl
from osp_core.runs import RunConfig, execute
from osp_core.runs.prepare import prepare
from osp_core.spaces.size_parameters import LabelParts, SizeParameters, sized_by_names


class Compass(osp.ZeroOneSpace):
    """One of some directions, written by somebody else."""

    nu1 = 2.0
    size_parameters = sized_by_names("directions", instead=("d",), single=True)

    def __init__(self, d=None, *, directions=None, psi=None, norm=None):
        super().__init__(psi=psi, norm=norm)
        self.directions = list(range(d)) if directions is None else list(directions)
        self.dim = len(self.directions)

    def lmo(self, cost):
        return np.eye(self.dim)[np.argmin(cost)]

    def from_label(self, label):
        if label in self.directions:
            return np.eye(self.dim)[self.directions.index(label)]
        return super().from_label(label)

    def target_loss(self):
        return osp.mismatch


def make_compass(d=None, directions=None):
    return Compass(d, directions=directions)


@pytest.fixture
def register(request):
    """A function that registers a factory as the space "compass" while the test runs."""

    def registered(factory):
        class Plugin:
            @hookimpl
            def osp_spaces(self):
                return [Registration("compass", factory, parameters=("d", "directions"))]

        name = osp.register(Plugin(), "compass_of_a_stranger")
        request.addfinalizer(lambda: osp.unregister(name))

    return registered


def table(path, labels):
    path.write_text("f,g,label\n" + "".join(f"{i},{-i * i},{label}\n" for i, label in enumerate(labels)))
    return str(path)


def test_a_strangers_space_is_found_in_the_labels_of_a_file(tmp_path, register):
    register(Compass)
    data = table(tmp_path / "d.csv", ["north", "east>south", "north"])
    result = execute(RunConfig(space="compass", data=data), tmp_path / "out")
    assert result.prepared.config.params == {"directions": ["east>south", "north"]}
    assert result.summary["rounds"] == 3


def test_a_function_that_makes_a_space_may_say_it_too(tmp_path, register, monkeypatch):
    monkeypatch.setattr(make_compass, "size_parameters", Compass.size_parameters, raising=False)
    register(make_compass)
    prepared = prepare(RunConfig(space="compass", data=table(tmp_path / "d.csv", ["n", "e", "n"])))
    assert prepared.config.params == {"directions": ["e", "n"]}


def test_classes_are_the_names_of_a_strangers_space(tmp_path, register):
    register(Compass)
    data = table(tmp_path / "d.csv", ["n", "e", "n"])
    prepared = prepare(RunConfig(space="compass", data=data, classes=("s", "n", "e")))
    assert prepared.space.directions == ["s", "n", "e"]


def test_classes_of_a_space_that_is_not_made_of_names_are_refused(tmp_path):
    config = RunConfig(space="matching", data=table(tmp_path / "d.csv", ["a-b"]), classes=("a", "b"))
    with pytest.raises(osp.InvalidInputError, match="give the parameters of 'matching' by name"):
        prepare(config)


def test_what_is_no_size_parameters_is_refused(tmp_path, register, monkeypatch):
    monkeypatch.setattr(Compass, "size_parameters", "directions")
    register(Compass)
    with pytest.raises(osp.PluginError, match="must be SizeParameters or None, got 'directions'"):
        prepare(RunConfig(space="compass", data=table(tmp_path / "d.csv", ["n"])))


@pytest.mark.parametrize(
    ("space", "given", "labels", "found"),
    [
        ("k_subsets", {"d": 4}, ["0;1", "2;3"], {"d": 4, "k": 2}),
        ("k_subsets", {"k": 2}, ["x;y", "y;z"], {"elements": ["x", "y", "z"], "k": 2}),
        ("assignment", {"n": 3}, ["u-0;v-2", "u-1;v-0"], {"n": 3, "rows": ["u", "v"]}),
        ("permutahedron", {"weights": [2, 1]}, ["0>1", "1>0"], {"weights": [2, 1]}),
    ],
)
def test_only_what_is_not_given_is_looked_for(tmp_path, space, given, labels, found):
    config = RunConfig(space=space, params=given, data=table(tmp_path / "d.csv", labels))
    assert prepare(config).config.params == found


def test_parameters_that_say_the_same_form_a_group():
    sizes = SizeParameters(
        "names", lambda labels: {"a": labels.parts, "k": labels.longest}, (("a", "n"), ("k",))
    )
    labels = LabelParts(["x"], 1)
    assert sizes.are_given({"n": 1, "k": 1})
    assert not sizes.are_given({"a": ["x"], "n": 1})
    assert sizes.complete({"n": 3}, labels) == {"n": 3, "k": 1}
    assert sizes.complete({}, labels) == {"a": ["x"], "k": 1}
