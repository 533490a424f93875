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
    effective = effective_log_conductances(network)
    return np.exp(np.minimum(shifted - effective[first, second], 0.0))


def log_tree_sum(theta: Array, tails: Indices, heads: Indices) -> float:
    """Return log Σ_T exp Σ_{e ∈ T} θₑ over the spanning trees of a connected graph without loops."""
    offset = theta.max()
    network, _, _ = _network(theta - offset, tails, heads)
    _, pivots = kernels.load(KERNELS).eliminate(network[np.newaxis], 1)
    return float(pivots[0] + offset * (len(network) - 1))


def effective_log_conductances(network: Array) -> Array:
    """Return the log of the effective conductance between every two nodes of a network.

    Eliminating all other nodes for every pair would cost n⁵ operations. Halving the node set again and
    again shares the work: what is eliminated for all pairs between two halves is eliminated once. The total
    is proportional to n³, and the subproblems of one level have equal sizes and are solved together.

    Parameters
    ----------
    network : array of shape (n, n)
        Symmetric log conductances, −inf where two nodes are not joined; the diagonal is ignored.
    """
    n = len(network)
    effective = np.full((n + 1, n + 1), -np.inf)  # the last row and column collect padding
    # `inner`: pairs within one set of nodes; `across`: pairs between the first and the second half.
    inner, inner_nodes = network[np.newaxis], np.arange(n)[np.newaxis]
    across, across_nodes = np.empty((0, 2 * n, 2 * n)), np.empty((0, 2 * n), dtype=np.intp)
    size = n
    while size > 1:
        if size % 2:
            inner, inner_nodes = _padded(inner, inner_nodes, 1, n)
            across, across_nodes = _padded(across, across_nodes, 2, n)
            size += 1
        size //= 2
        quarters = [np.arange(part * size, (part + 1) * size) for part in range(4)]
        across_parts = [
            _kept(across, across_nodes, np.concatenate([quarters[i], quarters[j]]))
            for i in (0, 1)
            for j in (2, 3)
        ]
        inner_parts = [_kept(inner, inner_nodes, quarters[half]) for half in (0, 1)]
        across = np.concatenate([inner, *(part for part, _ in across_parts)])
        across_nodes = np.concatenate([inner_nodes, *(nodes for _, nodes in across_parts)])
        inner = np.concatenate([part for part, _ in inner_parts])
        inner_nodes = np.concatenate([nodes for _, nodes in inner_parts])
    first, second = across_nodes[:, 0], across_nodes[:, 1]
    effective[first, second] = effective[second, first] = across[:, 0, 1]
    return effective[:n, :n]


def _network(theta: Array, tails: Indices, heads: Indices) -> tuple[Array, Indices, Indices]:
    """Log conductances between the nodes that occur, parallel edges added up, and the ends of every edge."""
    ends = np.unique(np.concatenate([tails, heads]), return_inverse=True)[1].reshape(2, -1)
    n = int(ends.max()) + 1
    network = np.full((n, n), -np.inf)
    np.logaddexp.at(network, (ends[0], ends[1]), theta)
    return np.logaddexp(network, network.T), ends[0], ends[1]


def _kept(networks: Array, nodes: Indices, keep: Indices) -> tuple[Array, Indices]:
    """Eliminate all but the positions `keep` from every network."""
    others = np.setdiff1d(np.arange(networks.shape[1]), keep)
    order = np.concatenate([keep, others])
    arranged = np.ascontiguousarray(networks[:, order[:, np.newaxis], order])
    return kernels.load(KERNELS).eliminate(arranged, len(keep))[0], nodes[:, keep]


def _padded(networks: Array, nodes: Indices, groups: int, padding: int) -> tuple[Array, Indices]:
    """Add a node without neighbours, named `padding`, at the end of every group of nodes."""
    size = networks.shape[1] // groups
    places = size * np.arange(1, groups + 1)
    networks = np.insert(networks, places, -np.inf, axis=1)
    return np.insert(networks, places, -np.inf, axis=2), np.insert(nodes, places, padding, axis=1)
