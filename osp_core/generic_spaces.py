"""The plugin that offers the two generic spaces of the core: explicit lists and products."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "vertices",
            "osp_core.vertices:Vertices",
            summary="an explicit list of outputs",
            parameters=("array", "labels", "extreme_only", "psi", "norm"),
        ),
        Registration(
            "product",
            "osp_core.product:Product",
            summary="several outputs predicted together",
            parameters=("spaces", "psi", "norm"),
        ),
    ]
