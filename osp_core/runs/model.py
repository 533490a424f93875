"""A saved model and what it says about new rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.adapters.frames import library_of
from osp_core.errors import Array, InvalidInputError, as_vector
from osp_core.online.predictor import OnlinePredictor
from osp_core.persistence.archive import CheckpointError, read_checkpoint
from osp_core.persistence.directory import first_sound, newest_first
from osp_core.runs.data import open_table
from osp_core.runs.labels import write_label
from osp_core.runs.prepare import scaled
from osp_core.runs.tables import Table
from osp_core.surrogates.laws import Law


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A predictor with the features it was trained on.

    Attributes
    ----------
    predictor : OnlinePredictor
    columns : tuple of str
        The features by name, in order; empty when they had none.
    intercept : bool
        Whether a constant is added to them.
    centre, spread : tuple of float
        What is subtracted from them, and what they are divided by; empty where they are used as they are.
    """

    predictor: OnlinePredictor
    columns: tuple[str, ...] = ()
    intercept: bool = False
    centre: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()

    @property
    def n_features(self) -> int:
        """How many features a row has, without the constant."""
        return int(self.predictor.learner.weights.shape[-1]) - int(self.intercept)

    def law(self, features: Array) -> Law:
        """The distribution over outputs for a row.

        Unlike in learning, a row beyond the feature bound is welcome: only regret bounds need it.
        """
        x = scaled(features, self.centre, self.spread, intercept=self.intercept)
        predictor = self.predictor
        scores = as_vector(predictor.learner.weights @ x, predictor.space.dim, "The scores")
        return predictor.decoder.law(predictor.space.predict(scores))

    def table(self, data: Any) -> Table:
        """Open a file or a data frame with the features of this model; other columns are carried along."""
        table = open_table(data, None, features=self.columns or None)
        if len(table.columns) != self.n_features:
            raise table.error(
                None, f"the model has {self.n_features} features; there are {len(table.columns)} columns."
            )
        return table


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Load a model from a checkpoint, or the newest sound one of a run's directory."""
    place = Path(path)
    candidates = [place]
    if place.is_dir():
        candidates = newest_first(place / "checkpoints") or newest_first(place)
        if not candidates:
            several = "; choose one of its runs, seed-…" if list(place.glob("seed-*")) else ""
            raise CheckpointError(f"There is no checkpoint in {str(place)!r}{several}.")
    if len(candidates) == 1:
        return _load(candidates[0])
    found = first_sound(candidates, _load, lambda message: None)
    if found is None:
        raise CheckpointError(f"There is no sound checkpoint in {str(place)!r}.")
    return found


def _load(path: Path) -> SavedModel:
    extra = read_checkpoint(path)[0].get("extra", {})
    predictor = OnlinePredictor.load(path)
    lists = {name: tuple(extra.get(name, ())) for name in ("columns", "centre", "spread")}
    return SavedModel(predictor, intercept=bool(extra.get("intercept", False)), **lists)


def label_frame(
    model: SavedModel | str | os.PathLike[str],
    frame: Any,
    *,
    column: str = "prediction",
    rng: np.random.Generator | None = None,
) -> Any:
    """Return a data frame of pandas or polars with the outputs of a saved model in one more column.

    Parameters
    ----------
    model : SavedModel or path
        Or the directory of a run.
    frame : DataFrame
        With the feature columns of the model, by name; it is not changed.
    column : str
        The name of the new column. Classes are as they were learned; sets, rankings and edges are text, as
        files have them.
    rng : Generator, optional
        Draw from the law of every row; the nearest output otherwise.
    """
    saved = model if isinstance(model, SavedModel) else load_model(model)
    library = library_of(frame)
    if column in [str(name) for name in frame.columns]:
        raise InvalidInputError(f"The frame has a column {column!r} already; choose another name.")
    labels = list(_labels(saved, saved.table(frame), rng))
    if library == "pandas":
        return frame.assign(**{column: labels})
    import polars

    return frame.with_columns(polars.Series(column, labels))


def _labels(model: SavedModel, table: Table, rng: np.random.Generator | None) -> Iterator[Any]:
    space = model.predictor.space
    for row in table.rows():
        law = model.law(row.x)
        label = space.to_label(law.nearest if rng is None else law.sample(rng))
        yield label if isinstance(label, str | int | float) else write_label(label)
