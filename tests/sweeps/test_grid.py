"""Grids: every combination once, seeds from the configuration alone, mistakes named."""

import pytest

import osp_core as osp
from osp_core.runs import RunConfig
from osp_core.sweeps import expand, read_grid


def test_every_combination_of_the_axes_is_a_run(grid):
    configs = expand(grid)
    assert len(configs) == 2 * 2 * 2 * 2
    seen = {(c.learner, c.stream_params["noise"], c.space, c.seed) for c in configs}
    assert len(seen) == 16
    assert {(c.space, c.params["d"]) for c in configs} == {("simplex", 4), ("ordinal", 3)}
    assert all(isinstance(c, RunConfig) and c.rounds == 40 for c in configs)


def test_without_axes_there_is_one_run():
    (config,) = expand({"space": "simplex", "params": {"d": 3}, "stream": "linear_teacher", "seed": 5})
    assert config.seed == 5


def test_seeds_of_repetitions_are_shared_by_all_combinations_and_depend_on_nothing_else(grid):
    by_learner = {
        learner: [c.seed for c in expand(grid) if c.learner == learner]
        for learner in ("ogd", "parameter_free")
    }
    assert by_learner["ogd"] == by_learner["parameter_free"]
    (first, second) = dict.fromkeys(by_learner["ogd"])
    assert [c.seed for c in expand({**grid, "grid": {}, "space": "simplex", "repeats": 3})][:2] == [
        first,
        second,
    ]
    assert {c.seed for c in expand({**grid, "seed": 1})}.isdisjoint({first, second})
    assert all(0 <= c.seed < 2**53 for c in expand(grid))


def test_the_parameters_of_an_axis_join_those_that_all_share():
    shared = {"space": "simplex", "params": {"d": 3}, "stream": "linear_teacher"}
    configs = expand(
        {**shared, "stream_params": {"n_features": 5}, "grid": {"stream_params.noise": [0.1, 0.2]}}
    )
    assert [dict(c.stream_params) for c in configs] == [
        {"n_features": 5, "noise": 0.1},
        {"n_features": 5, "noise": 0.2},
    ]


BASE = {"space": "simplex", "params": {"d": 3}, "stream": "linear_teacher"}
MISTAKES = {
    "axis without values": ({"grid": {"learner": []}}, "'learner' must be a list"),
    "axis that is no list": ({"grid": {"learner": "ogd"}}, "'learner' must be a list"),
    "unknown setting": ({"colour": 1}, "no setting 'colour'"),
    "unknown axis": ({"grid": {"colour": [1]}}, "no setting 'colour'"),
    "unknown setting of an axis": ({"grid": {"case": [{"colour": 1}]}}, "no setting 'colour'"),
    "two axes for one setting": (
        {"grid": {"learner": ["ogd"], "case": [{"learner": "ogd"}]}},
        "'learner' and 'case' both set 'learner'",
    ),
    "two axes for one parameter": (
        {"grid": {"params.d": [3], "case": [{"params": {"d": 4}}]}},
        r"both set 'params\.d'",
    ),
    "too many": ({"grid": {"seed": list(range(2000)), "params.d": list(range(2, 2002))}}, "4000000 runs"),
    "repeats": ({"repeats": 0}, "repeats must be"),
    "no seed to repeat from": ({"repeats": 2, "seed": -1}, "repeats needs one seed"),
    "grid that is no table": ({"grid": [1]}, "grid must be a table"),
    "rounds": ({"rounds": 0}, "rounds must be"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_refused_before_anything_runs(name):
    changes, message = MISTAKES[name]
    with pytest.raises(osp.InvalidInputError, match=message):
        expand({**BASE, **changes})


def test_a_file_means_what_the_mapping_means_and_data_lie_beside_it(tmp_path):
    (tmp_path / "grid.toml").write_text(
        'space = "simplex"\ndata = "sub/d.csv"\nrounds = 5\n[grid]\nlearner = ["ogd", "polyak_ogd"]\n'
        '[[grid.case]]\nseed = 3\n[[grid.case]]\nseed = 4\non_error = "skip"\n'
    )
    configs = read_grid(tmp_path / "grid.toml")
    assert [(c.learner, c.seed, c.on_error) for c in configs] == [
        ("ogd", 3, "stop"),
        ("ogd", 4, "skip"),
        ("polyak_ogd", 3, "stop"),
        ("polyak_ogd", 4, "skip"),
    ]
    assert {c.data for c in configs} == {str(tmp_path / "sub" / "d.csv")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("space = \n", "grid.toml: "),
        ("space = 'a'\nspace = 'b'\n", "grid.toml: "),
        ("\x00\x01", "grid.toml: "),
        ("grid = " + "[" * 5000 + "]" * 5000, "grid.toml: "),
        (
            "space = 'simplex'\ndata = '../secret.csv'\n",
            r"climbs out of the directory of its file with '\.\.'",
        ),
        ("space = 'simplex'\ndata = 'a/../../secret.csv'\n", "climbs out"),
        ("space = 'simplex'\ndata = '..\\secret.csv'\n", "climbs out"),
        ("space = 'simplex'\n[grid]\ndata = ['a.csv', '../b.csv']\n", "climbs out"),
        ("space = 'simplex'\ndata = ''\n", "must be the path of a file"),
        ("space = 'simplex'\nstream = 'linear_teacher'\nout = '../x'\n", "no setting 'out'"),
    ],
)
def test_bad_grid_files_are_refused_with_their_name(tmp_path, text, message):
    (tmp_path / "grid.toml").write_text(text)
    with pytest.raises(osp.InvalidInputError, match=message):
        read_grid(tmp_path / "grid.toml")


def test_a_missing_grid_file_is_named(tmp_path):
    with pytest.raises(osp.InvalidInputError, match=r"none\.toml: No such file"):
        read_grid(tmp_path / "none.toml")
