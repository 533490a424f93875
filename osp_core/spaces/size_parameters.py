"""How the labels of some data say the size of a space, where nobody gives it.

A space offers it as the attribute `size_parameters` of its class, or of the function that makes it:

    class Compass(ZeroOneSpace):
        size_parameters = sized_by_names("directions", instead=("d",))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

LabelKind = Literal["name", "names", "edges", "undirected edges"]
"""What a label is: one name, which is never split; a set or a ranking of names; a set of edges."""


@dataclass(frozen=True)
class LabelParts:
    """What the labels of some data are made of."""

    parts: list[Any]
    """The distinct names, or edges as tuples of them: numbers by value, then words."""
    longest: int
    """The number of parts in the label that has most."""


@dataclass(frozen=True)
class SizeParameters:
    """The parameters that follow from labels: ``size_parameters(labels)``.

    Attributes
    ----------
    labels : {"name", "names", "edges", "undirected edges"}
        What one label is made of.
    find : callable
        From `LabelParts` to parameters of the space.
    given : tuple of tuple of str
        Parameters that say the same; nothing is looked for where one of every group is given.
    names : str
        The parameter that lists the names, empty where there is none.
    """

    labels: LabelKind
    find: Callable[[LabelParts], dict[str, Any]]
    given: tuple[tuple[str, ...], ...]
    names: str = ""

    def __call__(self, labels: LabelParts) -> dict[str, Any]:
        return self.find(labels)

    def are_given(self, params: Mapping[str, Any]) -> bool:
        """Whether these parameters say the size already."""
        return all(not params.keys().isdisjoint(group) for group in self.given)

    def complete(self, params: Mapping[str, Any], labels: LabelParts) -> dict[str, Any]:
        """The parameters, and those that follow from the labels where none of the group is given."""
        said = {name for group in self.given if not params.keys().isdisjoint(group) for name in group}
        return {**{name: value for name, value in self(labels).items() if name not in said}, **params}


def sized_by_names(
    parameter: str, *, instead: tuple[str, ...] = (), single: bool = False, count: str = ""
) -> SizeParameters:
    """The labels name what the space is made of.

    Parameters
    ----------
    parameter : str
        The parameter that lists the names.
    instead : tuple of str
        Parameters that may stand in its place.
    single : bool
        Whether a label is one name rather than several.
    count : str
        The parameter that says how many names a label has, where there is one.
    """

    def find(labels: LabelParts) -> dict[str, Any]:
        return {parameter: labels.parts, **({count: labels.longest} if count else {})}

    given = ((*instead, parameter), *(((count,),) if count else ()))
    return SizeParameters("name" if single else "names", find, given, parameter)


def sized_by_edges(parameter: str, *, instead: tuple[str, ...] = (), directed: bool = True) -> SizeParameters:
    """The labels are sets of edges, and `parameter` lists all there are."""

    def find(labels: LabelParts) -> dict[str, Any]:
        return {parameter: [list(edge) for edge in labels.parts]}

    return SizeParameters("edges" if directed else "undirected edges", find, ((*instead, parameter),))


def natural_order(part: Any) -> tuple[int, float, str]:
    """Numbers by value and before words."""
    try:
        return (0, float(part), str(part))
    except (TypeError, ValueError):
        return (1, 0.0, str(part))
