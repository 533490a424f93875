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
        ),
        Registration(
            "adaptive_ogd",
            "osp_core.learners.adaptive_ogd:AdaptiveOGD",
            summary="gradient descent whose step adapts to the gradients, on a ball",
            parameters=("diameter",),
        ),
        Registration(
            "parameter_free",
            "osp_core.learners.parameter_free:ParameterFree",
            summary="coin betting: no step size and no domain to choose",
            parameters=("lipschitz", "wealth"),
        ),
        Registration(
            "polyak_ogd",
            "osp_core.learners.polyak_ogd:PolyakOGD",
            summary="gradient descent with a Polyak step, for drifting data",
            parameters=("diameter",),
        ),
    ]
