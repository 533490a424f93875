"""Conformance: every registered space × back end × example × kind of kernels, and every learner."""

import contextlib
import importlib.util
import os
import re

import pytest

import osp_core as osp
from osp_core import kernels
from osp_core.registry import load_factory
from osp_core.testing import check_learner, check_space, learner_factories, space_examples


def available_spaces():
    return [record.name for record in osp.list_spaces() if record.available]


def kernels_for(example):
    """The kinds of kernels to run with: None where the plugin has none, all of them on its first back end."""
    parts = load_factory("space", example.name).__module__.split(".")
    packages = [".".join(parts[:length]) for length in range(1, len(parts))]
    if not any(importlib.util.find_spec(f"{package}.kernels_numpy") for package in packages):
        return [None]
    record = next(record for record in osp.list_spaces() if record.name == example.name)
    choices = [choice for choice in ("numba", "numpy") if selectable(choice)]
    return choices if example.backend in (None, *record.backends[:1]) else choices[:1]


def selectable(choice):
    try:
        with kernels.use(choice):
            return True
    except osp.OspError:
        return False


def cases():
    found = []
    for name in available_spaces():
        try:
            pairs = [(e, choice) for e in space_examples(name) for choice in kernels_for(e)]
        except Exception as error:  # reported by the test of that space, not by losing all the others
            found.append(pytest.param(error, None, id=name))
            continue
        found += [pytest.param(e, choice, id=f"{e}-{choice}" if choice else str(e)) for e, choice in pairs]
    return found


def learners():
    return [
        pytest.param(factory, id=f"{record.name}-{number}")
        for record in osp.list_learners()
        if record.available
        for number, factory in enumerate(learner_factories(record.name))
    ]


def missing(promise):
    """What of "birkhoff[scipy,networkx] simplex kernels[numpy]" is not there, with the reason."""
    records = {record.name: record for record in osp.list_spaces()}
    found = []
    for name, inner in re.findall(r"([\w-]+)(?:\[([^\]]*)\])?", promise):
        parts = [part for part in re.split(r"[,\s]+", inner) if part]
        if name == "kernels":
            found += [f"kernels[{part}] cannot be selected" for part in parts if not selectable(part)]
        elif name not in records or not records[name].available:
            found.append(f"{name}: {records[name].reason if name in records else 'not registered'}")
        else:
            lost = [part for part in parts if part not in records[name].backends]
            found += [f"{name}[{part}]: {records[name].reason or 'no such back end'}" for part in lost]
    return found


@pytest.mark.parametrize(("example", "choice"), cases())
def test_a_registered_space_conforms(example, choice):
    if isinstance(example, Exception):
        raise example
    with kernels.use(choice) if choice else contextlib.nullcontext():
        check_space(example.make())


@pytest.mark.parametrize("factory", learners())
def test_a_registered_learner_conforms(factory):
    check_learner(factory)


def test_what_this_environment_promises_is_there():
    assert not missing(os.environ.get("OSP_EXPECTED", ""))


def test_what_is_missing_is_noticed():
    assert not missing("simplex hypercube kernels[numpy]")
    assert missing("simplex[cuda] nowhere kernels[numpy,cuda]") == [
        "simplex[cuda]: no such back end",
        "nowhere: not registered",
        "kernels[cuda] cannot be selected",
    ]


def test_no_plugin_is_broken():
    broken = [record for record in osp.list_spaces() if not record.available and not record.summary]
    assert not [f"{record.name}: {record.reason}" for record in broken]
