"""The permutahedron plugin: rankings as vectors of scores."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "permutahedron",
            "osp_permutahedron.space:Permutahedron",
            summary="rankings of d items, as permutations of 1, …, d or of any weights",
            parameters=("d", "weights", "items", "psi", "norm"),
        )
    ]
