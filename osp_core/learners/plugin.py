"""The plugin that offers the learners of the core."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_learners() -> list[Registration]:
    return [
        Registration(
            "ogd",
            "osp_core.learners.ogd:OGD",
            summary="online gradient descent with a constant step",
            parameters=("step_size", "radius"),
        )
    ]
