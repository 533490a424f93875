"""The simplex plugin: one of d classes."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "simplex",
            "osp_simplex.space:Simplex",
            summary="one of d classes",
            parameters=("d", "classes", "psi", "norm"),
        )
    ]
