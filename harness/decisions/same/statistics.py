"""Statistics of the answers of two sources under all relabelings: kernels within
prompts, and shifts across prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.decisions.same.answer_kernels import KERNELS, Answers
from harness.decisions.same.effects import (
    Effect,
    degrees_of_freedom,
    effect_over_prompts,
)
from harness.decisions.same.metric_kernels import MetricKernels
from harness.decisions.same.sources import Prompt
from harness.stats.stratified_test import (
    Relabelings,
    Stratum,
    Sums,
    adaptive_p,
    relabel_sums,
    strata_of,
)

DRAWS = 1000
"""Number of random relabelings at first."""


@dataclass(frozen=True)
class Settings:
    """Settings of a comparison of sources."""

    kernels: Sequence[str] = KERNELS
    """String kernels, and metrics (:mod:`harness.decisions.same.metric_kernels`); the
    effect is that of the first one.
    """
    draws: int = DRAWS
    seed: int = 0
    alpha: float = 0.05
    """Level of the check."""
    tests: int = 1
    """Number of pairs of sources that share the level by Holm: more relabelings are
    drawn where the level of one pair needs them.
    """
    margin: float | None = None
    """Largest unbiased MMD^2 that counts as equivalent."""
    power: bool = True
    """Simulate the power against one answer in ten replaced,
    where no difference is shown.
    """


DEFAULT_SETTINGS = Settings()


@dataclass(frozen=True)
class Evaluation:
    """Statistics of the prompts of two sources under all relabelings."""

    strata: Sequence[Stratum]
    relabelings: Relabelings
    sums: Sums
    names: Sequence[str]
    """Names of the features."""
    features: np.ndarray
    """Features of the texts, shape (T, F)."""
    columns: np.ndarray
    """Statistics that are tested together, shape (P, J)."""
    tested: Sequence[str]
    """Their names: the kernels, those of strings first, and the shifts."""

    @property
    def p(self) -> float:
        """P-value of all statistics together."""
        return adaptive_p(self.columns)

    def effect(self, kernel: str) -> Effect:
        """Return the effect of a kernel, with its interval."""
        column = self.tested.index(kernel)
        freedom = np.full(len(self.sums.effects), np.inf)
        if kernel in KERNELS:
            for stratum in self.strata:
                freedom[stratum.prompts] = degrees_of_freedom(stratum.rows.shape[1])
        return effect_over_prompts(
            self.sums.effects[:, column], self.sums.totals[:, column], freedom
        )


def evaluate(prompts: Sequence[Prompt], settings: Settings) -> Evaluation:
    """Return the statistics of all relabelings of the answers to some prompts."""
    pooled = [[*prompt.a, *prompt.b] for prompt in prompts]
    answers = Answers([text for texts in pooled for text in texts])
    strings = [name for name in settings.kernels if name in KERNELS]
    scored = [name for name in settings.kernels if name not in KERNELS]

    strata = strata_of([(len(prompt.a), len(prompt.b)) for prompt in prompts])
    relabelings = Relabelings(strata, settings.draws, settings.seed)
    names, features = answers.features()
    scores = MetricKernels(scored, pooled).scores if scored else None
    sums = relabel_sums(
        relabelings,
        lambda block: answers.kernels(strings, block.rows),
        features,
        scores,
    )

    # Answers of equal length have no such feature: its shift is then 0.
    size = np.abs(sums.shifts)
    lengths = [k for k, name in enumerate(names) if name == "length in words"]
    length = size[:, lengths].sum(axis=1)
    shifts = {
        "largest shift": size.max(axis=1, initial=0.0),
        "all shifts": (size**2).sum(axis=1),
    }
    if strings:
        shifts["similarity"] = size[:, len(names) :].max(axis=1)

    columns = np.column_stack([sums.within, *shifts.values(), length])
    return Evaluation(
        strata,
        relabelings,
        sums,
        names,
        features,
        columns,
        [*strings, *scored, *shifts, "length"],
    )
