"""The arguments of compiled rounds are those that their layout says, in name, order and shape."""

import inspect

import numpy as np
import pytest
from compiled_twins import SPACES, predictor, stream

from osp_core import kernels
from osp_core.compiled.layout import ARGUMENTS
from osp_core.compiled.round_kernel import make_learn_rounds


def sizes(arguments, subject):
    """What the words of the layout stand for in a call."""
    d, rounds = subject.space.dim, len(arguments["index"])
    entries = int(arguments["starts"][-1])
    return {
        "d": d,
        "4d": 4 * d,
        "2d + 1": 2 * d + 1,
        "columns": subject.model.shape(d)[1],
        "epochs": len(subject.learner._array.epochs),
        "numbers": len(subject.learner._numbers),
        "settings": 5 + len(subject.space.compiled_parts().params),
        "rounds": rounds,
        "rounds + 1": rounds + 1,
        "entries": entries,
        "entries or 0": entries if arguments["columns"].size else 0,
        "labels": 1 + int(arguments["index"].max()),
        "blocks": d if subject.compiled.blockwise else 1,
    }


def test_the_kernel_takes_the_arguments_of_the_layout_in_order():
    kernel = make_learn_rounds([None] * 7)
    assert list(inspect.signature(kernel).parameters) == list(ARGUMENTS)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("space", SPACES)
def test_every_argument_has_the_shape_that_the_layout_says(space, sparse):
    from scipy.sparse import csr_array

    space = SPACES[space]()
    X, Y = stream(space, rounds=7)
    with kernels.use("numba"):
        subject = predictor(space)
        learn_rounds, calls = subject.compiled._learn_rounds, []

        def spy(*arguments):
            calls.append(dict(zip(ARGUMENTS, arguments, strict=True)))
            return learn_rounds(*arguments)

        subject.compiled._learn_rounds = spy
        subject.step(X[0], Y[0])
        subject.learn_many(csr_array(X) if sparse else X, Y)
    for arguments in calls:
        known = sizes(arguments, subject)
        for name, argument in ARGUMENTS.items():
            expected = tuple(known.get(size, size) for size in argument.shape)
            assert np.shape(arguments[name]) == expected, name
    assert [len(arguments["index"]) for arguments in calls] == [1, 7]
