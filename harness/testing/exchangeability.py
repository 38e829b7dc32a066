"""Checks that permutation p-values keep their size: what is fitted must not tell
candidates from references of the same source.

A permutation test asks how often a relabeling of the texts of an example would be as
extreme as the observed one. Its p-value is exact where the texts of one source are
exchangeable: no relabeling may change what the statistic knows of them. A vocabulary,
weights or a width that is fitted on the references, hence on one of the two sides,
breaks this, and p is too small.

Both checks fit everything again for each set of texts, as a run does. Embeddings and
distances are checked under the maximum mean discrepancy (Gretton et al. 2012) of the
vectors or distances of an example, which depends strongly on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Distance,
    Embedding,
    Features,
    MeanMetric,
    Metric,
    MetricSpec,
    fitted_fields,
    has_corpus_state,
)
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.scored import Scored
from harness.spec.models import SignificanceSpec
from harness.stats import permutation
from harness.stats.significance import has_generic_null, untestable_reason
from harness.testing.base_subject import AnySubject
from harness.testing.results import NotApplicable, ensure
from harness.testing.sample_captions import SCENES

DISJOINT_TEXTS = (
    "amber basalt",
    "cobalt drizzle",
    "ember falcon",
    "granite harbor",
    "indigo jasmine",
    "lantern marble",
    "nectar opal",
    "pewter quartz",
)
"""Texts without a common token, also with the words of the source."""
SIDE = 4
"""Candidates, and references, of the sets of the checks."""
SETS = 200
"""Sets of one source."""
SCORED_AGAIN = 50
"""Sets of one source for a metric that scores the texts of each relabeling again."""
LEVEL = 0.05
SLACK = 1e-7
"""Largest difference of scores that are equal but for the order of summation;
features are float32.
"""
WORDS = 2000
"""Words of the source."""
LENGTH = 8
"""Words of a text."""
UNDECLARED = (
    "give it held_fixed, the note of intervals that says what is fitted on them"
)
"""Advice for a component that depends on the references and does not say so."""
EXACT = SignificanceSpec(method="exact")


# --------------------------------------------------------------------------- sets of texts
def small_sets(count: int, seed: int = 0) -> list[CaptionSet]:
    """Return ``count`` sets of 4 candidates and 4 references,
    all drawn from one source.

    A text has 8 words, independent draws by Zipf's law from 2,000: those of the kit's
    captions, which metrics of objects and facts know, are the most frequent ones.
    """
    words = source_words()
    share = np.cumsum(1.0 / np.arange(1, len(words) + 1))
    draws = np.random.default_rng(seed).random((count, 2 * SIDE, LENGTH))
    numbers = np.searchsorted(share / share[-1], draws)
    texts = [
        tuple(" ".join(words[k] for k in text) for text in example)
        for example in numbers.tolist()
    ]
    return [
        CaptionSet(f"set-{k}", example[:SIDE], example[SIDE:])
        for k, example in enumerate(texts)
    ]


def source_words() -> list[str]:
    """Return the words of the source, in the order of their frequency."""
    captions = (
        text.lower().replace(".", " ").replace(",", " ")
        for scene in SCENES
        for text in scene
    )
    words = dict.fromkeys(word for text in captions for word in text.split())
    return [*words, *(f"word{k}" for k in range(WORDS - len(words)))]


def relabeled_sets() -> list[CaptionSet]:
    """Return the sets of :data:`DISJOINT_TEXTS` under all relabelings of 4 candidates
    and 4 references.
    """
    return [
        CaptionSet(
            "disjoint",
            tuple(
                text
                for text, is_candidate in zip(DISJOINT_TEXTS, labels)
                if is_candidate
            ),
            tuple(
                text
                for text, is_candidate in zip(DISJOINT_TEXTS, labels)
                if not is_candidate
            ),
        )
        for labels in permutation.relabelings(SIDE, SIDE)
    ]


# --------------------------------------------------------------------------- data sets
def data_set_size(metric: Metric, count: int = SETS) -> int:
    """Return the number of sets that are one data set in a check of ``count`` sets: the
    smallest in which the metric has p-values.

    The fewer examples, the more of what is fitted on their references is that of the
    tested example's own.
    """
    if not has_corpus_state(metric):
        return count
    smallest = max(1, metric.spec.testable_from)
    defined = np.isfinite(
        score_data_set(metric, small_sets(smallest), tested=False).per_example(metric)
    ).any()
    # weights such as document frequencies are all 0 for one example
    return smallest if defined else smallest + 1


def score_data_set(
    metric: Metric, sets: Sequence[CaptionSet], *, tested: bool
) -> Scored:
    """Return the results of a metric on sets that are a data set of their own, with
    exact p-values if ``tested``.
    """
    features = FeatureCache([item.references for item in sets])
    return scoring.score(
        metric, scoring.batches(sets, features), features, EXACT if tested else None, 0
    )


def one_source_p_values(metric: Metric, count: int) -> np.ndarray:
    """Return the p-values of sets of one source, those that are defined,
    shape (count,) or fewer.
    """
    size = data_set_size(metric, count)
    sets = small_sets(size * math.ceil(count / size))
    found = [
        score_data_set(metric, sets[start : start + size], tested=True).p_values
        for start in range(0, len(sets), size)
    ]
    p_values = np.concatenate([part for part in found if part is not None])[:count]
    return p_values[~np.isnan(p_values)]


def largest_count(tests: int) -> int:
    """Return the largest number of p-values of :data:`LEVEL` or less among so many
    independent ones, but for one data set in 10,000.

    >>> largest_count(200)
    22
    """
    return int(tests * LEVEL + 4 * math.sqrt(tests * LEVEL * (1 - LEVEL)))


# --------------------------------------------------------------------------- checks
def ensure_equal_labels(metric: Metric) -> None:
    """Raise :class:`Violation` where labels of texts that the metric does not tell
    apart have a p-value below 1.
    """
    ensure_testable(metric)
    others = small_sets(data_set_size(metric) - 1) if has_corpus_state(metric) else []
    sets = relabeled_sets()
    scores = [
        float(
            score_data_set(metric, [item, *others], tested=False).per_example(metric)[0]
        )
        for item in sets
    ]
    if np.isnan(scores[0]):
        raise NotApplicable("is undefined for texts without a common token")
    if not np.allclose(scores, scores[0], rtol=SLACK, atol=SLACK, equal_nan=True):
        raise NotApplicable("tells texts without a common token apart")
    p_values = score_data_set(metric, [sets[0], *others], tested=True).p_values
    assert p_values is not None
    ensure(
        p_values[0] == 1,
        "eight texts without a common token, 4 against 4, "
        f"have the score {scores[0]:.6g} under all labels and p {p_values[0]:.4f}; "
        "expected 1: what is fitted on the references tells them from the candidates",
    )


def ensure_one_source(metric: Metric, count: int | None = None) -> None:
    """Raise :class:`Violation` where sets of one source have small p-values too often.

    ``count`` is the number of sets; None: :data:`SETS`, or :data:`SCORED_AGAIN` where a
    test takes long.
    """
    ensure_testable(metric)
    p_values = one_source_p_values(
        metric, count or (SCORED_AGAIN if has_generic_null(metric) else SETS)
    )
    if not len(p_values):
        raise NotApplicable("is undefined for sets of random words")
    small = int(np.count_nonzero(p_values <= LEVEL))
    ensure(
        small <= largest_count(len(p_values)),
        f"{small} of {len(p_values)} sets with candidates and references of one "
        f"source have p of {LEVEL} or less; expected at most "
        f"{largest_count(len(p_values))}: fit nothing, "
        "or fit the texts of an example together (encode_set), or set untestable",
    )


def ensure_testable(metric: Metric) -> None:
    """Raise :class:`NotApplicable` for a metric without p-values of sets of texts."""
    reason = untestable_reason(metric)
    if reason:
        raise NotApplicable(f"has no p-values: {reason}")
    spec = metric.spec
    if max(spec.min_candidates, spec.min_references) > SIDE or "images" in spec.needs:
        raise NotApplicable(
            f"does not score {SIDE} candidates and {SIDE} references alone"
        )


# --------------------------------------------------------------------------- embeddings and distances
class _Discrepancy(MeanMetric):
    """Squared maximum mean discrepancy of the texts of an example by an embedding or a
    distance, biased.

    The Gaussian kernel has half the median distance as its width; where that is 0, it
    is 1 for equal texts and 0 for others.
    """

    def __init__(self, component: Embedding | Distance) -> None:
        self.component = component
        self.spec = MetricSpec(
            f"discrepancy({component.name})", False, "set", **fitted_fields(component)
        )

    def signature(self) -> str:
        """Return the name and the signature of the embedding or distance."""
        return f"discrepancy|{self.component.signature()}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the discrepancy of each example, shape (B,)."""
        return self.null(
            batch, features, state, (np.arange(batch.n + batch.m) < batch.n)[None]
        )[:, 0]

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the discrepancy under labels (P, N), shape (B, P)."""
        distances = self._distances(batch, features)
        pairs = distances[:, *np.triu_indices(distances.shape[1], 1)]
        width = (np.median(pairs, axis=1) / 2)[:, None, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            kernels = np.where(
                distances == 0, 1.0, np.exp(-0.5 * (distances / width) ** 2)
            )
        n = labels.sum(axis=1, keepdims=True)
        m = (~labels).sum(axis=1, keepdims=True)
        signed = labels / n - ~labels / m
        # mean k(c, c') + mean k(r, r') - 2 mean k(c, r) is the quadratic form of the
        # signed weights 1/n and -1/m.
        return np.einsum("pi,bij,pj->bp", signed, kernels, signed)

    def _distances(self, batch: Batch, features: Features) -> np.ndarray:
        """Return distances of all pairs, symmetric, shape (B, N, N)."""
        if isinstance(self.component, Distance):
            distances = features.distances(self.component, batch)
            return (distances + distances.transpose(0, 2, 1)) / 2
        vectors = features.set_vectors(self.component, batch.text_ids).astype(
            np.float64
        )
        squares = np.einsum("bid,bid->bi", vectors, vectors)
        products = vectors @ vectors.transpose(0, 2, 1)
        return np.sqrt(
            np.maximum(squares[:, :, None] + squares[:, None, :] - 2 * products, 0.0)
        )


def equal_labels(subject: AnySubject) -> None:
    """Eight texts without a common token, 4 against 4:
    p is 1 where the component does not tell them apart.
    """
    _ = subject.base
    ensure_equal_labels(_Discrepancy(subject.component))


def one_source(subject: AnySubject) -> None:
    """Of 200 sets with candidates and references of one source,
    at most 22 have p of 0.05 or less.
    """
    _ = subject.base
    ensure_one_source(_Discrepancy(subject.component))
