"""Asking for a space: missing packages, back ends, unknown names and parameters."""

import pytest

import osp_core as osp
from osp_core.registry import Registry


class Offer:
    """Spaces that need packages nobody has."""

    @osp.hookimpl
    def osp_spaces(self):
        absent = {"a_package_nobody_has": "online-structured-prediction[absent]"}
        nested = {"a_package_nobody_has.inside": "online-structured-prediction[absent]"}
        return [
            osp.Registration("needy", choosy, requires=absent),
            osp.Registration("needy_inside", choosy, requires=nested),
            osp.Registration("choosy", choosy, backends={"native": {}, "absent": absent}),
            osp.Registration("stuck", choosy, backends={"absent": absent}),
            osp.Registration("open_ended", OpenEnded()),
            osp.Registration("rubbish", dict),
        ]


def choosy(d, *, backend="native"):
    """A factory with a required parameter and a back end."""
    if d < 0:
        raise TypeError("a TypeError from inside the factory")
    return osp.make_space("hypercube", d=d)


class OpenEnded:
    """A factory whose signature cannot be read, like that of some compiled functions."""

    __signature__ = "nothing inspect understands"

    def __call__(self, **params):
        return osp.make_space("hypercube", **params)


@pytest.fixture
def registry():
    registry = Registry()
    registry.add(Offer(), "offer")
    return registry


def record_of(registry, name):
    return next(record for record in registry.records("space") if record.name == name)


@pytest.mark.parametrize("name", ["needy", "needy_inside"])
def test_a_missing_package_disables_the_space_and_the_message_names_the_extra(registry, name):
    record = record_of(registry, name)
    assert not record.available
    assert "pip install 'online-structured-prediction[absent]'" in record.reason
    with pytest.raises(osp.MissingDependencyError) as caught:
        registry.make("space", name, {})
    assert "pip install 'online-structured-prediction[absent]'" in str(caught.value)
    assert "a_package_nobody_has" in str(caught.value)


def test_a_missing_back_end_is_listed_with_its_reason_and_the_space_stays_available(registry):
    record = record_of(registry, "choosy")
    assert record.available
    assert record.backends == ("native",)
    assert "back end 'absent' needs a_package_nobody_has" in record.reason
    assert registry.make("space", "choosy", {"d": 2, "backend": "native"}).dim == 2


def test_asking_for_a_missing_back_end_names_the_extra(registry):
    with pytest.raises(
        osp.MissingDependencyError, match=r"back end 'absent'.*structured-prediction\[absent\]"
    ):
        registry.make("space", "choosy", {"d": 2, "backend": "absent"})


@pytest.mark.parametrize("backend", ["magic", ["native"], 3])
def test_asking_for_an_unknown_back_end_names_those_there_are(registry, backend):
    with pytest.raises(osp.InvalidInputError, match=r"no back end .*; there are 'native', 'absent'"):
        registry.make("space", "choosy", {"d": 2, "backend": backend})


def test_a_space_none_of_whose_back_ends_is_installed_is_not_available(registry):
    assert not record_of(registry, "stuck").available


@pytest.mark.parametrize("make", [osp.make_space, osp.make_learner, osp.make_stream])
def test_an_unknown_name_is_an_error_that_lists_the_names(make):
    with pytest.raises(osp.UnknownNameError, match=r"called 'zzz'\. There are: \w+"):
        make("zzz")


@pytest.mark.parametrize(("typo", "meant"), [("simplx", "simplex"), ("hyper_cube", "hypercube")])
def test_a_typing_error_gets_a_suggestion(typo, meant):
    with pytest.raises(osp.UnknownNameError, match=f"Did you mean '{meant}'"):
        osp.make_space(typo, d=3)


@pytest.mark.parametrize("name", [None, 3, ["simplex"], b"simplex"])
def test_a_name_that_is_no_string_is_unknown(name):
    with pytest.raises(osp.UnknownNameError):
        osp.make_space(name)


def test_an_unknown_parameter_is_an_error_that_lists_the_parameters():
    with pytest.raises(osp.InvalidInputError, match=r"'simplex' has no parameter 'dim'; it takes d, .*psi"):
        osp.make_space("simplex", dim=3)


def test_a_missing_parameter_is_an_error_of_ours_that_names_it(registry):
    with pytest.raises(osp.InvalidInputError, match=r"'choosy'.*'d'"):
        registry.make("space", "choosy", {})


def test_a_bug_inside_a_factory_is_not_mistaken_for_a_bad_call(registry):
    with pytest.raises(TypeError, match="from inside the factory") as caught:
        registry.make("space", "choosy", {"d": -1})
    assert not isinstance(caught.value, osp.OspError)


def test_a_factory_whose_signature_cannot_be_read_takes_what_it_is_given(registry):
    assert registry.make("space", "open_ended", {"d": 3}).dim == 3


def test_a_factory_that_makes_no_space_is_an_error_that_names_the_plugin(registry):
    with pytest.raises(
        osp.PluginError, match=r"'rubbish' of plugin 'offer' must be an instance of OutputSpace"
    ):
        registry.make("space", "rubbish", {})


def test_every_registered_parameter_is_one_the_factory_takes():
    import inspect

    from osp_core.registry import load_factory

    for kind, records in (
        ("space", osp.list_spaces()),
        ("learner", osp.list_learners()),
        ("stream", osp.list_streams()),
    ):
        for record in records:
            if record.available:
                taken = inspect.signature(load_factory(kind, record.name)).parameters
                assert set(record.parameters) <= set(taken), f"{kind} {record.name}"
                assert record.parameters, f"{kind} {record.name} lists no parameters"
                assert record.summary, f"{kind} {record.name} has no summary"
