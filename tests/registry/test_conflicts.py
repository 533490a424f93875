"""Two plugins claim one name: an error that names both, and everything else works."""

import types

import pytest

import osp_core as osp
from osp_core.registry import Registry

THIEF = """
from osp_core import Registration, hookimpl

@hookimpl
def osp_spaces():
    return [Registration("simplex", "json:loads"), Registration("loot", "osp_hypercube.space:Hypercube")]
"""


def test_a_name_claimed_by_two_entry_points_is_listed_as_not_available_with_both_owners(plugins, working):
    plugins.install("thief", THIEF)
    registry = plugins.registry()
    record = next(record for record in registry.records("space") if record.name == "simplex")
    assert not record.available
    assert "'simplex'" in record.reason
    assert "'thief'" in record.reason
    working(registry)


def test_asking_for_a_name_claimed_twice_is_an_error_that_names_both(plugins):
    plugins.install("thief", THIEF)
    with pytest.raises(osp.PluginError) as caught:
        plugins.registry().make("space", "simplex", {"d": 2})
    assert "space name 'simplex' is claimed by the plugins" in str(caught.value)
    assert "'thief'" in str(caught.value)


def test_what_the_two_do_not_share_stays_usable(plugins):
    plugins.install("thief", THIEF)
    assert plugins.registry().make("space", "loot", {"d": 2}).dim == 2


def test_an_entry_point_with_the_name_of_another_is_told_apart_by_its_distribution(plugins, working):
    plugins.install("simplex", THIEF, distribution="a-thief")
    registry = plugins.registry()
    record = next(record for record in registry.records("space") if record.name == "simplex")
    assert not record.available
    assert "'simplex'" in record.reason
    assert " of " in record.reason
    assert registry.make("space", "loot", {"d": 2}).dim == 2
    working(registry)


def test_registering_a_taken_name_at_run_time_is_refused_and_changes_nothing(working):
    registry = Registry()
    before = registry.records("space")
    thief = types.ModuleType("thief")
    exec(THIEF, thief.__dict__)
    with pytest.raises(osp.PluginError, match="'simplex' is claimed by the plugins 'simplex' and 'thief'"):
        registry.add(thief)
    assert registry.records("space") == before
    assert registry.make("space", "simplex", {"d": 4}).dim == 4
    working(registry)


def test_one_name_for_a_space_and_a_learner_is_no_conflict():
    class Both:
        @osp.hookimpl
        def osp_spaces(self):
            return [osp.Registration("shared", lambda: osp.make_space("simplex", d=2))]

        @osp.hookimpl
        def osp_learners(self):
            return [osp.Registration("shared", osp.OGD)]

    registry = Registry()
    registry.add(Both())
    assert registry.make("space", "shared", {}).dim == 2
    assert registry.make("learner", "shared", {"step_size": 0.5}).step_size == 0.5
