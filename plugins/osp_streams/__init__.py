"""The streams plugin: data to learn from, generated or shipped with other packages."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_streams() -> list[Registration]:
    return [
        Registration(
            "linear_teacher",
            "osp_streams.teacher:linear_teacher",
            summary="a random linear model labels random inputs, with noise",
            parameters=("space", "rounds", "n_features", "noise", "seed"),
        )
    ]
