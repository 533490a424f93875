"""An engine for streams of dicts, in which features and classes may appear at any time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from osp_core.adapters._engine import Engine, Settings
from osp_core.adapters._features import FeatureIndex, GrowingIndex, HashedIndex, number
from osp_core.adapters._scaling import check_size
from osp_core.errors import Array, InvalidInputError
from osp_core.spaces import OutputSpace


class DictEngine:
    """What the river models do alike: names of classes and features, and an engine that grows with them."""

    hash_features: int | None
    _engine: Engine | None
    _features: FeatureIndex
    _names: list[Hashable]

    def _reset(self) -> None:
        self._engine = None
        hashed = self.hash_features
        self._features = GrowingIndex() if hashed is None else HashedIndex(hashed)
        self._names = []

    @abstractmethod
    def _settings(self) -> Settings:
        """How to learn."""

    @abstractmethod
    def _make_space(self, names: Sequence[Hashable]) -> OutputSpace | None:
        """The space of outputs with these names; None where there are too few for one."""

    def _arrange(self, names: list[Hashable]) -> list[Hashable]:
        """The names in the order the space needs; the new ones come last in the argument."""
        return names

    def _coordinates(self, names: Sequence[Hashable]) -> Sequence[Hashable]:
        """What the coordinates of the space stand for."""
        return names

    @property
    def predictor(self) -> Any:
        """The online predictor: its `guarantee`, `certificate` and weights, on scaled inputs with C = 1."""
        if self._engine is None:
            raise InvalidInputError("There is no predictor before the first round.")
        return self._engine.predictor

    @property
    def _only_name(self) -> Hashable | None:
        return self._names[0] if len(self._names) == 1 else None

    def _know(self, names: Iterable[Hashable], x: Mapping[Hashable, Any]) -> None:
        """Make room for names that were not seen before, unless the round they come in is bad anyway."""
        new = [name for name in names if name not in self._names]
        if not new:
            return
        check_size(np.array([number(name, value) for name, value in x.items()]))
        arranged = self._arrange([*self._names, *new])
        if self._engine is not None:
            space = self._make_space(arranged)
            assert space is not None  # there were enough names before
            places = {name: i for i, name in enumerate(self._coordinates(arranged))}
            self._engine.move_to(space, [places[name] for name in self._coordinates(self._names)])
        self._names = arranged

    def _code(self, name: Hashable) -> int:
        return self._names.index(name)

    def _learn(self, x: Mapping[Hashable, Any], y: Any) -> None:
        self._features.admit(x)
        engine = self._engine
        if engine is None:
            space = self._make_space(self._names)
            if space is None:
                return
            engine = self._engine = Engine(space, max(1, self._features.size), self._settings())
        width = engine.scaling.n_features
        if self._features.size > width:
            # Half as much again, so that a slow trickle of names does not copy the weights every time.
            engine.grow(width := max(self._features.size, width + width // 2))
        engine.learn(self._features.vector(x, width), y)

    def _mean(self, x: Mapping[Hashable, Any]) -> Array:
        engine = self._known_engine
        theta = engine.row_scores(self._features.vector(x, engine.scaling.n_features))
        return engine.space.predict(theta).point

    def _nearest(self, x: Mapping[Hashable, Any]) -> Array:
        engine = self._known_engine
        return engine.row_vertex(self._features.vector(x, engine.scaling.n_features))

    def _means(self, xs: Iterator[dict[Any, Any]]) -> Array:
        engine = self._known_engine
        width = engine.scaling.n_features
        rows = np.array([self._features.vector(x, width) for x in xs]).reshape(-1, width)
        return engine.predictions(rows).point

    @property
    def _known_engine(self) -> Engine:
        assert self._engine is not None
        return self._engine
