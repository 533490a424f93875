"""Intervals of a line: a space, a learner and a stream, found through the entry point in pyproject.toml."""

from osp_core.hooks import Registration, hookimpl

osp_api_version = 1


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "intervals",
            "osp_intervals.space:Intervals",
            summary="an interval of n cells, or none of them",
            parameters=("n", "psi", "norm"),
        )
    ]


@hookimpl
def osp_learners() -> list[Registration]:
    return [
        Registration(
            "conservative_ogd",
            "osp_intervals.learner:ConservativeOGD",
            summary="gradient descent that rests when nothing was lost",
            parameters=("step_size", "radius"),
        )
    ]


@hookimpl
def osp_streams() -> list[Registration]:
    return [
        Registration(
            "moving_interval",
            "osp_intervals.stream:moving_interval",
            summary="an interval whose place and length depend on the input",
            parameters=("space", "rounds", "n_features", "seed"),
        )
    ]
