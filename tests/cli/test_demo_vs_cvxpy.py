"""The custom polytope of ``osp demo`` in cvxpy."""

from osp_core.cli.demo_spaces import demo_spaces, list_routes


def test_the_polytope_has_the_routes_as_its_vertices(rng):
    space = demo_spaces()[-1][2]
    routes = list_routes()
    for _ in range(20):
        cost = rng.standard_normal(space.dim)
        best = routes[(routes @ cost).argmin()]
        assert (space.lmo(cost) == best).all()
