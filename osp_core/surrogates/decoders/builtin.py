"""The plugin that offers the decoders of the core."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_decoders() -> list[Registration]:
    folder = "osp_core.surrogates.decoders"
    return [
        Registration(
            "randomized",
            f"{folder}.randomized:RandomizedDecoder",
            summary="the nearest output, or a random one of mean ŷ",
            parameters=("space",),
        ),
        Registration(
            "blockwise",
            f"{folder}.blockwise:BlockwiseDecoder",
            summary="randomized decoding on every block of a product",
            parameters=("space",),
        ),
        Registration(
            "nearest",
            f"{folder}.nearest:NearestDecoder",
            summary="always the nearest output; no guarantee",
            parameters=("space",),
        ),
        Registration(
            "sampling",
            f"{folder}.sampling:SamplingDecoder",
            summary="always a random output of mean ŷ; no surrogate gap",
            parameters=("space",),
        ),
        Registration(
            "uniform",
            f"{folder}.exploration:UniformExploration",
            summary="the nearest output, or any one with equal chances",
            parameters=("space",),
        ),
    ]
