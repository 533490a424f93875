"""A killed run loses no round and counts none twice."""

import pytest
from reliability.crash import harness, table


def assert_nothing_happened(outcomes):
    print(table(outcomes))
    assert [one.differences for one in outcomes] == [[] for _ in outcomes]
    assert not sum(one.lost + one.duplicated for one in outcomes)


def test_a_run_that_is_killed_and_resumed_ends_like_one_that_was_left_alone(tmp_path):
    outcomes = harness(tmp_path, kills=3, rounds=1500, seed=0, chosen=slice(1))
    assert_nothing_happened(outcomes)
    assert outcomes[0].kills == 3


@pytest.mark.soak
def test_a_hundred_and_twenty_kills_change_nothing(tmp_path):
    outcomes = harness(tmp_path, kills=120, rounds=6000, seed=7)
    assert_nothing_happened(outcomes)
    assert sum(one.kills for one in outcomes) == 120
    assert sum(one.resumes for one in outcomes) > 60
