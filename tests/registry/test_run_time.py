"""register() and unregister(): modules, objects, spaces, learners and streams."""

import types

import numpy as np
import pytest

import osp_core as osp

SOURCE = """
from osp_core import Registration, hookimpl, space_from_lmo

@hookimpl
def osp_spaces():
    return [Registration("coin", coin, summary="heads or tails", parameters=("bias",))]

def coin(bias=0.5):
    import numpy as np
    return space_from_lmo(lambda cost: (cost < 0).astype(float), 1, nu=1.0)
"""


@pytest.fixture
def coin_module():
    module = types.ModuleType("coin_plugin")
    exec(SOURCE, module.__dict__)
    return module


@pytest.fixture
def registered(coin_module):
    name = osp.register(coin_module)
    yield name
    if any(record.plugin == name for record in osp.list_spaces()):
        osp.unregister(name)


def test_a_module_is_registered_under_its_own_name(registered):
    assert registered == "coin_plugin"
    record = next(record for record in osp.list_spaces() if record.name == "coin")
    assert (record.summary, record.plugin, record.parameters) == ("heads or tails", "coin_plugin", ("bias",))
    assert osp.make_space("coin").lmo(np.array([-1.0])).tolist() == [1.0]


def test_what_was_unregistered_is_gone_and_can_come_back(registered, coin_module):
    osp.unregister(registered)
    with pytest.raises(osp.UnknownNameError, match="coin"):
        osp.make_space("coin")
    osp.register(coin_module)
    assert osp.make_space("coin").dim == 1


def test_the_same_plugin_twice_is_refused(registered, coin_module):
    with pytest.raises(osp.PluginError, match="'coin_plugin' is registered already"):
        osp.register(coin_module)
    with pytest.raises(osp.PluginError):
        osp.register(coin_module, "under another name")
    assert osp.make_space("coin").dim == 1


def test_an_object_offers_spaces_learners_and_streams():
    class Offer:
        @osp.hookimpl
        def osp_spaces(self):
            yield osp.Registration("a_square", lambda: osp.make_space("hypercube", d=2))

        @osp.hookimpl
        def osp_learners(self):
            return (osp.Registration("a_learner", osp.OGD),)

        @osp.hookimpl
        def osp_streams(self):
            return [
                osp.Registration("a_stream", lambda space: osp.Stream(space, 1, 1.0, 0, lambda: iter(())))
            ]

    name = osp.register(Offer(), "offer")
    try:
        assert name == "offer"
        assert osp.make_space("a_square").dim == 2
        assert osp.make_learner("a_learner", step_size=2.0).step_size == 2.0
        assert len(osp.make_stream("a_stream", space=osp.make_space("a_square"))) == 0
        assert "a_learner" in {record.name for record in osp.list_learners()}
        assert "a_stream" in {record.name for record in osp.list_streams()}
    finally:
        osp.unregister("offer")
    assert "a_learner" not in {record.name for record in osp.list_learners()}


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (types.SimpleNamespace(), "implements none of the hooks"),
        (types.SimpleNamespace(osp_api_version=2), "plugin API 2"),
    ],
)
def test_a_bad_object_is_refused_by_name_and_leaves_no_trace(plugin, message):
    before = osp.list_spaces(), osp.list_learners(), osp.list_streams()
    with pytest.raises(osp.PluginError, match=message) as caught:
        osp.register(plugin, "bad")
    assert "'bad'" in str(caught.value)
    assert (osp.list_spaces(), osp.list_learners(), osp.list_streams()) == before
    with pytest.raises(osp.UnknownNameError):
        osp.unregister("bad")


def test_unregistering_what_is_not_there_is_an_error_that_names_it():
    with pytest.raises(osp.UnknownNameError, match="'nobody'"):
        osp.unregister("nobody")
