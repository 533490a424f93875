"""The plugin that offers the generic spaces of the core: explicit lists, products and masks."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "vertices",
            "osp_core.spaces.vertices:Vertices",
            summary="an explicit list of outputs",
            parameters=("array", "labels", "extreme_only", "psi", "norm"),
        ),
        Registration(
            "product",
            "osp_core.spaces.product:Product",
            summary="several outputs predicted together",
            parameters=("spaces", "psi", "norm"),
        ),
        Registration(
            "masked",
            "osp_core.spaces.masked:Masked",
            summary="a 0/1 space with forbidden coordinates",
            parameters=("space", "forbidden", "psi", "norm"),
        ),
    ]
