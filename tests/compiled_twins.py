"""What the tests of compiled rounds share: spaces, learners, streams, and how two predictors are compared."""

import contextlib

import numpy as np

import osp_core as osp
from osp_core import kernels
from osp_core.online.compiled_rounds import CompiledRounds

SPACES = {
    "softmax": lambda: osp.make_space("simplex", d=4),
    "Gibbs": lambda: osp.make_space("simplex", d=3, psi=osp.GibbsEntropy(0.5)),
    "sparsemax": lambda: osp.make_space("simplex", d=5, psi=osp.SquaredNorm(2.0), norm=2),
    "one class": lambda: osp.make_space("simplex", d=1),
    "odd norm": lambda: osp.make_space("simplex", d=3, norm=1.5),
    "clip": lambda: osp.make_space("hypercube", d=4),
    "sigmoid": lambda: osp.make_space("hypercube", d=3, psi=osp.BinaryEntropy(0.7)),
    "one label": lambda: osp.make_space("hypercube", d=1),
    "largest entry": lambda: osp.make_space("hypercube", d=2, psi=osp.SquaredNorm(3.0), norm=np.inf),
}
LEARNERS = {
    "ogd": lambda: osp.OGD(),
    "ogd on a ball": lambda: osp.OGD(radius=0.4),
    "adaptive_ogd": lambda: osp.AdaptiveOGD(3.0),
    "parameter_free": lambda: osp.ParameterFree(),
    "polyak_ogd": lambda: osp.PolyakOGD(3.0),
}


def predictor(space, n=6, learner=None, **options):
    return osp.OnlinePredictor(space, n, learner=learner, seed=5, **options)


def uncompiled(subject):
    """The same predictor with the text of the compiled rounds run as plain Python."""
    subject._compiled = CompiledRounds(
        subject, subject.learner, subject.space.compiled_parts(), compiled=False
    )
    return subject


def stream(space, rounds=400, n=6, density=0.6, seed=0):
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal((space.dim, n))
    X = rng.standard_normal((rounds, n)) * (rng.random((rounds, n)) < density)
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    noise = rng.standard_normal((rounds, space.dim))
    return X, [space.to_label(space.lmo(-(teacher @ x) + 0.2 * e)) for x, e in zip(X, noise, strict=True)]


def same_bits(one, other):
    a, b = one.state(), other.state()
    assert a["rng"] == b["rng"]
    assert a["plays"] == b["plays"]
    assert a["learner"].keys() == b["learner"].keys()
    for name, value in a["learner"].items():
        np.testing.assert_array_equal(value, b["learner"][name], err_msg=name)


def nearly(trace, other, tol=1e-9):
    for name in ("expected_loss", "surrogate_loss", "p", "gap", "target_loss"):
        np.testing.assert_allclose(getattr(trace, name), getattr(other, name), atol=tol, err_msg=name)


def run_with(kind, space, X, Y, learner=None):
    with kernels.use(kind):
        subject = predictor(space, X.shape[1], learner)
        trace = osp.run(subject, X, Y)
    assert (subject.compiled is None) == (kind == "numpy")
    return subject, trace


def outcome(subject, act):
    """What came of it: the answer, or the error and its text."""
    try:
        return act(subject)
    except Exception as error:
        return type(error), str(error)


@contextlib.contextmanager
def plain_rounds(subject):
    """A list that gets the label of every round which the general code takes up."""
    taken, general = [], subject._step

    def spy(x, y, context):
        taken.append(y)
        return general(x, y, context)

    subject._step = spy
    try:
        yield taken
    finally:
        del subject._step
