"""The spaces of the campaign: every registered example, random instances, and wrappers around both."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import osp_core as osp
from osp_core.errors import InvalidInputError, UnsupportedError
from osp_core.testing import space_examples

PSIS = (osp.SquaredNorm, osp.NegativeEntropy, osp.BinaryEntropy, osp.GibbsEntropy)
SCALES = (0.05, 1.0, 20.0)
NORMS = (1.0, 2.0, 1.5, 3.0, np.inf)
MOST_OUTPUTS = 130  # of a base that is wrapped: a product with another one must stay small


@dataclass(frozen=True)
class Case:
    """A space to attack. Its title says how it was made and seeds everything that is drawn for it."""

    family: str
    title: str
    make: Callable[[], osp.OutputSpace]

    def __str__(self):
        return self.title


def is_supported(space):
    """Whether the space predicts with its Ψ."""
    try:
        space.predict(np.zeros(space.dim))
        return bool(space.lam > 0)
    except (UnsupportedError, InvalidInputError):
        return False


def registered_cases(most=None):
    """The examples of every registered space: as they are, and with every other Ψ that they support."""
    for record in osp.list_spaces():
        for example in space_examples(record.name)[:most] if record.available else ():
            yield Case(record.name, str(example), example.make)
            for psi in with_scales(example.make()):
                yield Case(record.name, f"{example} {psi}", _with_psi(example.make, psi))


def with_scales(space):
    """The regularizers that the space supports, at several scales."""
    kinds = [kind for kind in PSIS if is_supported(space.with_psi(kind(1.0)))]
    return [kind(scale) for kind in kinds for scale in SCALES]


def drawn_cases(ledger, count):
    """Random instances of the registered spaces that take Ψ and a norm when they are made."""
    available = {record.name for record in osp.list_spaces() if record.available}
    for name, draw in DRAWN.items():
        for number in range(count if name in available else 0):
            rng = ledger.rng("drawn", name, number)
            parameters, scale = draw(rng), float(rng.choice(SCALES))
            norm = (1.0, 2.0, float(rng.choice(NORMS[2:])))[number % 3]
            makers = {kind: _maker(name, parameters, kind(scale), norm) for kind in rng.permutation(PSIS)}
            kind = next(kind for kind, make in makers.items() if is_supported(make()))  # SquaredNorm always
            yield Case(name, f"{name}#{number} {kind(scale)} p={norm:g}", makers[kind])


def wrapped_cases(ledger, names=None, depths=(1, 2)):
    """Every wrapper, and every one around another, on one example of each registered space."""
    plans = [plan for depth in depths for plan in itertools.product(WRAPPERS, repeat=depth)]
    records = [record for record in osp.list_spaces() if names is None or record.name in names]
    for example in filter(None, map(_wrappable, records)):
        for plan in plans:
            title = f"{example} " + " ".join(plan)
            make = _wrapper(example.make, plan, ledger, title)
            try:
                supported = is_supported(make())
            except (UnsupportedError, InvalidInputError):  # no 0/1 outputs to mask, nothing left, …
                continue
            if supported:
                ledger.exercised.update(plan)
                yield Case("+".join(plan), title, make)


def random_mask(space, rng):
    """Coordinates that some output avoids."""
    y = space.lmo(rng.standard_normal(space.dim))
    unused = np.flatnonzero(y == 0)
    return sorted(rng.permutation(unused)[: rng.integers(1, 3)].tolist())


def _wrappable(record):
    """The first example with a few outputs."""
    for example in space_examples(record.name) if record.available else ():
        space = example.make()
        try:
            outputs = len(space.vertices())
        except UnsupportedError:
            continue
        if 2 < outputs <= MOST_OUTPUTS and space.dim > 1:
            return example
    return None


def _with_psi(make, psi):
    return lambda: make().with_psi(psi)


def _maker(name, parameters, psi, norm):
    return lambda: osp.make_space(name, **parameters, psi=psi, norm=norm)


def _wrapper(make, plan, ledger, title):
    def wrapped():
        space = make()
        for depth, name in enumerate(plan):
            space = WRAPPERS[name](space, ledger.rng(title, depth))
        return space

    return wrapped


# --- wrappers: from a space and a generator to another space -------------------------------------------


def _another_psi(space, rng):
    """Not the Gibbs entropy on larger spaces: where it enumerates, every prediction does."""
    candidates = PSIS if space.dim <= 6 else PSIS[:-1]
    kinds = [kind for kind in candidates if is_supported(space.with_psi(kind(1.0)))]
    return space.with_psi(kinds[rng.integers(len(kinds))](float(rng.choice(SCALES))))


def _product(space, rng):
    """A product with a switch and a triangle, nested, each factor with its own Ψ or all with one."""
    switch = osp.vertices([[0.0], [1.0]], norm=space.norm, psi=osp.SquaredNorm(float(rng.choice(SCALES))))
    corner = osp.vertices(np.eye(3), norm=space.norm, psi=osp.GibbsEntropy(float(rng.choice(SCALES))))
    if rng.random() < 0.3:
        return osp.product([space, switch], psi=osp.SquaredNorm(float(rng.choice(SCALES))))
    return osp.product([osp.product([switch, space]), corner] if rng.random() < 0.5 else [space, switch])


def _from_lmo(space, rng):
    return osp.space_from_lmo(
        space.lmo,
        space.dim,
        zero_one=space.zero_one,
        nu=space.nu,
        equal_norm=space.equal_norm,
        target=space.target_loss() if space.zero_one else None,
        psi=osp.SquaredNorm(float(rng.choice(SCALES))),
        norm=space.norm,
    )


WRAPPERS = {
    "with_psi": _another_psi,
    "accurate_to": lambda space, rng: space.accurate_to(10.0 ** rng.uniform(-6, 0)),
    "guarded": lambda space, rng: osp.guarded(space, slow=3600.0),
    "masked": lambda space, rng: osp.masked(space, random_mask(space, rng)),
    "at": lambda space, rng: osp.masked(space).at(random_mask(space, rng)),
    "product": _product,
    "from_lmo": _from_lmo,
}


# --- random instances: from a generator to the parameters of `make_space` ------------------------------


def _bipartite(rng):
    size = int(rng.integers(2, 5))
    cells = [(i, j) for i in range(size) for j in range(size)]
    extra = [cell for cell in cells if rng.random() < 0.5]
    return {"graph": sorted({*((i, i) for i in range(size)), *extra})}


def _graph(rng):
    nodes = int(rng.integers(3, 6))
    tree = [(int(rng.integers(node)), node) for node in range(1, nodes)]
    extra = [(i, j) for j in range(nodes) for i in range(j) if rng.random() < 0.5]
    return {"edges": sorted({*tree, *extra})}


def _sizes(rng):
    d = int(rng.integers(2, 8))
    return d, int(rng.integers(1, d))


def _outputs(rng):
    rows = rng.integers(0, 2, (12, 5)) if rng.random() < 0.5 else rng.normal(size=(7, 3)).round(2)
    return {"array": np.unique(rows, axis=0)}


DRAWN = {
    "simplex": lambda rng: {"d": int(rng.integers(2, 12))},
    "hypercube": lambda rng: {"d": int(rng.integers(1, 6))},
    "ordinal": lambda rng: {"d": int(rng.integers(1, 12))},
    "birkhoff": lambda rng: {"n": int(rng.integers(2, 5))},
    "assignment": lambda rng: dict(zip("mn", sorted(rng.integers(1, 5, 2).tolist()), strict=True)),
    "matching": _bipartite,
    "permutahedron": lambda rng: {"weights": np.sort(rng.integers(1, 9, int(rng.integers(2, 5))))},
    "k_subsets": lambda rng: dict(zip("dk", _sizes(rng), strict=True)),
    "partition_matroid": lambda rng: {
        "blocks": [[0, 1, 2], [3, 4, 5, 6]],
        "capacities": rng.integers(1, 4, 2).tolist(),
    },
    "graphic_matroid": _graph,
    "linear_matroid": lambda rng: {"matrix": rng.integers(-2, 3, (int(rng.integers(2, 4)), 6))},
    "transversal_matroid": lambda rng: {
        "sets": [sorted(rng.permutation(6)[:4].tolist()) for _ in range(3)],
        "elements": range(6),
    },
    "laminar_matroid": lambda rng: {
        "family": [range(3), range(3, 6), range(6)],
        "capacities": [int(rng.integers(1, 3)), 2, int(rng.integers(2, 4))],
    },
    "matroid": lambda rng: {"ground": range(6), "independent": lambda chosen: len(chosen) <= 3},
    "vertices": _outputs,
}
