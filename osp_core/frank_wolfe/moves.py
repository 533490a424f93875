"""The moves conditional-gradient methods are made of: towards a vertex, away from one, or both."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array
from osp_core.frank_wolfe.search import Search, View
from osp_core.frank_wolfe.step_rules import Ray, Stepper

_INTERIOR = 0.99  # the part of the way to the boundary that entries which must stay positive may go


def move_towards(search: Search, view: View, stepper: Stepper, vertex: Array) -> None:
    """Take a Frank–Wolfe step."""
    ray = _ray(search, view, vertex - view.point, 1.0)
    step = stepper(ray)
    search.note(ray.at(step))
    search.active.move(vertex, step)


def move_away(search: Search, view: View, stepper: Stepper, position: int) -> None:
    """Take an away step, at most until the atom has no weight left."""
    if len(search.active) == 1:
        search.note(view.point)  # there is nowhere to go
        return
    weight = float(search.active.weights[position])
    ray = _ray(search, view, view.point - search.active.atoms.dense(position), weight / (1.0 - weight))
    step = stepper(ray)
    search.note(ray.at(step))
    search.active.move_away(position, step)


def move_pairwise(search: Search, view: View, stepper: Stepper, source: int, vertex: Array) -> None:
    """Move weight from an atom to a vertex."""
    ray = _ray(search, view, vertex - search.active.atoms.dense(source), float(search.active.weights[source]))
    step = stepper(ray)
    search.note(ray.at(step))
    search.active.transfer(source, vertex, step)


def _ray(search: Search, view: View, direction: Array, longest: float) -> Ray:
    if search.objective.positive:
        falling = direction < 0.0
        limits = -_INTERIOR * view.point[falling] / direction[falling]
        longest = min(longest, float(limits.min(initial=np.inf)))
    return Ray(view.point, direction, float(view.gradient @ direction), longest)
