"""Simulated power of the test of two sources, against named changes of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from harness.decisions.same.level import RESOLUTION, draws_needed
from harness.decisions.same.sources import Prompt, choose
from harness.decisions.same.statistics import Settings, evaluate
from harness.stats.stratified_test import smallest_p, standardise_values

POWER_RUNS = 100
"""Number of simulated checks."""
POWER_PROMPTS = 100
"""Maximum number of prompts of a simulated check."""
POWER_DRAWS = 199
"""Number of random relabelings of a simulated check."""
Alternative = Callable[[Sequence[Sequence[str]], np.random.Generator], list[list[str]]]
"""Answers of all prompts -> answers of a changed source."""


def replace_answers(share: float) -> Alternative:
    """Return the alternative of answers that are replaced by those of another
    prompt.
    """

    def change(
        answers: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> list[list[str]]:
        pool = [text for texts in answers for text in texts]

        def draw(text: str) -> str:
            return pool[rng.integers(len(pool))] if rng.random() < share else text

        return [list(map(draw, texts)) for texts in answers]

    return change


def power_against(
    prompts: Sequence[Prompt],
    change: Alternative,
    settings: Settings,
    runs: int = POWER_RUNS,
) -> float:
    """Return the share of simulated checks that find a changed source.

    Each check divides the answers of a prompt at random into two sources of the same
    sizes and changes the second one. Beyond :data:`POWER_PROMPTS` prompts the first
    ones are used: the power of all is larger.
    """

    def simulate(run: int) -> list[Prompt]:
        rng = np.random.default_rng([settings.seed, run])
        mixed = [
            choose(
                [*prompt.a, *prompt.b], rng.permutation(len(prompt.a) + len(prompt.b))
            )
            for prompt in prompts[:POWER_PROMPTS]
        ]
        of_b = [texts[len(prompt.a) :] for texts, prompt in zip(mixed, prompts)]
        return [
            Prompt(prompt.id, texts[: len(prompt.a)], changed)
            for prompt, texts, changed in zip(prompts, mixed, change(of_b, rng))
        ]

    return share_found(map(simulate, range(runs)), runs, settings)


def share_found(
    checks: Iterable[Sequence[Prompt]], runs: int, settings: Settings
) -> float:
    """Return the share of simulated checks that find a difference at the level of the
    settings.

    Where :data:`POWER_DRAWS` relabelings are too few for the level, the critical value
    of the largest statistic is that of the relabelings of all checks together, which
    are alike, in place of those of each check alone.
    """
    has_own_p = settings.alpha * (POWER_DRAWS + 1) >= RESOLUTION
    draws = POWER_DRAWS
    if not has_own_p:
        draws = max(draws, draws_needed(settings.alpha, settings.kernels) // runs)

    count = 0
    observed: list[float] = []
    relabeled: list[np.ndarray] = []
    for check in checks:
        outcome = evaluate(check, replace(settings, draws=draws))
        if has_own_p:
            count += outcome.p <= settings.alpha
        elif smallest_p(outcome.strata) <= settings.alpha:
            largest = standardise_values(outcome.columns)[0].max(axis=1)
            observed.append(float(largest[0]))
            relabeled.append(largest[1:])

    if relabeled:
        null = np.sort(np.concatenate(relabeled))
        critical = null[len(null) - 1 - int(settings.alpha * len(null))]
        count = int((np.array(observed) > critical).sum())
    return count / runs
