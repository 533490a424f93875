"""The polytope plugin: any set of linear constraints written in cvxpy, and the integer points in it."""

from typing import Any

from osp_core.hooks import Registration, hookimpl

_EXTRA = "online-structured-prediction[cvxpy]"
_EXPORTED = {
    "polytope": "osp_polytope.factory",
    "FreeVariableError": "osp_polytope.errors",
    "InfeasibleError": "osp_polytope.errors",
    "NoVertexError": "osp_polytope.errors",
    "NotPolyhedralError": "osp_polytope.errors",
    "SolverError": "osp_polytope.errors",
    "UnboundedError": "osp_polytope.errors",
    "UnsetParameterError": "osp_polytope.errors",
}


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "polytope",
            "osp_polytope.factory:polytope",
            summary="constraints written in cvxpy, linear or integer",
            parameters=("constraints", "variable", "solver", "nu", "target", "integral", "psi", "norm"),
            requires={"cvxpy": _EXTRA},
            # HiGHS comes with scipy; highspy makes it faster.
            backends={
                "highs": {},
                "clarabel": {"clarabel": _EXTRA},
                "scs": {"scs": "scs"},
                "osqp": {"osqp": "osqp"},
            },
        )
    ]


def __getattr__(name: str) -> Any:
    # Loaded at first use: a plugin module must import nothing heavy.
    if name in _EXPORTED:
        import importlib

        return getattr(importlib.import_module(_EXPORTED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
