"""Intervals of a line: one of each kind that a run is made of, found by the entry point in pyproject.toml."""

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


@hookimpl
def osp_decoders() -> list[Registration]:
    return [
        Registration(
            "doubtful",
            "osp_intervals.decoder:Doubtful",
            summary="randomized decoding that is never quite sure",
            parameters=("space", "doubt"),
        )
    ]


@hookimpl
def osp_targets() -> list[Registration]:
    return [
        Registration(
            "missed_cells",
            "osp_intervals.target:MissedCells",
            summary="wrong cells, those that were missed counting more",
            parameters=("space", "miss"),
        )
    ]


@hookimpl
def osp_formats() -> list[Registration]:
    return [
        Registration(
            "intervals",
            "osp_intervals.table:IntervalTable",
            summary="numbers, a bar, and the ends of an interval",
            parameters=("path", "wanted"),
        )
    ]
