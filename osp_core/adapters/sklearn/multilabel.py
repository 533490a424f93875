"""A classifier for sets of labels."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data

from osp_core.adapters.sklearn.base import OnlineEstimator
from osp_core.errors import Array, InvalidInputError
from osp_core.registry.registry import make_space
from osp_core.regularizers import BinaryEntropy, Regularizer
from osp_core.spaces import OutputSpace


class OnlineMultilabelClassifier(ClassifierMixin, OnlineEstimator):
    """Online multilabel classification with a finite surrogate regret.

    `y` is a 0/1 matrix with one column per label. A one-dimensional `y` is read as sets of one label, as
    OneVsRestClassifier does, and `predict` then returns the label of the largest entry of ŷ.

    Parameters
    ----------
    space : {"hypercube", "k_subsets"}
        Any set of labels, or exactly k of them.
    k : int, optional
        Labels per row for "k_subsets"; read off the first `y` by default.
    psi : Regularizer, optional
        Ψ; by default BinaryEntropy(1) on the hypercube, which is a sigmoid per label, and SquaredNorm(1) on
        k-subsets. SquaredNorm clips: probabilities are then exactly 0 or 1 where the scores are sure.
    learner : str or OnlineLearner, optional
        A registered name or an object, which is copied; OGD with the step of the theorem by default.
    average : "online-to-batch" or None
        Predict with W̄, the average of the iterates, by default; None predicts with the last iterate.
    loss_scale, scale, feature_bound, fit_intercept, epochs, random_state
        As in `OnlineClassifier`.

    Attributes
    ----------
    classes_ : array
        The labels: column numbers, the names of the columns of a data frame, or the values of a
        one-dimensional `y`.
    predictor_ : OnlinePredictor
    space_ : OutputSpace

    Notes
    -----
    Every call must have the columns of the first: labels that no row has yet are columns of zeros.
    """

    def __init__(
        self,
        space: str = "hypercube",
        *,
        k: int | None = None,
        psi: Regularizer | None = None,
        learner: Any = None,
        loss_scale: float | None = None,
        scale: str = "standard",
        feature_bound: float | None = None,
        fit_intercept: bool = True,
        average: str | None = "online-to-batch",
        epochs: int = 1,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.k = k
        self.psi = psi
        self.learner = learner
        self.loss_scale = loss_scale
        self.scale = scale
        self.feature_bound = feature_bound
        self.fit_intercept = fit_intercept
        self.average = average
        self.epochs = epochs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything and play one round a row, in the order given."""
        return self._passes(*self._begin(X, y, None))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Play one round a row, going on from what was learned before.

        Parameters
        ----------
        X, y
            The rows and their labels.
        classes : array, optional
            All labels there will be; needed in the first call when y is one-dimensional.
        """
        if not hasattr(self, "engine_"):
            if classes is None and _readable(y).ndim == 1:
                raise ValueError("classes must be passed on the first call to partial_fit with such a y.")
            return self._rounds(*self._begin(X, y, classes))
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        indicator = self._indicator(y)
        check_consistent_length(X, indicator)
        return self._rounds(X, indicator)

    def decision_function(self, X: Any) -> Array:
        """Return ŷ − ½ per label: positive where `predict` says yes on the hypercube."""
        X = self._validated(X)
        scores = self.engine_.predictions(X).point - 0.5
        # Scores tell saturated labels apart, ŷ − ½ does not: order by θ where the labels exclude each other.
        if self._single_label:
            thetas = self.engine_.scores(X)
            return thetas[:, 1] - thetas[:, 0] if len(self.classes_) == 2 else thetas
        return scores

    def predict(self, X: Any) -> Any:
        """Return the set nearest to ŷ as a 0/1 matrix: deterministic."""
        X = self._validated(X)
        if self._single_label:
            return self.classes_[self.engine_.scores(X).argmax(axis=1)]
        return self.engine_.vertices(X).astype(np.int64)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every label; one-dimensional labels are normalised to sum to 1."""
        means = self.predict_mean(X)
        if not self._single_label:
            return means
        totals = means.sum(axis=1, keepdims=True)
        # All labels refused: none is likelier than another except by its score.
        fallback = self.engine_.scores(self._validated(X))
        best = (fallback == fallback.max(axis=1, keepdims=True)).astype(np.float64)
        best /= best.sum(axis=1, keepdims=True)
        return np.where(totals > 0, means / np.where(totals > 0, totals, 1.0), best)

    def sample(self, X: Any, random_state: Any = None) -> Any:
        """Return one random play a row, as a 0/1 matrix."""
        X = self._validated(X)
        return self.engine_.sample(X, self._generator(random_state)).astype(np.int64)

    def _begin(self, X: Any, y: Any, classes: Any) -> tuple[Any, Array]:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=True)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        single, known = _labels(y, classes)
        indicator = self._indicator(y, single, known)
        check_consistent_length(X, indicator)
        space = self._make_space(len(known), indicator)
        self._start(space, X)
        self.classes_, self._single_label = known, single
        return X, indicator

    def _make_space(self, labels: int, indicator: Array) -> OutputSpace:
        if self.space == "hypercube":
            psi = BinaryEntropy(1.0) if self.psi is None else self.psi
            return cast(OutputSpace, make_space("hypercube", d=labels, psi=psi))
        if self.space != "k_subsets":
            raise InvalidInputError(f'space must be "hypercube" or "k_subsets", got {self.space!r}.')
        sizes = np.unique(indicator.sum(axis=1)).astype(int)
        if self.k is None and len(sizes) != 1:
            raise ValueError(
                f"k_subsets needs the same number of labels in every row; there are rows with {sizes}."
            )
        k = int(sizes[0]) if self.k is None else self.k
        return cast(OutputSpace, make_space("k_subsets", d=labels, k=k, psi=self.psi))

    def _indicator(self, y: Any, single: bool | None = None, known: Any = None) -> Array:
        """The rows of y as vertices."""
        single = self._single_label if single is None else single
        known = self.classes_ if known is None else known
        if single:
            values = np.asarray(y).ravel()
            if not np.isin(values, known).all():
                raise ValueError(f"y contains labels that were not named before; there are {known}.")
            return np.asarray(values[:, np.newaxis] == known, dtype=np.float64)
        matrix = check_array(y, accept_sparse=True, dtype=None, input_name="y")
        dense = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
        if dense.shape[1] != len(known) or not ((dense == 0) | (dense == 1)).all():
            raise ValueError(f"y must be a 0/1 matrix with {len(known)} columns, one per label.")
        return dense

    def _coordinate_names(self) -> list[str]:
        return [str(name) for name in self.classes_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _labels(y: Any, classes: Any) -> tuple[bool, Any]:
    """Whether y is one-dimensional, and the labels."""
    if hasattr(y, "columns") and len(y.columns) > 1:
        return False, np.asarray(y.columns, dtype=object)
    values = _readable(y)
    check_classification_targets(values)
    kind = type_of_target(values)
    if kind == "multilabel-indicator":
        return False, np.arange(values.shape[1]) if classes is None else np.asarray(classes)
    if values.ndim == 2 and values.shape[1] > 1:
        raise ValueError(f"y must be a 0/1 matrix or one-dimensional, got values of kind {kind}.")
    return True, np.unique(column_or_1d(values, warn=True) if classes is None else np.asarray(classes))


def _readable(y: Any) -> Any:
    """y as an array or a sparse matrix."""
    return y if hasattr(y, "tocsr") else np.asarray(y)
