"""The ordinal plugin: one of d + 1 ordered categories."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "ordinal",
            "osp_ordinal.space:Ordinal",
            summary="one of d + 1 ordered categories",
            parameters=("d", "categories", "psi", "norm"),
        )
    ]
