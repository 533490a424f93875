"""The kit catches what it is for: every fault here is planted, and one named check must find it."""

import itertools

import numpy as np
import pytest

import osp_core as osp
from osp_core.errors import NotAVertexError
from osp_core.testing import NotApplicable, check_space, examine_space
from osp_core.testing.sample import Sample

PAIRS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 0, 1, 0]], dtype=float)


class Sound(osp.Vertices):
    """Five pairs of four elements, with nothing wrong: what all faults are planted into."""

    def __init__(self, **params):
        super().__init__(PAIRS, **params)
        self.constant_mass = True

    def target_loss(self):
        return osp.mismatch


def failures(space):
    Sample._latest = None
    return {result.name: result.message for result in examine_space(space).failures}


def test_the_space_without_a_fault_passes():
    check_space(Sound())


class WrongArgmin(Sound):
    def lmo(self, cost):
        return self.vertices()[np.argsort(self.vertices() @ cost, kind="stable")[1]].copy()


def test_an_oracle_that_returns_the_second_best_is_caught():
    message = failures(WrongArgmin())["lmo_is_optimal"]
    assert "is beaten" in message
    assert "lmo must minimise" in message


class Maximising(osp.ZeroOneSpace):
    dim = 30

    def lmo(self, cost):
        return (cost > 0).astype(float)


def test_an_oracle_that_maximises_is_caught_without_a_list_of_outputs():
    assert "lmo_is_optimal" in failures(Maximising())


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
def test_a_nu_that_is_too_large_is_caught_and_the_pair_is_named(norm):
    space = Sound(norm=norm)
    space.nu = 2 * osp.Vertices(PAIRS, norm=norm).nu
    message = failures(space)["nu"]
    assert "too large" in message
    assert message.count("[") == 2
    assert "ℓ∞" in message if np.isinf(norm) else f"ℓ{norm:g} norm" in message


def test_a_nu_that_is_too_large_is_caught_without_a_list_of_outputs():
    def cheapest_ten(cost):
        vertex = np.zeros(30)
        vertex[np.argsort(cost, kind="stable")[:10]] = 1.0
        return vertex

    check_space(osp.space_from_lmo(cheapest_ten, 30))
    assert "nu" in failures(osp.space_from_lmo(cheapest_ten, 30, nu=2.0))


class SmallGamma(osp.AffineLoss):
    """The mismatch loss with a γ that is right for pairs of vertices, but not in the hull."""

    def __init__(self):
        super().__init__(osp.mismatch.cost, osp.mismatch.constant, name="small gamma")

    def gamma(self, space):
        vertices = space.vertices()
        return max(
            self.loss(u, v) / float(space.distance(u, v))
            for u in vertices
            for v in vertices
            if (u != v).any()
        )


def test_a_gamma_that_holds_on_vertices_only_is_caught():
    class Permutations(osp.Vertices):
        def __init__(self, target):
            rows = [np.eye(3)[list(order)].ravel() for order in itertools.permutations(range(3))]
            super().__init__(rows)
            self.target = target

        def target_loss(self):
            return self.target

    check_space(Permutations(osp.mismatch))
    message = failures(Permutations(SmallGamma()))["gamma"]
    assert "gamma = 0.408248" in message  # √(1/6), where √2/3 would be right
    assert "is 0.4714" in message


def test_a_gamma_that_is_too_small_is_caught_in_the_l1_norm():
    class Space(Sound):
        norm = 1.0

        def target_loss(self):
            return osp.AffineLoss(osp.mismatch.cost, osp.mismatch.constant, gamma=0.2)

    assert set(failures(Space())) >= {"gamma"}


@pytest.mark.parametrize(
    ("psi", "norm"),
    [
        (osp.SquaredNorm(1.0), 2.0),
        (osp.SquaredNorm(3.0), 1.0),
        (osp.GibbsEntropy(1.0), 1.0),
        (osp.GibbsEntropy(2.0), 2.0),
    ],
)
def test_a_lambda_that_is_too_large_is_caught(psi, norm):
    space = osp.Vertices([[0, 1], [1, 0]], psi=psi, norm=norm)
    exact = space.lam
    check_space(space)
    space.lam = 1.01 * exact
    assert "too large" in failures(space)["lam"]
    space.lam, space.lam2 = exact, 1.01 * space.lam2
    assert "too large" in failures(space)["lam2"]


@pytest.mark.parametrize("psi", [osp.NegativeEntropy(1.0), osp.BinaryEntropy(1.0)])
def test_a_lambda_of_an_entropy_that_is_too_large_is_caught(psi):
    space = osp.make_space("hypercube", d=2, psi=psi)
    space.lam2 *= 1.05
    assert "lam2" in failures(space)


class BiasedSampler(Sound):
    def sample_vertex(self, point, rng):
        combination = self.decompose(point)
        tilted = np.sqrt(combination.weights)
        return combination.vertices[rng.choice(len(tilted), p=tilted / tilted.sum())].copy()


def test_a_biased_sampler_is_caught():
    message = failures(BiasedSampler())["sampling_is_unbiased"]
    assert "biased" in message
    assert "chance allows" in message


class BiasedBatchSampler(Sound):
    def sample_many(self, points, rng):
        return np.array([self.nearest_vertex(point) for point in np.asarray(points)]).reshape(-1, self.dim)


def test_a_biased_sampler_of_batches_is_caught():
    assert "sample_many is biased" in failures(BiasedBatchSampler())["sampling_is_unbiased"]


class NeverDrops(Sound):
    """An active set that keeps a dropped atom with a little weight."""

    def decompose(self, point):
        combination = super().decompose(point)
        stale = self.lmo(point)
        kept = [row for row in range(len(combination)) if (combination.vertices[row] != stale).any()]
        atoms = np.vstack([combination.vertices[kept], stale])
        weights = np.append(combination.weights[kept], combination.weights.sum() * 0.05)
        return osp.ConvexCombination(atoms, weights / weights.sum())


def test_an_atom_that_is_never_dropped_is_caught():
    found = failures(NeverDrops())
    assert "wrong mean" in found["decomposition"]
    assert "sampling_is_unbiased" in found  # sample_vertex draws from decompose


def test_a_stale_combination_of_a_prediction_is_caught():
    class Stale(Sound):
        def predict(self, theta):
            fresh = super().predict(theta)
            old = super().decompose(self.vertices().mean(axis=0))
            return osp.Prediction(fresh.point, old, fresh.gap, fresh.status)

    assert "wrong mean" in failures(Stale())["prediction_combination"]


class Mutating(Sound):
    def lmo(self, cost):
        answer = super().lmo(cost.copy())
        cost -= cost.min()
        return answer


def test_an_oracle_that_changes_its_argument_is_caught():
    assert "changed its argument" in failures(Mutating())["lmo_is_pure"]


class Shared(Sound):
    def lmo(self, cost):
        return self._own[np.argmin(self._own @ cost)]

    @property
    def _own(self):
        if "_rows" not in self.__dict__:
            self._rows = PAIRS.copy()
        return self._rows


def test_an_oracle_that_hands_out_its_own_memory_is_caught():
    assert "callers may overwrite" in failures(Shared())["lmo_is_pure"]


class SignedZeros(Sound):
    def lmo(self, cost):
        vertex = super().lmo(cost)
        return np.where(vertex == 0, np.copysign(0.0, cost), vertex)


def test_negative_zeros_are_caught():
    assert "−0.0" in failures(SignedZeros())["equal_vertices_have_equal_bytes"]


class Rounded(Sound):
    def nearest_vertex(self, point):
        return super().nearest_vertex(point) * (1.0 - 1e-16) * (1.0 - 1.2e-16)


def test_vertices_that_are_equal_up_to_rounding_are_caught():
    assert "different bytes" in failures(Rounded())["equal_vertices_have_equal_bytes"]


class NotNearest(Sound):
    def nearest_vertex(self, point):
        order = np.argsort(self.distance(self.vertices(), point), kind="stable")
        is_vertex = self.is_vertex(point)
        return self.vertices()[order[0 if is_vertex else 1]].copy()


def test_a_nearest_vertex_that_is_beaten_is_caught():
    found = failures(NotNearest())
    assert "is beaten" in found["nearest_vertex_is_not_beaten"]
    assert "vertex_is_its_own_nearest" not in found


def test_a_vertex_that_is_not_its_own_nearest_is_caught():
    class Shy(NotNearest):
        def is_vertex(self, y):
            return False

    assert "its own nearest" in failures(Shy())["vertex_is_its_own_nearest"]


class WrongPrediction(Sound):
    def predict(self, theta):
        return osp.Prediction(super().predict(0.9 * theta).point)


def test_a_wrong_prediction_is_caught():
    found = failures(WrongPrediction())
    assert "is not optimal" in found["prediction_is_optimal"]
    assert "but the maximiser" in found["prediction_matches_brute_force"]
    assert "fenchel_young_gradient" in found


def test_a_prediction_outside_the_hull_is_caught():
    class Outside(Sound):
        def predict(self, theta):
            return osp.Prediction(super().predict(theta).point + 1e-4)

    assert "away from conv(Y)" in failures(Outside())["prediction_is_feasible"]


def test_wrong_marginals_are_caught():
    class Space(Sound):
        psi = osp.GibbsEntropy(1.0)

        def marginals(self, theta):
            return super().marginals(1.05 * theta)

    assert "prediction_matches_brute_force" in failures(Space())


class OverconfidentGap(Sound):
    def project(self, point):
        centre = self.vertices().mean(axis=0)
        exact = super().project(point).point
        return osp.Prediction(0.999 * exact + 0.001 * centre, gap=1e-9)


def test_a_gap_that_is_smaller_than_the_true_one_is_caught():
    assert "the stated gap is" in failures(OverconfidentGap())["prediction_is_optimal"]


@pytest.mark.parametrize(
    ("attribute", "value", "name"),
    [
        ("diameter", 1.0, "diameter"),
        ("diameter2", 1.0, "diameter"),
        ("kappa", 0.5, "kappa"),
        ("max_mass", 1.0, "ranges"),
        ("max_entry", 0.5, "ranges"),
        ("min_entry", 0.5, "ranges"),
        ("max_square", 1.5, "ranges"),
    ],
)
def test_a_wrong_constant_is_caught(attribute, value, name):
    space = Sound()
    setattr(space, attribute, value)
    assert attribute in failures(space)[name]


@pytest.mark.parametrize("attribute", ["equal_norm", "constant_mass", "zero_one"])
def test_a_property_that_does_not_hold_is_caught(attribute):
    space = osp.Vertices([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    setattr(space, attribute, True)
    assert attribute in failures(space)["ranges"]


def test_a_decoding_ratio_that_is_too_small_is_caught():
    class Space(osp.Vertices):
        def __init__(self):
            super().__init__([[0.0], [1.0]])

        def decoding_ratio(self, target):
            return 0.95 * super().decoding_ratio(target)  # on this space 4γ/(λν) is exactly right

        def gradient_ratio(self):
            return 0.95 * super().gradient_ratio()

    found = failures(Space())
    assert "E L" in found["decoding_ratio"]
    assert "lemma_4" not in found
    assert "‖ŷ − y‖₂²" in found["gradient_ratio"]


def test_constants_that_break_lemma_4_are_caught():
    space = osp.Vertices([[0.0], [1.0]])
    space.nu = 1.1
    assert "lemma_4" in failures(space)


def test_a_broken_round_trip_of_labels_is_caught():
    class Space(Sound):
        def to_label(self, vertex):
            return int(np.argmax(vertex))

        def from_label(self, label):
            if isinstance(label, int):
                return self.vertices()[label % 5].copy()
            return super().from_label(label)

    assert "from_label" in failures(Space())["labels_round_trip"]


def test_labels_that_accept_rubbish_are_caught():
    class Space(Sound):
        def from_label(self, label):
            try:
                return super().from_label(label)
            except NotAVertexError:
                return self.vertices()[0].copy()

    assert "must raise an OspError" in failures(Space())["labels_round_trip"]


def test_batches_that_break_ties_differently_are_caught():
    class Space(Sound):
        def lmo_many(self, costs):
            values = np.asarray(costs, dtype=float) @ self.vertices().T
            return self.vertices()[len(PAIRS) - 1 - np.argmin(values[:, ::-1], axis=1)]

    assert "lmo_many answers" in failures(Space())["many_equals_one"]


def test_nan_at_large_scores_is_caught():
    class Space(Sound):
        psi = osp.GibbsEntropy(1.0)

        def marginals(self, theta):
            with np.errstate(all="ignore"):
                weights = np.exp(self.vertices() @ theta)  # overflows
                return weights @ self.vertices() / weights.sum()

    assert "large_scores" in failures(Space())


def test_methods_that_accept_bad_input_are_caught():
    class Space(Sound):
        def predict_many(self, thetas):
            return osp.Predictions.exact(np.zeros((len(thetas), self.dim)))

    assert "predict_many" in failures(Space())["inputs_are_validated"]


def test_a_sampler_that_accepts_points_outside_is_caught():
    class Space(Sound):
        def sample_vertex(self, point, rng):
            return self.nearest_vertex(point)

    assert "outside conv(Y)" in failures(Space())["inputs_are_validated"]


def test_a_span_that_is_too_small_is_caught():
    class Space(Sound):
        def project_direction(self, direction):
            return np.zeros(self.dim)

    assert "span is too small" in failures(Space())["project_direction"]


def test_an_incomplete_list_of_outputs_is_caught():
    class Space(Sound):
        def vertices(self):
            return super().vertices()[:3]

        def lmo(self, cost):
            return PAIRS[np.argmin(PAIRS @ cost)].copy()

    assert "does not list" in failures(Space())["lmo_returns_vertices"]


def test_a_repeated_output_is_caught():
    class Space(Sound):
        def vertices(self):
            return np.vstack([super().vertices(), super().vertices()[:1]])

    assert "2 times" in failures(Space())["enumeration"]


def test_blocks_that_overlap_are_caught():
    class Space(Sound):
        def blocks(self):
            return [osp.Block(osp.Vertices([[0.0], [1.0]]), np.array([[0], [0], [1], [2]]))]

    assert "covers the coordinates" in failures(Space())["blocks"]


def test_nothing_is_claimed_where_nothing_is_known():
    class Bare(osp.OutputSpace):
        dim = 3

        def lmo(self, cost):
            return np.eye(3)[np.argmin(cost)]

    report = examine_space(Bare())
    assert report.ok
    for name in ("nu", "target", "gamma", "lemma_4", "enumeration", "prediction_matches_brute_force"):
        assert report.named(name).outcome == "not applicable"
        assert report.named(name).message
    with pytest.raises(NotApplicable, match="ν is not known"):
        osp.testing.check_nu(Bare(), np.random.default_rng(0))
