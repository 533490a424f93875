"""Models for river: classifier, ordinal classifier and multilabel classifier."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from osp_core.errors import MissingDependencyError

try:
    from river import base
except ImportError as error:
    raise MissingDependencyError(
        "osp_core.adapters.river needs river: pip install 'online-structured-prediction[river]'."
    ) from error

from osp_core.adapters._engine import Settings
from osp_core.adapters._stream import DictEngine
from osp_core.errors import Array, InvalidInputError
from osp_core.registry.registry import make_space
from osp_core.regularizers import BinaryEntropy, GibbsEntropy, Regularizer
from osp_core.spaces import OutputSpace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OnlineClassifier", "OnlineMultilabelClassifier", "OnlineOrdinalClassifier"]


class _Model(DictEngine):
    """The parameters that the three models share, under the names they have in their signatures."""

    psi: Regularizer | None
    learner: Any
    loss_scale: float | None
    scale: str
    feature_bound: float | None
    intercept: bool
    average: str | None
    hash_features: int | None
    seed: int | None
    _default_learner = "ogd"

    def _settings(self) -> Settings:
        return Settings(
            self._default_learner if self.learner is None else self.learner,
            self.loss_scale,
            self.scale,
            self.feature_bound,
            self.intercept,
            self.average,
            self.seed,
        )


class OnlineClassifier(_Model, base.MiniBatchClassifier):
    """Multiclass classification with a finite surrogate regret.

    Classes and features may appear at any time; they start with zero weights.

    Parameters
    ----------
    psi
        Ψ of the simplex; NegativeEntropy(1) by default, which is the softmax.
    learner
        A registered name or an OnlineLearner, which is copied; PolyakOGD(diameter=1000) by default.
    loss_scale
        Of the Fenchel–Young loss; by default what makes the guarantee hold.
    scale
        "standard" standardises by the inputs seen so far and divides by the norm, so that no scaler is needed
        before this model; "unit" divides by the norm alone; "bound" divides by the largest norm seen, or by
        `feature_bound`.
    feature_bound
        The bound of scale="bound".
    intercept
        Whether there is a constant feature.
    average
        "online-to-batch" predicts with the average of the iterates.
    hash_features
        The number of places that feature names are hashed to; by default every name has its own.
    seed
        Of the plays; predictions do not depend on it.
    """

    _default_learner = "polyak_ogd"

    def __init__(
        self,
        psi: Regularizer | None = None,
        learner: Any = None,
        loss_scale: float | None = None,
        scale: str = "standard",
        feature_bound: float | None = None,
        intercept: bool = True,
        average: str | None = None,
        hash_features: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.psi = psi
        self.learner = learner
        self.loss_scale = loss_scale
        self.scale = scale
        self.feature_bound = feature_bound
        self.intercept = intercept
        self.average = average
        self.hash_features = hash_features
        self.seed = seed
        self._reset()

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        self._know([y], x)
        self._learn(x, self._code(y))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        if self._engine is None:
            return self._only_name
        return self._names[self._position(self._nearest(x))]

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        if self._engine is None:
            return dict.fromkeys(self._names, 1.0)
        return dict(zip(self._names, self._probabilities(self._mean(x)[np.newaxis])[0].tolist(), strict=True))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn from the rows in their order: the same as learning from one after the other."""
        for x, label in zip(_dicts(X), y.tolist(), strict=True):
            self.learn_one(x, label)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        if self._engine is None:
            return pd.DataFrame(1.0, index=X.index, columns=list(self._names))
        probabilities = self._probabilities(self._means(_dicts(X)))
        return pd.DataFrame(probabilities, index=X.index, columns=list(self._names))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas as pd

        answers = [self.predict_one(x) for x in _dicts(X)]
        return pd.Series(answers, index=X.index, dtype=None if answers else "object")

    def _make_space(self, names: Sequence[Hashable]) -> OutputSpace | None:
        return cast(OutputSpace, make_space("simplex", d=len(names), psi=self.psi))

    def _position(self, vertex: Array) -> int:
        return int(vertex.argmax())

    def _probabilities(self, means: Array) -> Array:
        return means


class OnlineOrdinalClassifier(OnlineClassifier):
    """Classification into ordered categories with a finite surrogate regret.

    The loss is the number of categories by which a prediction is off. Categories that were not named take
    their place in the sorted order when they first appear.

    Parameters
    ----------
    categories
        The categories, lowest first; by default those seen so far, sorted.
    psi
        Ψ of the ordinal chain; GibbsEntropy(1) by default.
    learner
        A registered name or an OnlineLearner, which is copied; OGD with the step of the theorem by default.
    average
        "online-to-batch" predicts with the average of the iterates, None with the last one.
    loss_scale, scale, feature_bound, intercept, hash_features, seed
        As in `OnlineClassifier`.
    """

    _default_learner = "ogd"

    def __init__(
        self,
        categories: tuple[Hashable, ...] | None = None,
        psi: Regularizer | None = None,
        learner: Any = None,
        loss_scale: float | None = None,
        scale: str = "standard",
        feature_bound: float | None = None,
        intercept: bool = True,
        average: str | None = "online-to-batch",
        hash_features: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            psi, learner, loss_scale, scale, feature_bound, intercept, average, hash_features, seed
        )
        self.categories = categories
        if categories is not None:
            self._names = list(categories)

    def _arrange(self, names: list[Hashable]) -> list[Hashable]:
        if self.categories is not None:
            raise InvalidInputError(f"{names[-1]!r} is not one of the categories {self.categories}.")
        try:
            return sorted(names)  # type: ignore[type-var]
        except TypeError as error:
            raise InvalidInputError(f"{names} have no order; give categories=…, lowest first.") from error

    def _coordinates(self, names: Sequence[Hashable]) -> Sequence[Hashable]:
        return names[:-1]  # "is it above this category?"

    def _make_space(self, names: Sequence[Hashable]) -> OutputSpace | None:
        if len(names) < 2:
            return None
        psi = GibbsEntropy(1.0) if self.psi is None else self.psi
        return cast(OutputSpace, make_space("ordinal", d=len(names) - 1, psi=psi))

    def _position(self, vertex: Array) -> int:
        return int(vertex.sum())

    def _probabilities(self, means: Array) -> Array:
        edge = np.ones((len(means), 1))
        return np.maximum(-np.diff(np.hstack([edge, means, 0.0 * edge]), axis=1), 0.0)


class OnlineMultilabelClassifier(_Model, base.MultiLabelClassifier):
    """Multilabel classification with a finite surrogate regret.

    Labels and features may appear at any time; they start with zero weights. A label absent from a target
    counts as false.

    Parameters
    ----------
    k
        The number of true labels of every target, where it is always the same; any number by default.
    psi
        Ψ; BinaryEntropy(1), a sigmoid per label, by default, and SquaredNorm(1) where k is given.
    learner
        A registered name or an OnlineLearner, which is copied; OGD with the step of the theorem by default.
    average
        "online-to-batch" predicts with the average of the iterates, None with the last one.
    loss_scale, scale, feature_bound, intercept, hash_features, seed
        As in `OnlineClassifier`.
    """

    def __init__(
        self,
        k: int | None = None,
        psi: Regularizer | None = None,
        learner: Any = None,
        loss_scale: float | None = None,
        scale: str = "standard",
        feature_bound: float | None = None,
        intercept: bool = True,
        average: str | None = "online-to-batch",
        hash_features: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.k = k
        self.psi = psi
        self.learner = learner
        self.loss_scale = loss_scale
        self.scale = scale
        self.feature_bound = feature_bound
        self.intercept = intercept
        self.average = average
        self.hash_features = hash_features
        self.seed = seed
        self._reset()

    def learn_one(self, x: dict[Any, Any], y: Mapping[Any, bool]) -> None:
        self._know(y, x)
        self._learn(x, np.array([1.0 if y.get(name, False) else 0.0 for name in self._names]))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, bool]:
        if self._engine is None:
            return {}
        return dict(zip(self._names, (self._nearest(x) > 0.5).tolist(), strict=True))

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, dict[bool, float]]:
        if self._engine is None:
            return {}
        means = self._mean(x).tolist()
        return {name: {True: p, False: 1.0 - p} for name, p in zip(self._names, means, strict=True)}

    def learn_many(self, X: pd.DataFrame, y: pd.DataFrame) -> None:
        """Learn from the rows in their order; `y` has a column per label."""
        for x, labels in zip(_dicts(X), _dicts(y), strict=True):
            self.learn_one(x, labels)

    def predict_many(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        answers = [self.predict_one(x) for x in _dicts(X)]
        return pd.DataFrame(answers, index=X.index, columns=list(self._names))

    def _make_space(self, names: Sequence[Hashable]) -> OutputSpace | None:
        if self.k is not None:
            return cast(OutputSpace, make_space("k_subsets", d=len(names), k=self.k, psi=self.psi))
        psi = BinaryEntropy(1.0) if self.psi is None else self.psi
        return cast(OutputSpace, make_space("hypercube", d=len(names), psi=psi))


def _dicts(frame: Any) -> Iterator[dict[Any, Any]]:
    columns = list(frame.columns)
    return (dict(zip(columns, row, strict=True)) for row in frame.itertuples(index=False, name=None))
