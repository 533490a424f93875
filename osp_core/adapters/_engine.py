"""What every adapter wraps: an online predictor behind a scaling of its inputs."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core import targets
from osp_core.adapters._scaling import Scaling, make_scaling
from osp_core.errors import Array, InvalidInputError, UnsupportedError
from osp_core.geometry.predictions import Predictions
from osp_core.learners import OGD, OnlineLearner
from osp_core.models import FeatureModel, LinearModel
from osp_core.online.predictor import OnlinePredictor
from osp_core.registry.registry import make_learner
from osp_core.spaces import OutputSpace
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.targets import AffineLoss

ONLINE_TO_BATCH = "online-to-batch"
# Where a learner must be told the size of its domain and the user was not asked.
_DOMAINS: dict[str, dict[str, float]] = {
    "polyak_ogd": {"diameter": 1000.0},
    "adaptive_ogd": {"diameter": 100.0},
}


@dataclass(frozen=True)
class Settings:
    """How to learn; the parameters that all adapters share.

    Attributes
    ----------
    learner : str, OnlineLearner or None
        A registered name, or a learner to copy; OGD with the step of the theorem where None.
    loss_scale : float or None
        Of the Fenchel–Young loss; see `surrogate_gap` for the default.
    scale : {"standard", "unit", "bound"}
        How inputs are brought to norm at most 1.
    feature_bound : float or None
        The C of scale="bound".
    intercept : bool
    average : None or "online-to-batch"
        Predict with W̄, the average of the iterates, instead of the last one.
    seed : int or None
        Of the plays.
    """

    learner: str | OnlineLearner | None = None
    loss_scale: float | None = None
    scale: str = "standard"
    feature_bound: float | None = None
    intercept: bool = True
    average: str | None = None
    seed: int | None = None


class Engine:
    """Learns from inputs of any size, one at a time, and predicts for many.

    Parameters
    ----------
    space : OutputSpace
    n_features : int
    settings : Settings
    target : AffineLoss or str, optional
        A target or the name of one; the usual target of the space by default.
    sparse : bool
        Whether inputs are sparse rows.
    per_coordinate : bool
        Whether inputs are matrices with one row of features per coordinate of the space.
    """

    def __init__(
        self,
        space: OutputSpace,
        n_features: int,
        settings: Settings,
        *,
        target: AffineLoss | str | None = None,
        sparse: bool = False,
        per_coordinate: bool = False,
    ) -> None:
        if settings.average not in (None, ONLINE_TO_BATCH):
            raise InvalidInputError(f'average must be None or "{ONLINE_TO_BATCH}", got {settings.average!r}.')
        self.settings, self.target, self.per_coordinate = settings, target, per_coordinate
        self.scaling: Scaling = make_scaling(
            settings.scale,
            n_features,
            intercept=settings.intercept,
            feature_bound=settings.feature_bound,
            sparse=sparse,
        )
        self.predictor = self._make_predictor(space)

    def __getstate__(self) -> dict[str, Any]:
        # Targets may hold functions that do not pickle; everything else of a predictor is in its state.
        parts = {name: value for name, value in self.__dict__.items() if name != "predictor"}
        return {**parts, "_space": self.space, "_state": self.predictor.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts = dict(state)
        space, predictor_state = parts.pop("_space"), parts.pop("_state")
        self.__dict__.update(parts)
        self.predictor = self._make_predictor(space)
        self.predictor.load_state(copy.deepcopy(predictor_state))

    @property
    def space(self) -> OutputSpace:
        return self.predictor.space

    @property
    def weights(self) -> Array:
        """The weights that predictions use: W_t, or W̄ where the settings say so."""
        averaged = self.settings.average == ONLINE_TO_BATCH
        return self.predictor.average_weights if averaged else self.predictor.learner.weights

    def learn(self, x: Any, y: Any) -> None:
        """Play a round. If anything is wrong with it, nothing changes."""
        undo = self.scaling.observe(x)
        try:
            self.predictor.step(self._scaled(x), y)
        except Exception:
            undo()
            raise

    def scores(self, X: Any) -> Array:
        """θ for every input."""
        weights = self.weights
        if self.per_coordinate:
            scores = [self.scaling.matrix(phi) @ weights for phi in X]
            return np.array(scores).reshape(len(scores), self.space.dim)
        return np.asarray(self.scaling.rows(X) @ weights.T)

    def row_scores(self, x: Array) -> Array:
        """θ for one dense input."""
        scaled = self.scaling.row(x)
        if self.settings.average == ONLINE_TO_BATCH:
            return np.asarray(self.weights @ scaled)
        return self.predictor.learner.scores(self.predictor.model, (scaled, None))

    def row_vertex(self, x: Array) -> Array:
        """The vertex nearest to ŷ for one dense input."""
        if self.settings.average == ONLINE_TO_BATCH:
            return self.space.nearest_vertex(self.space.predict(self.row_scores(x)).point)
        return self.predictor.predict_vertex(self.scaling.row(x))

    def predictions(self, X: Any) -> Predictions:
        """ŷ for every input."""
        return self.space.predict_many(self.scores(X))

    def vertices(self, X: Any) -> Array:
        """The vertex nearest to ŷ for every input."""
        return self.space.nearest_vertex_many(self.predictions(X).point)

    def sample(self, X: Any, rng: np.random.Generator) -> Array:
        """One play for every input, drawn by the decoder of the predictor."""
        laws = map(self.predictor.decoder.law, self.predictions(X))
        return np.array([law.sample(rng) for law in laws]).reshape(-1, self.space.dim)

    def grow(self, n_features: int) -> None:
        """Make room for more features; their weights are 0."""
        self.scaling.grow(n_features)
        self._rebuild(self.space, np.arange(self.space.dim))

    def move_to(self, space: OutputSpace, positions: Any) -> None:
        """Go on in a larger space: coordinate i becomes coordinate positions[i], the others start at 0."""
        self._rebuild(space, np.asarray(positions, dtype=np.intp))

    def _make_predictor(self, space: OutputSpace) -> OnlinePredictor:
        settings, width = self.settings, self.scaling.width
        loss = None if settings.loss_scale is None else FenchelYoungLoss(space, settings.loss_scale)
        return OnlinePredictor(
            space,
            width,
            learner=resolve_learner(settings.learner),
            model=FeatureModel(width) if self.per_coordinate else LinearModel(width),
            loss=loss,
            target=resolve_target(self.target),
            seed=settings.seed,
        )

    def _rebuild(self, space: OutputSpace, positions: Any) -> None:
        old = self.predictor
        new = self._make_predictor(space)
        state = old.state()
        shape, new_shape = old.model.shape(old.space.dim), new.model.shape(space.dim)
        state["learner"] = _enlarged(state["learner"], shape, new_shape, positions)
        new.load_state(state)
        self.predictor = new

    def _scaled(self, x: Any) -> Any:
        return self.scaling.matrix(x) if self.per_coordinate else self.scaling.row(x)


def resolve_learner(learner: str | OnlineLearner | None) -> OnlineLearner:
    """Return a fresh learner for a name, a copy of a given one, or the default."""
    if learner is None:
        return OGD()
    if isinstance(learner, str):
        made: OnlineLearner = make_learner(learner, **_DOMAINS.get(learner, {}))
        return made
    if isinstance(learner, OnlineLearner):
        return copy.deepcopy(learner)
    raise InvalidInputError(f"learner must be a registered name or an OnlineLearner, got {learner!r}.")


def resolve_target(target: AffineLoss | str | None) -> AffineLoss | None:
    """Return the target of this name; a target or None comes back as it is."""
    if not isinstance(target, str):
        return target
    named = {name: loss for name, loss in vars(targets).items() if isinstance(loss, AffineLoss)}
    if target not in named:
        raise InvalidInputError(f"There is no target {target!r}; there are: {', '.join(sorted(named))}.")
    return named[target]


def _enlarged(
    state: Mapping[str, Any], shape: tuple[int, ...], new_shape: tuple[int, ...], positions: Any
) -> dict[str, Any]:
    """Put every array of the shape of the weights into a larger one of zeros."""
    found = {name for name, value in state.items() if isinstance(value, np.ndarray) and value.shape == shape}
    if not found:
        raise UnsupportedError(
            "This learner keeps its weights in a form that cannot grow; name all classes and features first."
        )
    larger = dict(state)
    for name in found:
        room = np.zeros(new_shape, order="F")
        room[positions, : shape[1]] = state[name]
        larger[name] = room
    return larger
