"""Kernel metrics as differentiable torch functions, for use as training losses.

Each function takes x (n, d) and y (m, d), or batches (B, n, d) and (B, m, d), and
returns a scalar or (B,) tensor equal to its numpy counterpart. Gradients are exact,
also through the median width of MMD unless ``sigma`` is set. At a kink (equal vectors,
zero singular values) the gradient is the finite one-sided choice 0. Use float64 where
values matter; the results have the type of the inputs.
"""

from __future__ import annotations

import importlib

import torch

from harness_metrics.kernel import sliced_wasserstein as lines
from harness_metrics.kernel.frechet import helmert

_linalg = importlib.import_module("torch.linalg")  # without types


def _distances(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the Euclidean distances (..., n, m) of x (..., n, d) and y (..., m, d);
    the gradient is 0 for equal vectors.
    """
    squared = (x.unsqueeze(-2) - y.unsqueeze(-3)).square().sum(dim=-1)
    positive = squared > 0
    return torch.where(
        positive, torch.where(positive, squared, torch.ones_like(squared)).sqrt(), 0.0
    )


def mmd(
    x: torch.Tensor,
    y: torch.Tensor,
    estimator: str = "biased",
    sigma: torch.Tensor | float | None = None,
) -> torch.Tensor:
    """Return the squared MMD with a Gaussian kernel; see
    :func:`harness_metrics.kernel.mmd.mmd`.

    Parameters
    ----------
    x, y : Tensor, shapes (n, d) and (m, d), or (B, n, d) and (B, m, d)
        Vectors of the samples.
    estimator : {'biased', 'unbiased'}
        V-statistic, or the statistic without the diagonals.
    sigma : Tensor or float, optional
        Width of the kernel. The default is half the median distance over both samples.

    Returns
    -------
    Tensor, scalar or shape (B,)

    Raises
    ------
    ValueError
        For an unknown estimator.
    """
    if estimator not in ("biased", "unbiased"):
        raise ValueError(f"estimator is {estimator!r}; expected biased or unbiased")
    n, m = x.shape[-2], y.shape[-2]
    pooled = torch.cat([x, y], dim=-2)
    distances = _distances(pooled, pooled)
    if sigma is None:
        rows, columns = torch.triu_indices(n + m, n + m, 1)
        sigma = (
            0.5 * distances[..., rows, columns].quantile(0.5, dim=-1)[..., None, None]
        )
    scale = 2.0 * torch.as_tensor(sigma, dtype=x.dtype, device=x.device).square()
    safe = torch.where(scale > 0, scale, torch.ones_like(scale))
    limit = torch.where(distances > 0, 0.0, 1.0).to(x.dtype)
    kernel = torch.where(scale > 0, torch.exp(-distances.square() / safe), limit)
    return _two_sample(kernel, n, estimator)


def _two_sample(kernel: torch.Tensor, n: int, estimator: str) -> torch.Tensor:
    """Return mean k(C, C) + mean k(R, R) - 2 mean k(C, R) for kernels (..., N, N) with
    the n candidates first.
    """
    m = kernel.shape[-1] - n
    c = kernel[..., :n, :n]
    r = kernel[..., n:, n:]
    across = kernel[..., :n, n:]
    if estimator == "biased":
        return (
            c.mean(dim=(-2, -1))
            + r.mean(dim=(-2, -1))
            - 2.0 * across.mean(dim=(-2, -1))
        )
    within_c = (c.sum(dim=(-2, -1)) - c.diagonal(dim1=-2, dim2=-1).sum(dim=-1)) / (
        n * (n - 1) or float("nan")
    )
    within_r = (r.sum(dim=(-2, -1)) - r.diagonal(dim1=-2, dim2=-1).sum(dim=-1)) / (
        m * (m - 1) or float("nan")
    )
    return within_c + within_r - 2.0 * across.mean(dim=(-2, -1))


def energy(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the energy distance, scalar or (B,), of x (..., n, d) and y (..., m, d);
    see :mod:`harness_metrics.kernel.metric`.
    """
    pooled = torch.cat([x, y], dim=-2)
    return _two_sample(-_distances(pooled, pooled), x.shape[-2], "biased")


def frechet(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the Frechet distance, scalar or (B,),
    by the nuclear norm of an (n-1) x (m-1) matrix.

    ``x`` is (..., n, d) and ``y`` (..., m, d). See
    :func:`harness_metrics.kernel.frechet.frechet`.
    """
    n, m = x.shape[-2], y.shape[-2]
    value = (x.mean(dim=-2) - y.mean(dim=-2)).square().sum(dim=-1)
    a = _contrasts(x)
    b = _contrasts(y)
    if n > 1:
        value = value + a.square().sum(dim=(-2, -1)) / (n - 1)
    if m > 1:
        value = value + b.square().sum(dim=(-2, -1)) / (m - 1)
    if n > 1 and m > 1:
        singular_values: torch.Tensor = _linalg.svdvals(a @ b.transpose(-2, -1))
        nuclear = singular_values.sum(dim=-1)
        value = value - 2.0 * nuclear / ((n - 1) * (m - 1)) ** 0.5
    return value


def _contrasts(x: torch.Tensor) -> torch.Tensor:
    """Return a centred sample (..., n, d) without its redundant dimension,
    shape (..., n-1, d).
    """
    basis = torch.as_tensor(helmert(x.shape[-2]), dtype=x.dtype, device=x.device)
    return basis.T @ x


def sliced_wasserstein(
    x: torch.Tensor,
    y: torch.Tensor,
    projections: int = 128,
    p: float = 2.0,
    seed: int = 0,
) -> torch.Tensor:
    """Return the sliced Wasserstein distance, scalar or (B,), of x (..., n,
    d) and y (..., m, d).

    Directions are those of
    :func:`harness_metrics.kernel.sliced_wasserstein.sliced_wasserstein` for the same
    seed.
    """
    axes = torch.as_tensor(
        lines.directions(x.shape[-1], projections, seed), dtype=x.dtype, device=x.device
    )
    first = (x @ axes).transpose(-2, -1).sort(dim=-1).values
    second = (y @ axes).transpose(-2, -1).sort(dim=-1).values
    plan = lines.coupling(x.shape[-2], y.shape[-2])
    gaps = (
        first[..., torch.as_tensor(plan.first)]
        - second[..., torch.as_tensor(plan.second)]
    ).abs()
    weights = torch.as_tensor(plan.weights, dtype=x.dtype, device=x.device)
    mean = (gaps.pow(p) @ weights).mean(dim=-1)
    positive = mean > 0
    return torch.where(
        positive, torch.where(positive, mean, torch.ones_like(mean)).pow(1.0 / p), 0.0
    )
