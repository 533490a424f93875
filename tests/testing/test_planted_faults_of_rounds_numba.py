"""Faults of compiled rounds that only compiling shows."""

import dataclasses

import osp_core as osp
from osp_core.testing import examine_space

SIMPLEX = type(osp.make_space("simplex", d=3))
SOUND = SIMPLEX(3).compiled_parts()


def beyond_numba(theta, params, out):
    SOUND.predict(theta, params, out)  # an attribute of an object that numba knows nothing about


def test_parts_that_numba_cannot_compile_are_named():
    class Space(SIMPLEX):
        def compiled_parts(self):
            return dataclasses.replace(super().compiled_parts(), predict=beyond_numba)

    report = examine_space(Space(3))
    assert report.named("compiled_parts").outcome == "passed"
    assert "numba cannot compile compiled_parts" in report.named("compiled_rounds").message
