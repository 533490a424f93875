"""A classifier for named or ordered classes."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from osp_core.adapters._engine import ONLINE_TO_BATCH
from osp_core.adapters.sklearn.base import OnlineEstimator, check_unseen
from osp_core.errors import Array, InvalidInputError
from osp_core.registry.registry import make_space
from osp_core.regularizers import GibbsEntropy, Regularizer
from osp_core.spaces import OutputSpace


class OnlineClassifier(ClassifierMixin, OnlineEstimator):
    """Online classification with a finite surrogate regret.

    Parameters
    ----------
    space : {"simplex", "ordinal"}
        Whether classes are names, or levels in the order of their sorted values.
    psi : Regularizer, optional
        Ψ; by default NegativeEntropy(1) on the simplex, which is the softmax, and GibbsEntropy(1) on
        ordinal classes.
    learner : str or OnlineLearner, optional
        A registered name or an object, which is copied. By default what did best without tuning:
        PolyakOGD(diameter=1000) on the simplex, OGD with the step of the theorem on ordinal classes.
    loss_scale : float, optional
        Of the Fenchel–Young loss; by default what makes the guarantee hold.
    scale : {"standard", "unit", "bound"}
        How a row becomes an x with ‖x‖ ≤ 1. "standard" standardises by the mean and spread of the rows seen
        so far (sparse rows are not centred), appends the intercept and divides by the norm. "unit" divides
        by the norm alone. "bound" divides by C, the largest norm seen or `feature_bound`, and shrinks longer
        rows to it.
    feature_bound : float, optional
        C, with scale="bound" only.
    fit_intercept : bool
    average : {"auto", "online-to-batch"} or None
        "online-to-batch" predicts with W̄, the average of the iterates, which is what the risk bound is about;
        None with the last iterate. "auto" does what did best: W̄ on ordinal classes, which are noisy, and the
        last iterate on the simplex.
    epochs : int
        Passes of `fit` over the rows, always in the order given. The guarantee is about the first.
    unseen : {"error", "grow", "ignore"}
        What `partial_fit` does with a class that was not named before: refuse the call, add the class with
        zero weights, or leave out its rows. With "grow", naming the classes first is optional.
    random_state : int, RandomState or None
        Of the plays; `predict` does not depend on it.

    Attributes
    ----------
    classes_ : array
    predictor_ : OnlinePredictor
        Its outputs are positions in `classes_`.
    space_ : OutputSpace
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    def __init__(
        self,
        space: str = "simplex",
        *,
        psi: Regularizer | None = None,
        learner: Any = None,
        loss_scale: float | None = None,
        scale: str = "standard",
        feature_bound: float | None = None,
        fit_intercept: bool = True,
        average: str | None = "auto",
        epochs: int = 1,
        unseen: str = "error",
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.psi = psi
        self.learner = learner
        self.loss_scale = loss_scale
        self.scale = scale
        self.feature_bound = feature_bound
        self.fit_intercept = fit_intercept
        self.average = average
        self.epochs = epochs
        self.unseen = unseen
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything and play one round a row, in the order given."""
        X, y = self._read(X, y, reset=True)
        classes = np.unique(y)
        self._start(self._make_space(len(classes)), X)
        self.classes_ = classes
        return self._passes(X, np.searchsorted(classes, y).tolist())

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Play one round a row, going on from what was learned before.

        Parameters
        ----------
        X, y
            The rows and their classes.
        classes : array, optional
            All classes there will be; needed in the first call unless unseen="grow".
        """
        first = not hasattr(self, "engine_")
        policy = check_unseen(self.unseen)
        X, y = self._read(X, y, reset=first)
        if first:
            if classes is None and policy != "grow":
                raise ValueError(
                    "classes must be passed on the first call to partial_fit, or choose unseen='grow'."
                )
            known = np.unique(y if classes is None else classes)
            self._start(self._make_space(len(known)), X)
            self.classes_ = known
        elif (
            classes is not None and not np.array_equal(np.unique(classes), self.classes_) and policy != "grow"
        ):
            raise ValueError(f"`classes={classes!r}` is not the same as before: {self.classes_}.")
        X, y = self._settle_unseen(X, y, policy)
        return self._rounds(X, np.searchsorted(self.classes_, y).tolist())

    def decision_function(self, X: Any) -> Array:
        """Return a score per class, largest where `predict` is; one column for two classes.

        The scores θ on the simplex; −‖y − ŷ‖² for the vertex y of every ordinal class.
        """
        X = self._validated(X)
        scores = self._class_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """Return the class nearest to ŷ: deterministic."""
        X = self._validated(X)
        return self.classes_[self._codes(self.engine_.vertices(X))]

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class under a play of mean ŷ: ŷ itself on the simplex."""
        means = self.predict_mean(X)
        if not self._is_ordinal:
            return means
        edge = np.ones((len(means), 1))
        # Level i is the probability of being above it.
        return np.maximum(-np.diff(np.hstack([edge, means, 0.0 * edge]), axis=1), 0.0)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):  # the sparsemax is exactly 0 at times
            return np.log(self.predict_proba(X))

    def sample(self, X: Any, random_state: Any = None) -> Any:
        """Return one random play a row, by Algorithm 1: what the regret bound is about."""
        X = self._validated(X)
        return self.classes_[self._codes(self.engine_.sample(X, self._generator(random_state)))]

    @property
    def _is_ordinal(self) -> bool:
        return self.space == "ordinal"

    def _make_space(self, classes: int) -> OutputSpace:
        kinds = {"simplex": {"d": classes}, "ordinal": {"d": classes - 1}}
        if self.space not in kinds:
            raise InvalidInputError(f'space must be "simplex" or "ordinal", got {self.space!r}.')
        if self._is_ordinal and classes < 2:
            raise ValueError("Ordinal classification needs at least two classes, got 1 class.")
        return cast(OutputSpace, make_space(self.space, **kinds[self.space], psi=self._psi()))

    def _psi(self) -> Regularizer | None:
        if self.psi is not None or not self._is_ordinal:
            return self.psi
        return GibbsEntropy(1.0)

    def _average(self) -> str | None:
        if self.average != "auto":
            return self.average
        return ONLINE_TO_BATCH if self._is_ordinal else None

    def _default_learner(self) -> str:
        return "ogd" if self._is_ordinal else "polyak_ogd"

    def _class_scores(self, X: Any) -> Array:
        scores = self.engine_.scores(X)
        if not self._is_ordinal:
            return scores
        gains = np.cumsum(2.0 * self.engine_.space.predict_many(scores).point - 1.0, axis=1)
        return np.hstack([np.zeros((len(gains), 1)), gains])

    def _codes(self, vertices: Array) -> Any:
        return vertices.sum(axis=1).astype(np.intp) if self._is_ordinal else vertices.argmax(axis=1)

    def _read(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
        check_classification_targets(y)
        return X, column_or_1d(y)

    def _settle_unseen(self, X: Any, y: Any, policy: str) -> tuple[Any, Any]:
        known = np.isin(y, self.classes_)
        if known.all():
            return X, y
        new = np.unique(y[~known])
        if policy == "ignore":
            return X[known], y[known]
        if policy == "error":
            raise ValueError(
                f"y contains classes that were not named before: {new}. Name all in the first call, "
                "partial_fit(X, y, classes=…), or choose unseen='grow' or unseen='ignore'."
            )
        classes = np.union1d(self.classes_, new)
        # Every ordinal class but the highest has the coordinate "above it".
        kept = self.classes_[:-1] if self._is_ordinal else self.classes_
        self.engine_.move_to(self._make_space(len(classes)), np.searchsorted(classes, kept))
        self.classes_ = classes
        return X, y

    def _coordinate_names(self) -> list[str]:
        classes = [str(name) for name in self.classes_]
        return [f"above_{name}" for name in classes[:-1]] if self._is_ordinal else classes
