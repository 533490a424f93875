"""The hypercube plugin: any set of labels."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "hypercube",
            "osp_hypercube.space:Hypercube",
            summary="any subset of d labels",
            parameters=("d", "labels", "psi", "norm"),
        )
    ]
