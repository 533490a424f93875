"""An estimator for any output space: rankings, matchings, trees, your own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from osp_core.adapters._engine import Engine, resolve_target
from osp_core.adapters.sklearn.base import OnlineEstimator
from osp_core.errors import Array, InvalidInputError
from osp_core.registry.registry import make_space
from osp_core.regularizers import Regularizer
from osp_core.spaces import OutputSpace

FEATURES = ("shared", "per_coordinate")


class OnlineStructuredEstimator(OnlineEstimator):
    """Online prediction of structures with a finite surrogate regret.

    Parameters
    ----------
    space : OutputSpace, str or callable
        A space; the name of a registered one, made with `space_params`; or a function that makes one from
        the y of the first call.
    space_params : mapping, optional
        Parameters of a space given by name.
    target : AffineLoss or str, optional
        The target or its name ("hamming", "mismatch", …); the usual one of the space by default.
    features : {"shared", "per_coordinate"}
        "shared": a row of X is one vector and θ = Wx. "per_coordinate": an element of X is a matrix with one
        row of features for every coordinate of the space (every edge, item or cell), and θ = Φw.
    psi : Regularizer, optional
        Replaces the Ψ of the space.
    learner : str or OnlineLearner, optional
        A registered name or an object, which is copied; OGD with the step of the theorem by default.
    loss_scale, scale, feature_bound, fit_intercept, average, epochs, random_state
        As in `OnlineClassifier`. Where features are per coordinate, scaling is per column, and the matrix is
        then divided by its operator norm where that exceeds 1.

    Attributes
    ----------
    predictor_ : OnlinePredictor
    space_ : OutputSpace
    """

    def __init__(
        self,
        space: OutputSpace | str | Callable[[Any], OutputSpace] | None = None,
        *,
        space_params: Mapping[str, Any] | None = None,
        target: Any = None,
        features: str = "shared",
        psi: Regularizer | None = None,
        learner: Any = None,
        loss_scale: float | None = None,
        scale: str = "standard",
        feature_bound: float | None = None,
        fit_intercept: bool = True,
        average: str | None = None,
        epochs: int = 1,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.space_params = space_params
        self.target = target
        self.features = features
        self.psi = psi
        self.learner = learner
        self.loss_scale = loss_scale
        self.scale = scale
        self.feature_bound = feature_bound
        self.fit_intercept = fit_intercept
        self.average = average
        self.epochs = epochs
        self.random_state = random_state

    def fit(self, X: Any, y: Sequence[Any]) -> Self:
        """Forget everything and play one round a row, in the order given.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Or a sequence of matrices, for features per coordinate.
        y : sequence
            An output a row: labels of the space, or vertices as numpy vectors.
        """
        X, outputs = self._read(X, y, reset=True)
        self._start_on(X, outputs)
        return self._passes(X, outputs)

    def partial_fit(self, X: Any, y: Sequence[Any]) -> Self:
        """Play one round a row, going on from what was learned before.

        The outputs of a space are all known beforehand, so that none is new; what is no output is refused.
        """
        first = not hasattr(self, "engine_")
        X, outputs = self._read(X, y, reset=first)
        if first:
            self._start_on(X, outputs)
        return self._rounds(X, outputs)

    def decision_function(self, X: Any) -> Array:
        """Return the scores θ."""
        X = self._validated(X)
        return self.engine_.scores(X)

    def predict(self, X: Any) -> Any:
        """Return the label of the output nearest to ŷ: deterministic."""
        X = self._validated(X)
        return self._labels(self.engine_.vertices(X))

    def sample(self, X: Any, random_state: Any = None) -> Any:
        """Return the label of one random play a row."""
        X = self._validated(X)
        return self._labels(self.engine_.sample(X, self._generator(random_state)))

    def score(self, X: Any, y: Sequence[Any]) -> float:
        """Return 1 − the mean target loss of `predict`: 1 for a perfect estimator."""
        X = self._validated(X)
        space, target = self.space_, self.predictor_.target
        losses = []
        for vertex, output in zip(self.engine_.vertices(X), y, strict=True):
            losses.append(target.reveal(space, _plain(output))[1](vertex))
        return 1.0 - float(np.mean(losses))

    def _labels(self, vertices: Array) -> Any:
        labels = [self.space_.to_label(vertex) for vertex in vertices]
        if all(isinstance(label, str | int | float | np.generic) for label in labels):
            return np.asarray(labels)
        if all(isinstance(label, np.ndarray) for label in labels):
            return np.array(labels).reshape(len(labels), -1)
        # One object a row, even where labels are sequences of one length.
        column = np.empty(len(labels), dtype=object)
        column[:] = labels
        return column

    def _start_on(self, X: Any, outputs: Sequence[Any]) -> None:
        space = self._make_space(outputs)
        resolve_target(self.target)
        if self.features == "shared":
            self._start(space, X, target=self.target)
            return
        self.engine_ = Engine(space, X[0].shape[1], self._settings(), target=self.target, per_coordinate=True)

    def _make_space(self, outputs: Sequence[Any]) -> OutputSpace:
        space: Any = self.space
        if isinstance(space, str):
            space = make_space(space, **(self.space_params or {}))
        elif not isinstance(space, OutputSpace) and callable(space):
            space = space(outputs)
        if not isinstance(space, OutputSpace):
            raise InvalidInputError(
                "space must be an OutputSpace, the name of one, or a function of y that makes one; got "
                f"{self.space!r}."
            )
        return space if self.psi is None else space.with_psi(self.psi)

    def _read(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, list[Any]]:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        if self.features not in FEATURES:
            raise InvalidInputError(f"features must be one of {FEATURES}, got {self.features!r}.")
        if self.features == "shared":
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        else:
            X = _matrices(X)
            if reset:
                self.n_features_in_ = X[0].shape[1]
        outputs = _outputs(y)
        rows = len(X) if isinstance(X, list) else X.shape[0]
        if rows != len(outputs):
            raise ValueError(f"X has {rows} rows and y has {len(outputs)}: inconsistent numbers of samples.")
        return X, outputs

    def _validated(self, X: Any) -> Any:
        if self.features == "shared":
            return super()._validated(X)
        check_is_fitted(self, "engine_")
        return _matrices(X)

    def _rounds(self, X: Any, codes: Any) -> Self:
        if not isinstance(X, list):
            return super()._rounds(X, codes)
        for phi in X:
            self.engine_.scaling.begin(phi)
        for phi, output in zip(X, codes, strict=True):
            self.engine_.learn(phi, output)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _matrices(X: Any) -> list[Array]:
    matrices = [np.asarray(phi, dtype=np.float64) for phi in X]
    if not matrices or any(phi.ndim != 2 or phi.shape[1] != matrices[0].shape[1] for phi in matrices):
        raise InvalidInputError(
            "X must be a sequence of matrices with equally many columns, one row per coordinate of the space."
        )
    return matrices


def _outputs(y: Any) -> list[Any]:
    """One output a row: rows of a numeric matrix stay vectors, everything else is a label."""
    if hasattr(y, "to_numpy") or hasattr(y, "__array__"):
        y = np.asarray(y)
    if isinstance(y, np.ndarray) and y.ndim > 2:
        raise ValueError(f"y must have at most two dimensions, got shape {y.shape}.")
    rows = list(y)
    if any(isinstance(row, float | np.floating) and not np.isfinite(row) for row in rows):
        raise ValueError("Input y contains NaN or infinity.")
    return [_plain(row) for row in rows]


def _plain(output: Any) -> Any:
    """A numpy scalar as the Python value that labels are compared with."""
    return output.item() if isinstance(output, np.generic) else output
