"""Data frames in, labelled data frames out; pandas and polars alike."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, MissingDependencyError
from osp_core.online.trace import FIELDS, Trace

LIBRARIES = ("pandas", "polars")


@dataclass(frozen=True, eq=False)
class Table:
    """A data frame split into inputs and outputs.

    Attributes
    ----------
    X : array of shape (rows, features)
    y : list
        An output a row: the value of the label column, or with several label columns the set of the names
        whose value is true.
    features : tuple of str
        The columns of X.
    """

    X: Array
    y: list[Any]
    features: tuple[str, ...]


def read_frame(frame: Any, label: str | Sequence[str], *, features: Sequence[str] | None = None) -> Table:
    """Split a data frame into inputs and outputs for `run` or an `OnlinePredictor`.

    Parameters
    ----------
    frame : DataFrame
        Of pandas or polars.
    label : str or sequence of str
        The column with the outputs; or several 0/1 columns, for sets of labels.
    features : sequence of str, optional
        The columns with the inputs; all others by default. They must be numbers without gaps.
    """
    library_of(frame)
    columns = [str(name) for name in frame.columns]
    labels = [label] if isinstance(label, str) else list(label)
    chosen = [name for name in columns if name not in labels] if features is None else list(features)
    if missing := [name for name in [*labels, *chosen] if name not in columns]:
        raise InvalidInputError(f"There is no column {missing[0]!r}; there are: {', '.join(columns)}.")
    X = np.column_stack([_numbers(frame, name) for name in chosen]) if chosen else np.zeros((len(frame), 0))
    if isinstance(label, str):
        return Table(X, [_plain(value) for value in _values(frame, label)], tuple(chosen))
    flags = np.column_stack([_numbers(frame, name) for name in labels]).astype(bool)
    sets = [frozenset(name for name, flag in zip(labels, row, strict=True) if flag) for row in flags]
    return Table(X, sets, tuple(chosen))


def predict_frame(estimator: Any, frame: Any, method: str = "predict", **options: Any) -> Any:
    """Return what an estimator says about every row, as a frame of the same library with the same row labels.

    Parameters
    ----------
    estimator : a fitted estimator of `osp_core.adapters.sklearn`, alone or at the end of a pipeline
    frame : DataFrame
        The inputs.
    method : {"predict", "predict_proba", "predict_mean", "decision_function", "sample"}
    **options
        Passed on, such as random_state for "sample".
    """
    library = library_of(frame)
    last, inputs = estimator, frame
    if hasattr(estimator, "steps"):  # a pipeline knows scikit-learn's methods only, not all of ours
        last, inputs = estimator[-1], estimator[:-1].transform(frame)
    answer = np.asarray(getattr(last, method)(inputs, **options))
    if answer.ndim == 1:
        return make_frame(library, {"prediction": answer}, like=frame)
    if method in ("predict_mean", "transform") or len(getattr(last, "classes_", ())) != answer.shape[1]:
        names = [str(name) for name in last.get_feature_names_out()]
    else:
        names = [str(name) for name in last.classes_]
    if len(names) != answer.shape[1]:
        names = [str(i) for i in range(answer.shape[1])]
    return make_frame(library, dict(zip(names, answer.T, strict=True)), like=frame)


def trace_frame(trace: Trace, library: str = "pandas") -> Any:
    """Return the trace of a run with a column per field and the number of the round."""
    columns = {"round": np.arange(1, len(trace) + 1)}
    return make_frame(library, {**columns, **{name: getattr(trace, name).copy() for name in FIELDS}})


def make_frame(library: str, columns: Mapping[str, Any], *, like: Any = None) -> Any:
    """Return a frame of the named library; with `like`, a pandas frame has its row labels."""
    if library not in LIBRARIES:
        raise InvalidInputError(f"The library must be one of {', '.join(LIBRARIES)}, got {library!r}.")
    try:
        module = importlib.import_module(library)
    except ImportError as error:
        raise MissingDependencyError(
            f"Frames of {library} need {library}: pip install {library}, which also comes with "
            "'online-structured-prediction[all]'."
        ) from error
    data = {name: values.tolist() if values.dtype == object else values for name, values in columns.items()}
    if library == "pandas":
        return module.DataFrame(data, index=None if like is None else like.index)
    return module.DataFrame(data)


def library_of(frame: Any) -> str:
    """The library a data frame belongs to."""
    for library in LIBRARIES:
        if type(frame).__module__.split(".")[0] == library and hasattr(frame, "columns"):
            return library
    raise InvalidInputError(
        f"A data frame of {' or '.join(LIBRARIES)} was expected, got {type(frame).__name__}."
    )


def _values(frame: Any, name: str) -> list[Any]:
    column = frame[name]
    return list(column.to_list() if hasattr(column, "to_list") else column)


def _numbers(frame: Any, name: str) -> Array:
    try:
        values = np.array([np.nan if value is None else float(value) for value in _values(frame, name)])
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"Column {name!r} must hold numbers; encode its values first.") from error
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InvalidInputError(f"Column {name!r} has no finite value in row {row}; fill the gaps first.")
    return values


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
