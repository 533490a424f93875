"""The registry: what spaces, learners and streams there are, and which plugin each comes from."""

from osp_core.registry.registry import (
    Record,
    Registry,
    list_learners,
    list_spaces,
    list_streams,
    load_factory,
    load_plugins,
    make_learner,
    make_space,
    make_stream,
    plugin_of,
    register,
    registered_name,
    unregister,
)

__all__ = [
    "Record",
    "Registry",
    "list_learners",
    "list_spaces",
    "list_streams",
    "load_factory",
    "load_plugins",
    "make_learner",
    "make_space",
    "make_stream",
    "plugin_of",
    "register",
    "registered_name",
    "unregister",
]
