"""What the three estimators share: validation, rounds in the order given, and the output ŷ."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from osp_core.adapters._engine import Engine, Settings
from osp_core.errors import Array, InvalidInputError, as_count
from osp_core.online.predictor import OnlinePredictor
from osp_core.regularizers import Regularizer
from osp_core.spaces import OutputSpace

UNSEEN = ("error", "grow", "ignore")


class OnlineEstimator(TransformerMixin, BaseEstimator):
    """Base of the estimators. `transform` is `predict_mean`, so that `set_output` names its columns."""

    psi: Regularizer | None
    learner: Any
    loss_scale: float | None
    scale: str
    feature_bound: float | None
    fit_intercept: bool
    average: str | None
    epochs: int
    random_state: Any
    engine_: Engine

    @property
    def predictor_(self) -> OnlinePredictor:
        """The online predictor: its `guarantee`, `gap` and weights, on scaled inputs with C = 1."""
        check_is_fitted(self, "engine_")
        return self.engine_.predictor

    @property
    def space_(self) -> OutputSpace:
        """The output space."""
        return self.predictor_.space

    def predict_mean(self, X: Any) -> Array:
        """Return ŷ for every row: the mean of a play that is all random."""
        X = self._validated(X)
        return self.engine_.predictions(X).point

    def transform(self, X: Any) -> Array:
        """Return ŷ as features; see `set_output` for data frames with named columns."""
        return self.predict_mean(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the coordinates of ŷ."""
        check_is_fitted(self, "engine_")
        return np.asarray(self._coordinate_names(), dtype=object)

    def _coordinate_names(self) -> list[str]:
        name = type(self).__name__.lower()
        return [f"{name}{i}" for i in range(self.space_.dim)]

    def _default_learner(self) -> str:
        return "ogd"

    def _average(self) -> str | None:
        return self.average

    def _settings(self) -> Settings:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Settings(
            self._default_learner() if self.learner is None else self.learner,
            self.loss_scale,
            self.scale,
            self.feature_bound,
            bool(self.fit_intercept),
            self._average(),
            seed,
        )

    def _start(self, space: OutputSpace, X: Any, **options: Any) -> None:
        """Begin anew. The estimator keeps its old state if the parameters are bad."""
        self.engine_ = Engine(
            space, X.shape[1], self._settings(), sparse=not isinstance(X, np.ndarray), **options
        )

    def _passes(self, X: Any, codes: Any) -> Self:
        for _ in range(as_count(self.epochs, "epochs")):
            self._rounds(X, codes)
        return self

    def _rounds(self, X: Any, codes: Any) -> Self:
        """Play the rows in the order given."""
        self.engine_.scaling.begin(X)
        learn = self.engine_.learn
        for i, code in enumerate(codes):
            learn(X[i] if isinstance(X, np.ndarray) else X[i : i + 1], code)
        return self

    def _validated(self, X: Any) -> Any:
        check_is_fitted(self, "engine_")
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def _generator(self, random_state: Any) -> np.random.Generator:
        chosen = self.random_state if random_state is None else random_state
        return np.random.default_rng(check_random_state(chosen).randint(2**31 - 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_unseen(policy: str) -> str:
    """Return a policy for classes that were not named, or raise an error."""
    if policy not in UNSEEN:
        raise InvalidInputError(f"unseen must be one of {', '.join(map(repr, UNSEEN))}, got {policy!r}.")
    return policy
