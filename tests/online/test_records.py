"""The arrays of a record are the reader's own: writable, and shared with nothing."""

import itertools

import numpy as np
import pytest

import osp_core as osp

PAIRS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
ARRAYS = ("vertex", "y", "nearest")


class Hoarding(osp.Vertices):
    """Hands out its own arrays wherever it can."""

    def __init__(self):
        super().__init__(PAIRS)
        self.kept = [row.copy() for row in PAIRS]

    def nearest_vertex(self, point):
        return min(self.kept, key=lambda row: float(np.abs(row - point).sum()))

    def sample_vertex(self, point, rng):
        return self.kept[0]

    def from_label(self, label):
        return self.kept[label]

    def target_loss(self):
        return osp.mismatch


SPACES = {
    "simplex": lambda: osp.make_space("simplex", d=4),
    "hypercube": lambda: osp.make_space("hypercube", d=4),
    "k_subsets": lambda: osp.make_space("k_subsets", d=4, k=2),
    "one that hoards": Hoarding,
}


def plain(name):
    """A predictor whose rounds are not compiled."""
    return osp.OnlinePredictor(
        SPACES[name](), 2, target=osp.hamming, seed=0, verify=name != "one that hoards"
    )


def records(predictor, rounds=12):
    """Records of rounds by `step` and by `play` and `learn`, with the play and the feedback of each."""
    hoards = isinstance(predictor.space, Hoarding)
    for t in range(rounds):
        x = np.array([0.6, 0.8 * (-1) ** t])
        y, again = (predictor.space.lmo(np.roll([3.0, 1.0, 2.0, 5.0], t)) for _ in range(2))
        yield predictor.step(x, t % 4 if hoards else y), None, y
        play = predictor.play(x)
        yield predictor.learn(play, t % 4 if hoards else again), play, again


@pytest.mark.parametrize("name", SPACES)
def test_the_arrays_of_a_record_are_writable_and_share_no_memory(name):
    for record, play, y in records(plain(name)):
        arrays = [getattr(record, field) for field in ARRAYS]
        for array in arrays:
            assert array.flags.writeable
            assert array.flags.owndata
        others = [y, record.law.nearest, record.law.prediction.point]
        others += [play.vertex] if play is not None else []
        pairs = [*itertools.combinations(arrays, 2), *itertools.product(arrays, others)]
        assert not any(np.shares_memory(one, other) for one, other in pairs)


@pytest.mark.parametrize("name", SPACES)
def test_writing_to_records_changes_nothing_that_comes_later(name):
    subject, twin = plain(name), plain(name)
    for (record, play, y), (kept, _, _) in zip(records(subject), records(twin), strict=True):
        assert record.vertex.tobytes() == kept.vertex.tobytes()
        assert record.surrogate_loss == kept.surrogate_loss
        for array in (*(getattr(record, field) for field in ARRAYS), y):
            array[...] = np.nan
        if play is not None:
            play.vertex[...] = np.nan
    assert str(subject.state()) == str(twin.state())
