"""The table of guarantees in the README: what the code computes for one instance of every space."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import osp_core as osp

README = Path(__file__).parents[2] / "README.md"
HEADER = ("space", "Ψ, norm", "ν", "D", "γ", "λ", "target", "scale", "a", "b", "regret ≤", "by")


def table() -> str:
    """All rows of spaces that can be made here."""
    lines = [line(HEADER), "|" + "---|" * len(HEADER)]
    return "\n".join([*lines, *(row(name) for name in INSTANCES)])


def row(name: str) -> str:
    """The line of one space: its constants in its own norm, then a, b and the bound for ‖x‖ ≤ 1."""
    what, make = INSTANCES[name]
    space = make()
    gap = osp.surrogate_gap(space)
    assert gap.target is not None
    assert gap.a is not None
    psi = {"NegativeEntropy": "−H", "SquaredNorm": "½‖·‖²"}.get(type(space.psi).__name__, "of the factors")
    numbers = (space.nu, space.diameter, gap.target.gamma(space), space.lam)
    cells = (
        f"[`{name}`](docs/how_to/spaces/{name}.md), {what}",
        f"{psi}, ℓ{space.norm:g}",
        *map(shown, numbers),
        gap.target.name,
        *map(shown, (gap.loss.scale, gap.a, gap.b)),
        f"{shown(gap.coefficient)}·‖U‖²",
        theorem(name, gap),
    )
    return line(cells)


def theorem(name: str, gap: osp.SurrogateGap) -> str:
    """Where the bound comes from."""
    if name == "simplex":
        return "Thm 12, sharpened"
    return "Thm 7, by blocks" if isinstance(gap.decoder, osp.BlockwiseDecoder) else "Thm 7"


def shown(value: float) -> str:
    """Four significant digits, enough to be told apart."""
    return f"{value:.4g}"


def line(cells: tuple[str, ...]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def complete_graph(n: int) -> list[tuple[int, int]]:
    """The edges of K_n."""
    return [(i, j) for j in range(n) for i in range(j)]


def knapsack() -> osp.OutputSpace:
    """Items of sizes 3, …, 9 in a bag of 14."""
    import cvxpy as cp

    items = cp.Variable(6, boolean=True)
    return osp.make_space("polytope", constraints=[[3, 4, 5, 6, 7, 9] @ items <= 14], variable=items)


def made(name: str, **parameters: object) -> Callable[[], osp.OutputSpace]:
    """How to make a space, later."""
    return lambda: osp.make_space(name, **parameters)


INSTANCES: dict[str, tuple[str, Callable[[], osp.OutputSpace]]] = {
    "simplex": ("any number of classes", made("simplex", d=10)),
    "hypercube": ("10 labels", made("hypercube", d=10)),
    "ordinal": ("6 categories", made("ordinal", d=5)),
    "permutahedron": ("5 items", made("permutahedron", d=5)),
    "birkhoff": ("5 items", made("birkhoff", n=5)),
    "assignment": ("3 rows, 5 columns", made("assignment", m=3, n=5)),
    "matching": (
        "a ladder of 4 + 4",
        made("matching", graph=[(i, 4 + j) for i in range(4) for j in range(4) if abs(i - j) <= 1]),
    ),
    "k_subsets": ("3 of 10", made("k_subsets", d=10, k=3)),
    "partition_matroid": ("1 of each 4", made("partition_matroid", blocks=[4, 4, 4], capacities=[1, 1, 1])),
    "graphic_matroid": ("spanning trees of K₅", made("graphic_matroid", edges=complete_graph(5))),
    "linear_matroid": ("a 2×4 matrix", made("linear_matroid", matrix=[[1, 0, 1, 2], [0, 1, 1, 0]])),
    "transversal_matroid": ("3 sets", made("transversal_matroid", sets=[[0, 1], [1, 2], [2, 3, 4]])),
    "laminar_matroid": (
        "3 nested sets",
        made("laminar_matroid", family=[[0, 1, 2], [0, 1], [3, 4]], capacities=[2, 1, 1]),
    ),
    "matroid": ("any 2 of 5", made("matroid", ground=range(5), independent=lambda chosen: len(chosen) <= 2)),
    "polytope": ("a knapsack of 6", knapsack),
    "vertices": ("3 rows", made("vertices", array=[[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])),
    "product": (
        "3 classes, 2 labels",
        lambda: osp.make_space(
            "product", spaces=[osp.make_space("simplex", d=3), osp.make_space("hypercube", d=2)]
        ),
    ),
    "masked": (
        "4 classes, 1 forbidden",
        lambda: osp.make_space("masked", space=osp.make_space("simplex", d=4), forbidden=[0]),
    ),
}


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- guarantees -->\n")
    after = rest.partition("<!-- end of guarantees -->")[2]
    new = f"{before}<!-- guarantees -->\n\n{table()}\n\n<!-- end of guarantees -->{after}"
    README.write_text(new, encoding="utf-8")
    sys.stdout.write(table() + "\n")
