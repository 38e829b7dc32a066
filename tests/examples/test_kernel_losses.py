"""Torch functions against their numpy counterparts,
and their gradients against numerical ones.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from tests.support.kernel_values import energy, frechet, mmd, sliced_wasserstein

torch = pytest.importorskip("torch")

_SPEC = importlib.util.spec_from_file_location(
    "kernel_losses",
    Path(__file__).resolve().parents[2] / "examples" / "losses" / "kernel_losses.py",
)
assert _SPEC is not None and _SPEC.loader is not None
torch_forms = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(torch_forms)

PAIRS = {
    "mmd": (mmd, torch_forms.mmd, {}),
    "mmd-unbiased": (mmd, torch_forms.mmd, {"estimator": "unbiased"}),
    "energy": (energy, torch_forms.energy, {}),
    "frechet": (frechet, torch_forms.frechet, {}),
    "sliced": (sliced_wasserstein, torch_forms.sliced_wasserstein, {"projections": 7}),
    "sliced-1": (
        sliced_wasserstein,
        torch_forms.sliced_wasserstein,
        {"projections": 7, "p": 1.0},
    ),
}


def samples(n: int, m: int, batch: tuple[int, ...] = (), d: int = 6):
    rng = np.random.default_rng(n * 31 + m)
    return rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d)) + 0.3


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("n,m", [(5, 3), (4, 4), (3, 7)])
def test_equals_numpy(name, n, m):
    plain, differentiable, options = PAIRS[name]
    x, y = samples(n, m, (3,))
    values = differentiable(torch.tensor(x), torch.tensor(y), **options).numpy()
    assert values == pytest.approx(plain(x, y, **options), rel=1e-10)
    one = differentiable(torch.tensor(x[0]), torch.tensor(y[0]), **options)
    assert float(one) == pytest.approx(values[0], rel=1e-10)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("n,m", [(5, 3), (3, 3), (2, 4)])
def test_gradient(name, n, m):
    _, differentiable, options = PAIRS[name]
    x, y = (torch.tensor(value, requires_grad=True) for value in samples(n, m))
    assert torch.autograd.gradcheck(
        lambda a, b: differentiable(a, b, **options), (x, y)
    )


def test_gradient_with_a_fixed_width():
    x, y = (torch.tensor(value, requires_grad=True) for value in samples(4, 3))
    assert torch.autograd.gradcheck(
        lambda a, b: torch_forms.mmd(a, b, sigma=1.5), (x, y)
    )


@pytest.mark.parametrize("name", ["mmd", "energy", "frechet", "sliced"])
def test_equal_vectors_have_finite_gradients(name):
    _, differentiable, options = PAIRS[name]
    x = torch.ones((3, 4), dtype=torch.float64, requires_grad=True)
    value = differentiable(x, torch.ones((2, 4), dtype=torch.float64), **options)
    value.backward()
    assert float(value.detach()) == 0.0
    assert torch.isfinite(x.grad).all()


def test_training_on_energy_moves_a_sample_towards_the_other():
    x, y = (torch.tensor(value) for value in samples(6, 6))
    x.requires_grad_()
    first = float(torch_forms.energy(x, y).detach())
    optimiser = torch.optim.Adam([x], lr=0.05)
    for _ in range(60):
        optimiser.zero_grad()
        torch_forms.energy(x, y).backward()
        optimiser.step()
    assert float(torch_forms.energy(x, y).detach()) < 0.2 * first


def test_an_unknown_estimator_is_an_error():
    with pytest.raises(
        ValueError, match="estimator is 'both'; expected biased or unbiased"
    ):
        torch_forms.mmd(torch.zeros(2, 3), torch.zeros(2, 3), "both")
