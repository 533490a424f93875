"""The Birkhoff plugin: rankings, assignments and bipartite matchings."""

from osp_core.hooks import Registration, hookimpl

BACKENDS = {"scipy": {}, "networkx": {"networkx": "online-structured-prediction[networkx]"}}


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "birkhoff",
            "osp_birkhoff.birkhoff:Birkhoff",
            summary="rankings of n items, as permutation matrices",
            parameters=("n", "items", "backend", "psi", "norm"),
            backends=BACKENDS,
        ),
        Registration(
            "assignment",
            "osp_birkhoff.assignment:Assignment",
            summary="assignments of m rows to distinct columns out of n",
            parameters=("m", "n", "rows", "columns", "backend", "psi", "norm"),
            backends=BACKENDS,
        ),
        Registration(
            "matching",
            "osp_birkhoff.matching:Matching",
            summary="perfect matchings of a bipartite graph",
            parameters=("graph", "backend", "psi", "norm"),
            backends=BACKENDS,
        ),
    ]
