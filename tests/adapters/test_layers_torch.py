"""The PyTorch layers: gradients against finite differences on every space, and networks that learn."""

import numpy as np
import pytest
import torch

import osp_core as osp
from osp_core.adapters.torch import FenchelYoungLoss, RegularizedPrediction
from osp_core.registry import load_factory

AVAILABLE = [record.name for record in osp.list_spaces() if record.available]
PAIRS = np.eye(5)[:4] + np.eye(5)[1:]


def custom_space():
    return osp.space_from_lmo(lambda cost: PAIRS[np.argmin(PAIRS @ cost)], 5)


def gradcheck(function, theta):
    return torch.autograd.gradcheck(function, (theta,), eps=1e-6, atol=1e-5, rtol=1e-4)


def some_scores(space, scale, rows=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    scores = scale * torch.randn(rows, space.dim, dtype=torch.float64, generator=generator)
    return scores.requires_grad_()


def some_outputs(space, rows=2, seed=0):
    rng = np.random.default_rng(seed)
    return torch.as_tensor(np.array([space.lmo(rng.normal(size=space.dim)) for _ in range(rows)]))


@pytest.mark.parametrize("name", AVAILABLE)
def test_the_derivatives_of_layer_and_loss_are_right_on_every_registered_space(name):
    for space in load_factory("space", name).examples():
        layer, loss = RegularizedPrediction(space), FenchelYoungLoss(space)
        y = some_outputs(space)
        for scale in (0.4, 2.0):
            theta = some_scores(space, scale)
            assert gradcheck(layer, theta)
            assert gradcheck(lambda scores, loss=loss, y=y: loss(scores, y), theta)


def test_the_derivatives_are_right_on_a_space_made_of_a_function():
    theta = some_scores(custom_space(), 1.0, rows=4)
    assert gradcheck(RegularizedPrediction(custom_space()), theta)


def test_the_derivative_is_that_of_the_whole_face_at_symmetric_points():
    # Two opposite vertices suffice to write the centre of a square, but it moves in two directions.
    square = osp.space_from_lmo(lambda cost: (cost < 0).astype(float), 2)
    theta = torch.tensor([[0.5, 0.5]], dtype=torch.float64, requires_grad=True)
    RegularizedPrediction(square)(theta)[0, 0].backward()
    assert torch.allclose(theta.grad, torch.tensor([[1.0, 0.0]], dtype=torch.float64))
    order = osp.make_space("permutahedron", d=4)
    theta = torch.zeros(1, 4, dtype=torch.float64, requires_grad=True)
    RegularizedPrediction(order)(theta)[0, 0].backward()
    assert torch.allclose(theta.grad, torch.tensor([[0.75, -0.25, -0.25, -0.25]], dtype=torch.float64))


@pytest.mark.parametrize(
    "psi", [osp.SquaredNorm(0.7), osp.NegativeEntropy(0.7), osp.GibbsEntropy(0.7)], ids=str
)
def test_closed_forms_agree_with_the_generic_method(psi):
    space = osp.make_space("simplex", d=5, psi=psi)
    twin = osp.vertices(np.eye(5), psi=psi) if not isinstance(psi, osp.NegativeEntropy) else None
    theta = some_scores(space, 1.0, rows=3)
    upstream = torch.randn(3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    (ours,) = torch.autograd.grad(RegularizedPrediction(space)(theta), theta, upstream)
    if twin is None:  # the softmax of torch itself
        expected = torch.autograd.grad(torch.softmax(theta / 0.7, dim=-1), theta, upstream)[0]
    else:
        expected = torch.autograd.grad(RegularizedPrediction(twin)(theta), theta, upstream)[0]
    assert torch.allclose(ours, expected, atol=1e-9)


def test_the_gradient_of_the_loss_is_the_residual():
    space = osp.make_space("birkhoff", n=3)
    theta, y = some_scores(space, 1.0), some_outputs(space)
    FenchelYoungLoss(space, scale=2.0, reduction="sum")(theta, y).backward()
    residual = 2.0 * (RegularizedPrediction(space)(theta).detach() - y)
    assert torch.allclose(theta.grad, residual)


def test_shapes_types_and_reductions_follow_the_input():
    space = osp.make_space("simplex", d=3)
    theta = torch.randn(2, 4, 3, dtype=torch.float32, requires_grad=True)
    classes = torch.randint(0, 3, (2, 4))
    values = FenchelYoungLoss(space, reduction="none")(theta, classes)
    expected = torch.nn.functional.cross_entropy(theta.reshape(-1, 3), classes.reshape(-1), reduction="none")
    assert values.shape == (2, 4)
    assert values.dtype == torch.float32
    assert torch.allclose(values.reshape(-1), expected, atol=1e-6)
    assert FenchelYoungLoss(space)(theta, classes).item() == pytest.approx(expected.mean().item(), rel=1e-5)
    assert RegularizedPrediction(space)(theta).shape == (2, 4, 3)
    assert RegularizedPrediction(space)(theta[0, 0]).shape == (3,)


def test_outputs_may_be_labels():
    space = osp.make_space("permutahedron", d=3, items=["a", "b", "c"])
    theta = torch.tensor([[9.0, 0.0, -9.0], [0.0, 9.0, -9.0]], dtype=torch.float64)
    labels = [["a", "b", "c"], ["b", "a", "c"]]
    assert FenchelYoungLoss(space)(theta, labels).item() == pytest.approx(0.0, abs=1e-9)
    assert RegularizedPrediction(space).labels(theta) == [("a", "b", "c"), ("b", "a", "c")]


def test_what_cannot_be_differentiated_is_refused_and_the_loss_still_works():
    space = osp.make_space("k_subsets", d=40, k=20, psi=osp.GibbsEntropy(1.0))
    theta = some_scores(space, 1.0)
    layer = RegularizedPrediction(space)
    with pytest.raises(osp.UnsupportedError, match="SquaredNorm"):
        layer(theta)
    assert layer(theta.detach()).shape == (2, 40)
    FenchelYoungLoss(space)(theta, some_outputs(space)).backward()
    assert torch.isfinite(theta.grad).all()


def test_bad_input_is_named():
    space = osp.make_space("simplex", d=3)
    with pytest.raises(osp.InvalidInputError, match=r"shape \(…, 3\)"):
        RegularizedPrediction(space)(torch.zeros(2, 4))
    with pytest.raises(osp.InvalidInputError, match="rows of scores"):
        FenchelYoungLoss(space)(torch.zeros(2, 3), [0])
    with pytest.raises(osp.InvalidInputError, match="reduction"):
        FenchelYoungLoss(space, reduction="max")
    with pytest.raises(osp.InvalidInputError):
        FenchelYoungLoss(space)(torch.zeros(1, 3), torch.tensor([[0.5, 0.5, 0.0]]))
    with pytest.raises(osp.InvalidInputError, match="needs a space"):
        RegularizedPrediction("simplex")


def train(model, loss_of, steps, rate=0.03):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_network_that_learns_matchings_beats_costs_learned_first():
    torch.manual_seed(0)
    n, m, rows = 4, 3, 150
    space = osp.make_space("birkhoff", n=n, psi=osp.SquaredNorm(1.0))
    x = torch.randn(2 * rows, m, dtype=torch.float64)
    true = (torch.tanh(x @ torch.randn(m, n * n, dtype=torch.float64)) + 1.5) ** 6  # far from linear in x
    y = torch.as_tensor(space.lmo_many(-true.numpy()))

    def accuracy(model):
        chosen = torch.as_tensor(space.lmo_many(-model(x[rows:]).detach().numpy()))
        return (chosen * y[rows:]).sum(dim=1).mean().item() / n

    two_stage = torch.nn.Linear(m, n * n, dtype=torch.float64)
    train(two_stage, lambda model: ((model(x[:rows]) - true[:rows]) ** 2).mean(), 400, rate=0.3)
    ours = torch.nn.Linear(m, n * n, dtype=torch.float64)
    loss = FenchelYoungLoss(space)
    losses = train(ours, lambda model: loss(model(x[:rows]), y[:rows]), 60, rate=0.1)
    assert losses[-1] < 0.7 * losses[0]
    assert accuracy(ours) > accuracy(two_stage)


def test_a_layer_inside_a_network_is_trained_through():
    torch.manual_seed(0)
    space = osp.make_space("permutahedron", d=4)
    x = torch.randn(60, 3, dtype=torch.float64)
    ranks = torch.as_tensor(space.lmo_many(-(x @ torch.randn(3, 4, dtype=torch.float64)).numpy()))
    model = torch.nn.Sequential(torch.nn.Linear(3, 4, dtype=torch.float64), RegularizedPrediction(space))
    losses = train(model, lambda network: ((network(x) - ranks) ** 2).mean(), 60, rate=0.1)
    assert losses[-1] < 0.3 * losses[0]
