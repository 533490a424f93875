"""A broken plugin is reported by name, with its cause, and breaks nothing else."""

import pytest

import osp_core as osp

HEADER = "from osp_core import Registration, hookimpl\n"

BROKEN = {
    "raises on import": ("raise RuntimeError('the disk is made of cheese')", "the disk is made of cheese"),
    "cannot be parsed": ("def f(:\n", "SyntaxError"),
    "exits on import": ("raise SystemExit(3)", "SystemExit"),
    "imports what is missing": ("import a_package_nobody_has", "a_package_nobody_has"),
    "has no hooks": ("x = 1", "implements none of the hooks"),
    "raises in the hook": (
        HEADER + "@hookimpl\ndef osp_spaces():\n    raise KeyError('no such thing')",
        "no such thing",
    ),
    "returns a number": (HEADER + "@hookimpl\ndef osp_spaces():\n    return 42", "42"),
    "returns a string": (HEADER + "@hookimpl\ndef osp_spaces():\n    return 'simplex'", "'simplex'"),
    "returns rubbish in a list": (
        HEADER + "@hookimpl\ndef osp_spaces():\n    return [Registration('fine', 'json:loads'), object()]",
        "must return a list of Registration",
    ),
    "names no factory": (
        HEADER + "@hookimpl\ndef osp_spaces():\n    return [Registration('nameless', 'json')]",
        "'module:object'",
    ),
    "has a nameless registration": (
        HEADER + "@hookimpl\ndef osp_spaces():\n    return [Registration('', 'json:loads')]",
        "needs a name",
    ),
    "registers a name twice": (
        HEADER + "@hookimpl\ndef osp_spaces():\n    return 2 * [Registration('twin', 'json:loads')]",
        "registers 'twin' twice",
    ),
    "misspells a hook": (HEADER + "@hookimpl\ndef osp_spaecs():\n    return []", "osp_spaecs"),
    "is for another API version": (
        HEADER + "osp_api_version = 99\n@hookimpl\ndef osp_spaces():\n    return []",
        "plugin API 99",
    ),
}


@pytest.mark.parametrize(("source", "cause"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_listed_with_its_cause_and_hinders_no_other(plugins, working, source, cause):
    module = plugins.install("cheese", source)
    registry = plugins.registry()
    record = next(record for record in registry.records("space") if record.plugin == "cheese")
    assert not record.available
    assert cause in record.reason
    assert module in record.reason, "the reason says where to look"
    assert "fine" not in {record.name for record in registry.records("space")}
    working(registry)


@pytest.mark.parametrize(("source", "cause"), BROKEN.values(), ids=BROKEN)
def test_asking_for_what_a_broken_plugin_is_named_after_shows_the_cause(plugins, source, cause):
    plugins.install("cheese", source)
    with pytest.raises(osp.PluginError) as caught:
        plugins.registry().make("space", "cheese", {})
    assert cause in str(caught.value)
    assert "cheese" in str(caught.value)


def test_an_unknown_name_mentions_the_broken_plugin_that_may_have_offered_it(plugins):
    plugins.install("cheese", "raise RuntimeError('mouldy')")
    with pytest.raises(osp.UnknownNameError, match=r"'cheese' is broken: RuntimeError: mouldy"):
        plugins.registry().make("space", "gouda", {})


def test_broken_plugins_of_two_distributions_with_one_name_are_both_listed(plugins, working):
    plugins.install("cheese", "raise RuntimeError('mouldy')", distribution="cheese-a")
    plugins.install("cheese", "raise RuntimeError('eaten')", distribution="cheese-b")
    registry = plugins.registry()
    reasons = [record.reason for record in registry.records("space") if "cheese" in record.name]
    assert len(reasons) == 2
    assert any("mouldy" in reason for reason in reasons)
    assert any("eaten" in reason for reason in reasons)
    working(registry)


def test_a_factory_whose_module_raises_is_found_out_when_asked_for(plugins, working):
    plugins.module("late_trouble", "raise RuntimeError('too late')")
    plugins.install(
        "late",
        HEADER + "@hookimpl\ndef osp_spaces():\n    return [Registration('tardy', 'late_trouble:Space')]",
    )
    registry = plugins.registry()
    assert next(record for record in registry.records("space") if record.name == "tardy").available
    with pytest.raises(osp.PluginError, match=r"'tardy' of plugin 'late' cannot be loaded.*too late"):
        registry.make("space", "tardy", {})
    working(registry)


@pytest.mark.parametrize("factory", ["json:no_such_thing", "json:__name__"])
def test_a_factory_that_is_not_there_or_not_callable_is_an_error_that_names_the_plugin(plugins, factory):
    source = HEADER + f"@hookimpl\ndef osp_spaces():\n    return [Registration('hollow', {factory!r})]"
    plugins.install("late", source)
    with pytest.raises(osp.PluginError, match="'hollow' of plugin 'late' cannot be loaded"):
        plugins.registry().make("space", "hollow", {})
