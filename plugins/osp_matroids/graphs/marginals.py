"""Gibbs distributions of spanning trees by the matrix-tree theorem, without a single subtraction.

The probability of an edge is its conductance e^θ over the effective conductance between its ends, and
the partition function is the product of the pivots of the Laplacian. Both come from eliminating nodes: a star
becomes a mesh of conductances cᵢcⱼ/Σc. Nothing is ever subtracted, so all digits survive, and in the log
domain no score is too large [Kirchhoff 1847; Grassmann, Taksar & Heyman 1985 for the elimination].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osp_core import kernels
from osp_core.errors import Array

Indices = NDArray[np.intp]

KERNELS = "osp_matroids.graphs"


def tree_marginals(theta: Array, tails: Indices, heads: Indices) -> Array:
    """Return P(e ∈ T) for a random spanning tree T ∝ exp Σ θₑ of a connected graph without loops."""
    shifted = theta - theta.max()  # all trees have as many edges: nothing changes
    network, first, second = _network(shifted, tails, heads)
    effective = kernels.load(KERNELS).effective_conductances(network)
    return np.exp(np.minimum(shifted - effective[first, second], 0.0))


def log_tree_sum(theta: Array, tails: Indices, heads: Indices) -> float:
    """Return log Σ_T exp Σ_{e ∈ T} θₑ over the spanning trees of a connected graph without loops."""
    offset = theta.max()
    network, _, _ = _network(theta - offset, tails, heads)
    return float(kernels.load(KERNELS).log_tree_sum(network) + offset * (len(network) - 1))


def _network(theta: Array, tails: Indices, heads: Indices) -> tuple[Array, Indices, Indices]:
    """Log conductances between the nodes that occur, parallel edges added up, and the ends of every edge."""
    ends = np.unique(np.concatenate([tails, heads]), return_inverse=True)[1].reshape(2, -1)
    n = int(ends.max()) + 1
    network = np.full((n, n), -np.inf)
    np.logaddexp.at(network, (ends[0], ends[1]), theta)
    return np.logaddexp(network, network.T), ends[0], ends[1]
