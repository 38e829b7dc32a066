"""Truncation of a distribution by its own shape: min-p, locally typical, eta.

Each rule removes tokens from the probabilities that temperature, top-k and top-p
leave; they apply in this order. min-p and eta keep the most likely token, the typical
set the one whose surprise is nearest to the entropy. Equally likely tokens stay
together, except in the typical set, where the smaller id comes first.
"""

from __future__ import annotations

import torch

from harness.contracts import Decoding
from harness.errors import HarnessError

OPTIONS = ("min_p", "typical_p", "eta")
"""Names of the rules in ``Decoding.options``."""
REQUIRED = {"min-p": "min_p", "typical": "typical_p", "eta": "eta"}
"""Strategies that are samples with one rule, and the option that each needs."""


def check_truncation(decoding: Decoding) -> None:
    """Raise :class:`HarnessError` for a rule out of range,
    or a strategy without the option that it needs.
    """
    for name in OPTIONS:
        value = decoding.options.get(name)
        if value is None:
            continue
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not 0 < value <= 1
        ):
            raise HarnessError(
                f"decoding: options.{name} must be above 0 and at most 1, "
                f"found {value!r}",
                parameter=name,
                value=value,
            )

    needed = REQUIRED.get(decoding.strategy)
    if needed and decoding.options.get(needed) is None:
        example = {"min_p": 0.1, "typical_p": 0.95, "eta": 0.0003}[needed]
        raise HarnessError(
            f"decoding: strategy {decoding.strategy} needs options.{needed} "
            f"(for example options: {{{needed}: {example}}})",
            parameter=needed,
        )


def truncate(mass: torch.Tensor, decoding: Decoding) -> torch.Tensor:
    """Return probabilities with 0 for the tokens that the rules of ``decoding.options``
    remove.

    Parameters
    ----------
    mass
        Probabilities, shape (R, M), float64, not normalised, 0 for a token that is
        removed already.
    decoding
        Settings; ``options.min_p``, ``options.typical_p`` and ``options.eta`` are used,
        each in (0, 1].

    Returns
    -------
    torch.Tensor
        Shape (R, M), not normalised.

    References
    ----------
    Nguyen et al. (2024), Turning Up the Heat: Min-p Sampling for Creative and Coherent
    LLM Outputs; Meister et al. (2023), Locally Typical Sampling; Hewitt et al. (2022),
    Truncation Sampling as Language Model Desmoothing (eta, with alpha = sqrt(epsilon)).
    """
    for name, rule in (("min_p", _min_p), ("typical_p", _typical), ("eta", _eta)):
        value = decoding.options.get(name)
        if value is not None:
            mass = torch.where(
                rule(mass / mass.sum(-1, keepdim=True), float(value)),
                mass,
                mass.new_zeros(()),
            )
    return mass


def _min_p(p: torch.Tensor, share: float) -> torch.Tensor:
    """Return True for the tokens with at least the share ``share`` of the probability
    of the most likely one, shape (R, M).
    """
    return p >= share * p.amax(-1, keepdim=True)


def _entropy(p: torch.Tensor) -> torch.Tensor:
    """Return the entropy of each row of probabilities (R, M) in nats, shape (R, 1)."""
    return torch.special.entr(p).sum(-1, keepdim=True)


def _typical(p: torch.Tensor, share: float) -> torch.Tensor:
    """Return True for the smallest set of tokens, nearest to the entropy first, whose
    probability reaches ``share``, shape (R, M).
    """
    distance = (-p.log() - _entropy(p)).abs()  # infinite for a removed token
    order = distance.sort(dim=-1, stable=True).indices
    ranked = p.gather(-1, order)
    in_set = (ranked.cumsum(-1) - ranked < share) & (ranked > 0)
    in_set[:, 0] = True
    return torch.zeros_like(in_set).scatter_(-1, order, in_set)


def _eta(p: torch.Tensor, epsilon: float) -> torch.Tensor:
    """Return True for the tokens above min(epsilon, sqrt(epsilon) exp(-entropy)), and
    for the most likely one, shape (R, M).
    """
    threshold = torch.clamp(epsilon**0.5 * torch.exp(-_entropy(p)), max=epsilon)
    return (p >= threshold) | (p == p.amax(-1, keepdim=True))
