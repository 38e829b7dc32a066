"""Test of two sources batch by batch, which may stop after any batch:
e-values (Ramdas et al. 2023).

A batch holds fresh answers of every prompt. Its statistic S > 0 is chosen from earlier
batches; e = S(observed) / mean of S over relabelings of the batch has at most the mean
1 when both sources are the same. The product over batches exceeds 1 / alpha with
probability at most alpha.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from harness.decisions.same.answer_kernels import Answers
from harness.decisions.same.sources import Prompt
from harness.decisions.same.statistics import Settings
from harness.stats.stratified_test import Relabelings, relabel_sums, strata_of

SMALLEST_STAKE = 0.6
LARGEST_STAKE = 4.0
FIRST_STAKE = 0.5
"""Stake of the first batch; later ones stake the mean gain so far, within these ends.
"""
NOISE = 0.7
"""Sums of earlier statistics, in standard deviations, that are taken as noise."""


@dataclass(frozen=True)
class Evidence:
    """Evidence after a batch."""

    answers: int
    """Number of answers so far."""
    e: float
    """Product of the e-values so far."""


def follow(
    prompts: Sequence[Prompt], size: int, settings: Settings
) -> Iterator[Evidence]:
    """Yield the evidence after each batch of ``size`` answers of each source and
    prompt, up to the batch that exceeds 1 / alpha.
    """
    wealth = 1.0
    used = 0
    evidence: list[np.ndarray] = []
    gains: list[float] = []
    for start in range(0, max(min(len(p.a), len(p.b)) for p in prompts), size):
        # Earlier answers of each prompt, and the fresh ones of both sources.
        batch: list[tuple[Prompt, Sequence[str], Sequence[str]]] = []
        for prompt in prompts:
            a = prompt.a[start : start + size]
            b = prompt.b[start : start + size]
            if a and b:
                earlier = Prompt(prompt.id, prompt.a[:start], prompt.b[:start])
                batch.append((earlier, a, b))

        # Weights and stake are chosen from earlier batches alone: e is valid so.
        columns = _columns(batch, settings, start)
        weights = _weights(np.array(evidence), columns.shape[1], len(settings.kernels))
        combined = columns @ weights
        combined /= max(float(combined.std()), 1e-12)
        stake = FIRST_STAKE
        if gains:
            stake = float(np.clip(np.mean(gains), SMALLEST_STAKE, LARGEST_STAKE))

        powers = np.exp(stake * (combined - combined.max()))
        wealth *= float(powers[0] / powers.mean())
        evidence.append(columns[0])
        gains.append(float(combined[0]))
        used += sum(len(a) + len(b) for _, a, b in batch)
        yield Evidence(used, wealth)
        if wealth >= 1 / settings.alpha:
            return


def _weights(evidence: np.ndarray, number: int, kernels: int) -> np.ndarray:
    """Return weights of the statistics (number,) from those of earlier batches (t,
    number): small sums count as noise.

    Similarities, the last ones, may differ in either direction; the other statistics
    are expected to be positive.
    """
    if not len(evidence):
        return (np.arange(number) < kernels).astype(np.float64)
    mean = evidence.sum(axis=0) / np.sqrt(len(evidence))
    weights = np.sign(mean) * np.maximum(np.abs(mean) - NOISE, 0.0)
    expected = number - kernels
    weights[:expected] = np.maximum(weights[:expected], 0.0)
    weights[expected - 1] += 0.3
    return weights


def _columns(
    batch: Sequence[tuple[Prompt, Sequence[str], Sequence[str]]],
    settings: Settings,
    start: int,
) -> np.ndarray:
    """Return the statistics of a batch under its relabelings, shape (P, 3 K + 1).

    They are the kernels within the batch; their witnesses, the mean kernel of an answer
    with the earlier answers of A minus that with those of B; the direction of the
    features; the mean similarities to all answers of the prompt.
    """
    texts = [text for _, a, b in batch for text in (*a, *b)]
    earlier = [text for prompt, _, _ in batch for text in (*prompt.a, *prompt.b)]
    answers = Answers([*texts, *earlier])
    kernels = settings.kernels

    # Witnesses and similarities need earlier answers.
    strata = strata_of([(len(a), len(b)) for _, a, b in batch])
    features = np.zeros((len(texts), 2 * len(kernels) + 1))
    if start:
        counts = (len(prompt.a) + len(prompt.b) for prompt, _, _ in batch)
        starts = list(accumulate(counts, initial=len(texts)))
        for stratum in strata:
            positions: list[int] = stratum.prompts.tolist()
            for row, position in zip(stratum.rows, positions):
                before = np.arange(starts[position], starts[position + 1])
                together = np.concatenate([row, before])
                new = answers.kernels(kernels, together[None])[0][:, : len(row)]
                a = len(row) + len(batch[position][0].a)
                to_a = new[:, :, len(row) : a].mean(axis=2)
                to_b = new[:, :, a:].mean(axis=2)
                features[row, : len(kernels)] = (to_a - to_b).T
                features[row, len(kernels) + 1 :] = new.mean(axis=2).T
        features[:, len(kernels)] = _direction(answers, batch, len(texts))

    relabelings = Relabelings(strata, settings.draws, settings.seed + start)
    sums = relabel_sums(
        relabelings, lambda block: answers.kernels(kernels, block.rows), features
    )
    return np.concatenate([sums.within, sums.shifts[:, : features.shape[1]]], axis=1)


def _direction(
    answers: Answers,
    batch: Sequence[tuple[Prompt, Sequence[str], Sequence[str]]],
    new: int,
) -> np.ndarray:
    """Return the sum of the features of each new answer, weighted by their shifts in
    earlier batches, shape (new,).
    """
    values = answers.features()[1]
    shift = np.zeros(values.shape[1])
    variance = np.full(values.shape[1], 1e-12)
    start = new
    for prompt, _, _ in batch:
        n = len(prompt.a)
        m = len(prompt.b)
        block = values[start : start + n + m]
        block = block - block.mean(axis=0)
        shift += block[:n].sum(axis=0)
        variance += (block**2).sum(axis=0) * n * m / ((n + m) * (n + m - 1))
        start += n + m

    # Small shifts are noise, as in the weights of the statistics.
    deviation = np.sqrt(variance)
    z = shift / deviation
    return values[:new] @ (np.where(np.abs(z) > 1.5, z, 0.0) / deviation)
