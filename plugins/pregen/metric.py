"""Pre-gen metrics as a metric of the harness: level ``model``, fed with token scores instead of captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from harness.contracts import MetricSpec, TokenScores
from harness.errors import HarnessError, UnknownName, did_you_mean
from harness.plugins.pregen import functions
from harness.plugins.pregen.tokens import FlatTokens, from_token_scores

BEST = "mean_max_normcount_prefix0"
TIERS: Mapping[str, tuple[str, ...]] = {
    "images": functions.TIER4,
    "captions": functions.TIER3,
    "score": functions.TIER2,
    "tokens": (*functions.TIER1, "filter0_kept"),
}
"""The four tiers by what they act on, outermost first, and their options."""


class Pregen:
    """One, some or all of the 504 pre-gen metrics.

    Give one of ``name`` (``mean_max_normcount_prefix0``), ``names`` (a list), ``tiers`` (four options, outermost first, or a
    mapping with the keys images, captions, score, tokens; each an option, a list of options or ``"*"``) or ``all=True``;
    with none of them it is the paper's best metric. Raises :class:`UnknownName` for a bad option.
    """

    list_parameters = frozenset({"names", "tiers"})
    """Parameters whose value may be a list as such: not axes of the grid."""
    column_names = functions.NAMES + functions.KEPT_NAMES
    """All columns that the metric may have in a table of scores."""

    def __init__(
        self,
        *,
        name: str | None = None,
        names: Sequence[str] | None = None,
        tiers: Sequence[Any] | Mapping[str, Any] | None = None,
        all: bool = False,
    ) -> None:
        given = [
            key for key, value in (("name", name), ("names", names), ("tiers", tiers), ("all", all or None)) if value
        ]
        if len(given) > 1:
            raise HarnessError(f"pregen takes one of name, names, tiers and all; found {' and '.join(given)}")
        if name is not None:
            self.names: tuple[str, ...] = (name,)
        elif names is not None:
            self.names = (names,) if isinstance(names, str) else tuple(names)
        elif tiers is not None:
            self.names = _from_tiers(tiers)
        else:
            self.names = functions.NAMES if all else (BEST,)
        if not self.names:
            raise HarnessError("pregen got an empty list of names")
        parts = [functions.split_name(item) for item in self.names]
        directions = {_higher_is_better(part[2], part[3]) for part in parts}
        shown = self.names[0] if len(self.names) == 1 else f"{len(self.names)} functions"
        self.spec = MetricSpec(
            name=f"pregen({shown})",
            higher_is_better=directions.pop() if len(directions) == 1 else None,
            level="model",
            needs=frozenset({"references", "logprobs"}),
            min_candidates=0,
            min_texts=1,
            bounds=(0.0, float("inf")),
        )

    def signature(self) -> str:
        if self.names == functions.NAMES:
            return "pregen|all"
        return "pregen|" + "+".join(self.names)

    def evaluate_scores(self, scores: Sequence[Sequence[TokenScores]] | FlatTokens) -> dict[str, float]:
        """Metric name -> number; infinities are ordinary results. Raises :class:`InputError` for bad token scores."""
        values = functions.evaluate(_flat(scores), self.names)
        return dict(zip(self.names, values.tolist()))

    def per_example(self, scores: Sequence[Sequence[TokenScores]] | FlatTokens) -> dict[str, np.ndarray]:
        """Metric name -> (examples,): what tier 4 aggregates; the ``join`` metrics have no score per example."""
        own = [name for name in self.names if functions.split_name(name)[1] != "join"]
        return dict(zip(own, functions.per_image(_flat(scores), own))) if own else {}

    def resample(
        self, scores: Sequence[Sequence[TokenScores]] | FlatTokens, samples: int, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Metric name -> (samples,) values on bootstrap samples of the images, for intervals."""
        flat = _flat(scores)
        count = len(flat.images) - 1
        draws = [functions.evaluate(flat.take(rng.integers(0, count, count)), self.names) for _ in range(samples)]
        return dict(zip(self.names, np.array(draws).reshape(samples, len(self.names)).T))


def _flat(scores: Sequence[Sequence[TokenScores]] | FlatTokens) -> FlatTokens:
    return scores if isinstance(scores, FlatTokens) else from_token_scores(scores)


def _from_tiers(tiers: Any) -> tuple[str, ...]:
    if isinstance(tiers, Mapping):
        for key in tiers:
            if key not in TIERS:
                raise UnknownName(f"pregen has no tier '{key}'{did_you_mean(key, TIERS)}; tiers are {', '.join(TIERS)}")
        tiers = [tiers.get(key, default) for key, default in zip(TIERS, BEST.split("_"))]
    if isinstance(tiers, str) or len(tiers) != len(TIERS):
        raise HarnessError(f"pregen tiers are four options ({', '.join(TIERS)}); found {tiers!r}")
    chosen = []
    for (tier, options), value in zip(TIERS.items(), tiers):
        if value == "*":
            value = functions.TIER1 if tier == "tokens" else options
        chosen.append([value] if isinstance(value, str) else list(value))
        for option in chosen[-1]:
            if option not in options:
                hint = did_you_mean(option, options)
                raise UnknownName(
                    f"pregen tier '{tier}' has no option {option!r}{hint}; options are {', '.join(options)}"
                )
    return tuple("_".join(parts) for parts in product(*chosen))


def _higher_is_better(tier2: str, tier1: str) -> bool | None:
    """True, False, or None where neither (the length of the references says nothing of the model)."""
    if tier2 in ("prob", "pplx"):
        return tier2 == "prob"
    return {"none": None, "filter0": False}.get(tier1, True)
