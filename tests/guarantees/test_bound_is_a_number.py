"""A bound adds, compares, formats, hashes, pickles and prints as the number it is."""

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pytest

import osp_core as osp

BOUND = osp.surrogate_gap(osp.make_space("simplex", d=3)).expected_bound(2.0)
VALUE = BOUND.value


def test_a_bound_is_a_float_that_calculates_as_one():
    assert isinstance(BOUND, float)
    assert isinstance(VALUE, float)
    assert type(VALUE) is float
    for result in (
        BOUND + 1,
        1 + BOUND,
        sum([BOUND, 1]),
        BOUND * 2 - BOUND + 1,
        -(-1 - BOUND),
        BOUND / 1 + 1,
    ):
        assert type(result) is float  # the premises belong to the bound, not to what is made of it
        assert result == pytest.approx(VALUE + 1)
    assert max(BOUND, 0.0) is BOUND
    assert BOUND > VALUE - 1
    assert BOUND == VALUE
    assert hash(BOUND) == hash(VALUE)
    assert math.isclose(BOUND, VALUE)
    assert math.sqrt(BOUND) == math.sqrt(VALUE)
    assert round(BOUND, 3) == round(VALUE, 3)


def test_numpy_and_json_see_the_number():
    np.testing.assert_array_equal(np.array([BOUND, 1.0]), [VALUE, 1.0])
    assert np.add(BOUND, np.ones(2)).tolist() == [VALUE + 1, VALUE + 1]
    assert json.loads(json.dumps({"bound": BOUND})) == {"bound": VALUE}


def test_a_bound_formats_as_a_number_and_prints_with_its_premises():
    assert f"{BOUND:.3f}" == f"{VALUE:.3f}"
    assert f"{BOUND:>12.4g}" == f"{VALUE:>12.4g}"
    assert "%.3f" % BOUND == "%.3f" % VALUE  # noqa: UP031
    assert str(BOUND).startswith(f"{VALUE:.6g}, given that ‖x_t‖")
    assert f"{BOUND}" == str(BOUND)
    assert "premises=" in repr(BOUND)


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, dataclasses.replace]
    + [lambda b, p=p: pickle.loads(pickle.dumps(b, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)],
)
def test_copies_keep_everything(copied):
    twin = copied(BOUND)
    assert type(twin) is osp.Bound
    assert dataclasses.asdict(twin) == dataclasses.asdict(BOUND)
    assert float(twin) == VALUE


def test_a_bound_does_not_change():
    with pytest.raises(AttributeError):
        BOUND.value = 1.0
    larger = dataclasses.replace(BOUND, value=7.0)
    assert (larger, larger.value, larger.premises) == (7.0, 7.0, BOUND.premises)
    assert BOUND.plus(1.0, "more") == VALUE + 1
    assert BOUND.plus(1.0, "more").premises[-1] == "more"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_bound_is_finite(value):
    with pytest.raises(osp.InvalidInputError, match="finite"):
        osp.Bound(value, ("whatever",))
