"""All vertices of a small polytope through its oracle, asked about every facet of the hull so far."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from osp_core.errors import Array, UnsupportedError

MOST_DIMENSIONS = 8
MOST_VERTICES = 2000


def enumerate_vertices(lmo: Callable[[Array], Array], dim: int, complement: Array, name: str) -> Array:
    """Return the vertices, one a row, in lexicographic order.

    The hull of known vertices grows by the oracle's answer for the normal of each of its facets; when no
    answer lies beyond a facet, the hull is the polytope.

    Parameters
    ----------
    lmo : callable
    dim : int
    complement : array of shape (dim, k)
        Orthonormal directions in which the polytope does not extend.
    name : str
        What error messages call the polytope.
    """
    basis = _orthogonal_complement(complement)
    if (width := basis.shape[1]) > MOST_DIMENSIONS:
        raise UnsupportedError(
            f"The vertices of {name} are not enumerated: it has {width} dimensions, and {MOST_DIMENSIONS} is "
            "the most."
        )
    found = {v.tobytes(): v for direction in basis.T for v in (lmo(direction), lmo(-direction))}
    found = found or {(v := lmo(np.zeros(dim))).tobytes(): v}
    basis = _spread(lmo, basis, found)
    if basis.shape[1] >= 2:
        _grow(lmo, basis, found, name)
    return np.array(sorted(found.values(), key=tuple))


def _spread(lmo: Callable[[Array], Array], basis: Array, found: dict[bytes, Array]) -> Array:
    """Add vertices until they span all directions of `basis`; return those that they do span.

    Many vertices may lie in a plane, and Qhull needs a simplex of full dimension to begin with.
    """
    while True:
        known = np.array(list(found.values()))
        span = _span_of(known - known[0])
        missing = _orthogonal_complement(span, within=basis)
        if not missing.shape[1]:
            return basis
        found |= {v.tobytes(): v for v in (lmo(missing[:, 0]), lmo(-missing[:, 0]))}
        known = np.array(list(found.values()))
        if _span_of(known - known[0]).shape[1] == span.shape[1]:
            # Thinner than vertices are exact: flat.
            basis = _orthogonal_complement(missing[:, :1], within=basis)


def _grow(lmo: Callable[[Array], Array], basis: Array, found: dict[bytes, Array], name: str) -> None:
    from scipy.spatial import ConvexHull, QhullError

    asked: set[bytes] = set()
    while True:
        known = np.array(list(found.values()))
        centre = known.mean(axis=0)
        try:
            hull = ConvexHull((known - centre) @ basis)
        except QhullError as error:
            raise UnsupportedError(
                f"The vertices of {name} are not enumerated: the set is too thin in some direction."
            ) from error
        before = len(found)
        for normal in np.unique(np.round(hull.equations[:, :-1], 9), axis=0):
            if normal.tobytes() in asked:
                continue
            vertex = lmo(-(basis @ normal))
            found.setdefault(vertex.tobytes(), vertex)
            asked.add(normal.tobytes())
        if len(found) > MOST_VERTICES:
            raise UnsupportedError(
                f"The vertices of {name} are not enumerated: there are over {MOST_VERTICES}."
            )
        if len(found) == before:
            return


def _span_of(rows: Array) -> Array:
    """An orthonormal basis of the span of some rows, as columns."""
    _, sizes, directions = np.linalg.svd(rows)
    rank = int((sizes > 1e-9 * max(1.0, sizes[0] if len(sizes) else 0.0)).sum())
    return np.asarray(directions[:rank].T)


def _orthogonal_complement(columns: Array, within: Array | None = None) -> Array:
    """An orthonormal basis of what is orthogonal to `columns`, inside the span of `within`."""
    basis = np.eye(len(columns)) if within is None else within
    if not columns.shape[1]:
        return basis
    _, sizes, rows = np.linalg.svd(columns.T @ basis)
    rank = int((sizes > 1e-9).sum())
    return np.asarray(basis @ rows[rank:].T)
