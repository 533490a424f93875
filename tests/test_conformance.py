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


def kernel_choices(name):
    """The kinds of kernels a space can run with: None where its plugin has none of its own."""
    parts = load_factory("space", name).__module__.split(".")
    packages = [".".join(parts[:length]) for length in range(1, len(parts))]
    if any(importlib.util.find_spec(f"{package}.kernels_numpy") for package in packages):
        return [choice for choice in ("numba", "numpy") if selectable(choice)]
    return [None]


def selectable(choice):
    try:
        with kernels.use(choice):
            return True
    except osp.MissingDependencyError:
        return False


def cases():
    found = []
    for name in available_spaces():
        try:
            pairs = [(e, choice) for e in space_examples(name) for choice in kernel_choices(name)]
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


def expected():
    """OSP_EXPECTED as pairs: "birkhoff[scipy,networkx] simplex" → ("birkhoff", ("scipy", "networkx")), …"""
    found = re.findall(r"([\w-]+)(?:\[([^\]]*)\])?", os.environ.get("OSP_EXPECTED", ""))
    return [(name, tuple(filter(None, re.split(r"[,\s]+", inner)))) for name, inner in found]


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
    records = {record.name: record for record in osp.list_spaces()}
    missing = []
    for name, parts in expected():
        if name == "kernels":
            missing += [f"kernels {part}" for part in parts if not selectable(part)]
        elif name not in records or not records[name].available:
            missing.append(f"{name}: {records[name].reason if name in records else 'not registered'}")
        else:
            missing += [
                f"{name}[{part}]: {records[name].reason}"
                for part in parts
                if part not in records[name].backends
            ]
    assert not missing


def test_no_plugin_is_broken():
    broken = [record for record in osp.list_spaces() if not record.available and not record.summary]
    assert not [f"{record.name}: {record.reason}" for record in broken]
