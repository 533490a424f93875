"""The matroids plugin: subsets, partitions, spanning trees and every other matroid."""

from osp_core.hooks import Registration, hookimpl

_COMMON = ("bases", "psi", "norm")


@hookimpl
def osp_spaces() -> list[Registration]:
    return [
        Registration(
            "k_subsets",
            "osp_matroids.uniform.space:KSubsets",
            summary="k of d elements",
            parameters=("d", "k", "elements", "psi", "norm"),
        ),
        Registration(
            "partition_matroid",
            "osp_matroids.partition:PartitionMatroid",
            summary="a given number of elements from every block",
            parameters=("blocks", "capacities", "elements", *_COMMON),
        ),
        Registration(
            "graphic_matroid",
            "osp_matroids.graphs.space:GraphicMatroid",
            summary="spanning trees of a graph, or its forests",
            parameters=("graph", "edges", "backend", *_COMMON),
            backends={
                "native": {},
                "networkx": {"networkx": "online-structured-prediction[networkx]"},
            },
        ),
        Registration(
            "linear_matroid",
            "osp_matroids.linear:LinearMatroid",
            summary="linearly independent columns of a matrix",
            parameters=("matrix", "elements", "tolerance", *_COMMON),
        ),
        Registration(
            "transversal_matroid",
            "osp_matroids.transversal:TransversalMatroid",
            summary="elements that can be matched to distinct sets",
            parameters=("sets", "elements", *_COMMON),
        ),
        Registration(
            "laminar_matroid",
            "osp_matroids.laminar:LaminarMatroid",
            summary="elements within the capacities of nested sets",
            parameters=("family", "capacities", "elements", *_COMMON),
        ),
        Registration(
            "matroid",
            "osp_matroids.oracle:Matroid",
            summary="any matroid, from a function that says which sets are independent",
            parameters=("ground", "independent", *_COMMON),
        ),
    ]
