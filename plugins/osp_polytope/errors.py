"""What can be wrong with a set of constraints; every fault has its own error."""

from osp_core.errors import InvalidInputError, OspError


class InfeasibleError(InvalidInputError):
    """No point satisfies the constraints."""


class UnboundedError(InvalidInputError):
    """The set runs off to infinity, so some costs have no cheapest point."""


class NoVertexError(UnboundedError):
    """The set contains a whole line, so it has no vertex."""


class FreeVariableError(NoVertexError):
    """Entries of the variable occur in no constraint."""


class NotPolyhedralError(InvalidInputError):
    """A constraint is not piecewise linear, so the set has infinitely many extreme points."""


class UnsetParameterError(InvalidInputError):
    """A cvxpy Parameter has no value."""


class SolverError(OspError, RuntimeError):
    """A solver gave up, or gave an answer that is no vertex."""
