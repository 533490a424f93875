"""The plugin that offers the targets of the core; those without parameters are finished objects."""

from osp_core.hooks import Registration, hookimpl


@hookimpl
def osp_targets() -> list[Registration]:
    named = "osp_core.targets.named"
    return [
        Registration("zero_one", f"{named}:zero_one", summary="1 when the class is wrong"),
        Registration("hamming", f"{named}:hamming", summary="the fraction of the entries that differ"),
        Registration("absolute", f"{named}:absolute", summary="how many levels apart, over their number"),
        Registration("mismatch", f"{named}:mismatch", summary="the fraction of the chosen that is wrong"),
        Registration("alignment", f"{named}:alignment", summary="how far a ranking is from the true one"),
        Registration(
            "table",
            f"{named}:table",
            summary="any table of losses between classes",
            parameters=("matrix", "gamma"),
        ),
        Registration(
            "ndcg",
            "osp_core.targets.ndcg:NormalizedGain",
            summary="1 − NDCG of a ranking",
            parameters=("gains", "discounts"),
        ),
        Registration(
            "decision_regret",
            "osp_core.targets.decision:DecisionRegret",
            summary="what the played decision costs too much; labels are costs",
            parameters=("space", "gamma"),
        ),
    ]
