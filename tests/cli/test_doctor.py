"""``osp doctor``."""

import json
import re
from importlib import metadata

import numpy
import pytest

import osp_core as osp
from osp_core import kernels
from osp_core.cli.doctor import OPTIONAL


def test_versions_plugins_and_kernels_are_shown(osp_command):
    result = osp_command("doctor")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert any(line.split() == ["numpy", numpy.__version__] for line in lines)
    assert any(line.split() == ["online-structured-prediction", osp.__version__] for line in lines)
    assert any(line.split() == ["simplex", "spaces", "simplex"] for line in lines)
    for plugin, name in (("learners", "ogd"), ("decoders", "randomized"), ("targets", "ndcg")):
        assert any(line.split()[:2] == [plugin, plugin] and name in line for line in lines)
    assert any(line.startswith(f"Kernels: {kernels.selected()}") for line in lines)


def test_what_is_not_installed_says_so(osp_command, monkeypatch):
    monkeypatch.setattr("osp_core.cli.doctor.OPTIONAL", {"a-package-nobody-has": "some-extra"})
    lines = osp_command("doctor").stdout.splitlines()
    assert any(line.split() == ["a-package-nobody-has", "not", "installed", "some-extra"] for line in lines)


def test_every_optional_package_is_named_with_the_extra_that_brings_it(osp_command):
    required = [one for one in metadata.requires("online-structured-prediction") if "extra == " in one]
    for package, extra in OPTIONAL.items():
        assert any(re.match(rf"{package}\W.*extra == .{extra}\W", one) for one in required), package
    lines = osp_command("doctor").stdout.splitlines()
    assert next(line for line in lines if line.startswith("numba ")).split()[-1] == "fast"


@pytest.mark.parametrize(
    ("needs", "state"),
    [
        ({"requires": {"nobody_has_this": "some-dist"}}, "wholly"),
        ({"backends": {"fine": {}, "absent": {"nobody_has_this": "some-dist"}}}, "partly"),
    ],
)
def test_what_is_disabled_is_listed_with_the_reason(osp_command, needs, state):
    class Needy:
        @osp.hookimpl
        def osp_learners(self):
            return [osp.Registration("needy", dict, **needs)]

    osp.register(Needy(), "needy-plugin")
    try:
        output = osp_command("doctor").stdout
    finally:
        osp.unregister("needy-plugin")
    line = next(line for line in output.splitlines() if line.strip().startswith(f"needy ({state})"))
    assert "pip install 'some-dist'" in line


def test_a_wrong_choice_of_kernels_is_reported_not_raised(osp_command, monkeypatch):
    monkeypatch.setenv("OSP_KERNELS", "abacus")
    result = osp_command("doctor")
    assert result.exit_code == 0
    assert "Kernels: none: OSP_KERNELS must be one of" in result.stdout


def test_json_has_versions_names_and_what_is_disabled(osp_command):
    class Needy:
        @osp.hookimpl
        def osp_streams(self):
            return [osp.Registration("needy", dict, requires={"nobody_has_this": "some-dist"})]

    osp.register(Needy(), "needy-plugin")
    try:
        document = json.loads(osp_command("doctor", "--json").stdout)
    finally:
        osp.unregister("needy-plugin")
    assert document["versions"]["numpy"] == numpy.__version__
    assert {record["name"] for record in document["learners"]} == {r.name for r in osp.list_learners()}
    assert "pip install 'some-dist'" in document["disabled"]["needy"]
