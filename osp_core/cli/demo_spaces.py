"""The spaces of ``osp demo``: the five examples of the paper, spanning trees and a polytope of one's own."""

from __future__ import annotations

import numpy as np

from osp_core.registry.registry import list_spaces, make_space
from osp_core.spaces import OutputSpace

ROADS = [
    ("A", "B"),
    ("A", "C"),
    ("B", "C"),
    ("B", "D"),
    ("C", "D"),
    ("C", "E"),
    ("D", "E"),
    ("D", "F"),
    ("E", "F"),
]
# The routes from corner to corner of a grid of 3 × 3 crossings: every street one way, east or south.
SIDE = 3
STREETS = [
    (start, end)
    for start in np.ndindex(SIDE, SIDE)
    for end in ((start[0], start[1] + 1), (start[0] + 1, start[1]))
    if max(end) < SIDE
]


def demo_spaces() -> list[tuple[str, str, OutputSpace]]:
    """Title, explanation and space of every row."""
    return [
        (
            "multiclass",
            "One of five classes; logistic loss against the 0-1 loss [SBTO24, Sec. 2.3 and 4].",
            make_space("simplex", classes=["cat", "dog", "emu", "fox", "owl"]),
        ),
        (
            "multilabel",
            "Any set of eight labels; Hamming loss, decoded label by label [SBTO24, Sec. 2.3].",
            make_space(
                "hypercube", labels=["art", "film", "food", "math", "music", "news", "sport", "travel"]
            ),
        ),
        (
            "matching",
            "Five people matched to five places: permutation matrices, mismatches [SBTO24, Sec. 2.3].",
            make_space("birkhoff", items=["Ada", "Ben", "Cleo", "Dan", "Eve"]),
        ),
        (
            "ranking",
            "Six items in order: the vertices of the permutahedron [SBTO24, App. C.1].",
            make_space("permutahedron", items=["fig", "kiwi", "lime", "mango", "pear", "plum"], d=6),
        ),
        (
            "ordinal",
            "One of six ordered levels; absolute loss [SBTO24, App. C.2].",
            make_space("ordinal", categories=["awful", "poor", "fair", "good", "great", "superb"]),
        ),
        (
            "spanning trees",
            "The cheapest way to join six towns: bases of a graphic matroid; share of wrong edges.",
            make_space("graphic_matroid", edges=ROADS),
        ),
        _routes(),
    ]


def _routes() -> tuple[str, str, OutputSpace]:
    """Corner-to-corner routes: the flow polytope in cvxpy, or the routes as a list where it is missing."""
    available = {record.name for record in list_spaces() if record.available}
    story = "Routes from corner to corner of a grid of streets, "
    if "polytope" in available:
        return "custom polytope", story + "as a flow polytope written in cvxpy.", _flow_polytope()
    space = make_space("vertices", array=list_routes())
    return "custom polytope", story + "as a list (with cvxpy it is a polytope).", space


def _flow_polytope() -> OutputSpace:
    import cvxpy

    flow = cvxpy.Variable(len(STREETS))
    crossings = list(np.ndindex(SIDE, SIDE))
    balance = np.zeros((len(crossings), len(STREETS)))
    for street, (start, end) in enumerate(STREETS):
        balance[crossings.index(start), street] = 1.0
        balance[crossings.index(end), street] = -1.0
    source = np.zeros(len(crossings))
    source[0], source[-1] = 1.0, -1.0
    space: OutputSpace = make_space(
        "polytope", constraints=[balance @ flow == source, flow >= 0], variable=flow
    )
    return space


def list_routes() -> np.ndarray:
    """All routes as 0/1 vectors over the streets."""
    routes = []
    for turns in np.ndindex(*[2] * (2 * SIDE - 2)):
        place, route = (0, 0), np.zeros(len(STREETS))
        for turn in turns:
            end = (place[0], place[1] + 1) if turn else (place[0] + 1, place[1])
            if max(end) >= SIDE:
                break
            route[STREETS.index((place, end))] = 1.0
            place = end
        else:
            routes.append(route)
    return np.array(routes)
