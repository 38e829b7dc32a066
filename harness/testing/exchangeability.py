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

import numpy as np

from harness.contracts import CaptionSet, Metric, has_corpus_state
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.scored import Scored
from harness.spec.models import SignificanceSpec
from harness.stats.significance import has_generic_null, untestable_reason
from harness.testing.base_subject import AnySubject
from harness.testing.discrepancy import Discrepancy
from harness.testing.exchangeable_sets import SIDE, relabeled_sets, small_sets
from harness.testing.results import NotApplicable, ensure

SETS = 200
"""Sets of one source."""
SCORED_AGAIN = 50
"""Sets of one source for a metric that scores the texts of each relabeling again."""
LEVEL = 0.05
SLACK = 1e-7
"""Largest difference of scores that are equal but for the order of summation;
features are float32.
"""
UNDECLARED = (
    "give it held_fixed, the note of intervals that says what is fitted on them"
)
"""Advice for a component that depends on the references and does not say so."""
EXACT = SignificanceSpec(method="exact")


def data_set_size(metric: Metric, count: int = SETS) -> int:
    """Return the number of sets that are one data set in a check of ``count`` sets: the
    smallest in which the metric has p-values.

    The fewer examples, the more of what is fitted on their references is that of the
    tested example's own.
    """
    if not has_corpus_state(metric):
        return count

    smallest = max(1, metric.spec.testable_from)
    scored = score_data_set(metric, small_sets(smallest), tested=False)
    # weights such as document frequencies are all 0 for one example
    defined = np.isfinite(scored.per_example(metric)).any()
    return smallest if defined else smallest + 1


def score_data_set(
    metric: Metric, sets: Sequence[CaptionSet], *, tested: bool
) -> Scored:
    """Return the results of a metric on sets that are a data set of their own, with
    exact p-values if ``tested``.
    """
    features = FeatureCache([item.references for item in sets])
    batches = scoring.batches(sets, features)
    significance = EXACT if tested else None
    return scoring.score(metric, batches, features, significance, 0)


def one_source_p_values(metric: Metric, count: int) -> np.ndarray:
    """Return the p-values of sets of one source, those that are defined,
    shape (count,) or fewer.
    """
    size = data_set_size(metric, count)
    sets = small_sets(size * math.ceil(count / size))
    parts = []
    for start in range(0, len(sets), size):
        scored = score_data_set(metric, sets[start : start + size], tested=True)
        if scored.p_values is not None:
            parts.append(scored.p_values)
    p_values = np.concatenate(parts)[:count]
    return p_values[~np.isnan(p_values)]


def largest_count(tests: int) -> int:
    """Return the largest number of p-values of :data:`LEVEL` or less among so many
    independent ones, but for one data set in 10,000.

    >>> largest_count(200)
    22
    """
    # the mean of the binomial distribution and four of its standard deviations
    return int(tests * LEVEL + 4 * math.sqrt(tests * LEVEL * (1 - LEVEL)))


def ensure_equal_labels(metric: Metric) -> None:
    """Raise :class:`Violation` where labels of texts that the metric does not tell
    apart have a p-value below 1.
    """
    ensure_testable(metric)
    others = small_sets(data_set_size(metric) - 1) if has_corpus_state(metric) else []

    sets = relabeled_sets()
    scores = []
    for item in sets:
        scored = score_data_set(metric, [item, *others], tested=False)
        scores.append(float(scored.per_example(metric)[0]))

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
    default = SCORED_AGAIN if has_generic_null(metric) else SETS
    p_values = one_source_p_values(metric, count or default)

    if not len(p_values):
        raise NotApplicable("is undefined for sets of random words")

    small = int(np.count_nonzero(p_values <= LEVEL))
    limit = largest_count(len(p_values))
    ensure(
        small <= limit,
        f"{small} of {len(p_values)} sets with candidates and references of one "
        f"source have p of {LEVEL} or less; expected at most {limit}: fit nothing, "
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


def equal_labels(subject: AnySubject) -> None:
    """Eight texts without a common token, 4 against 4:
    p is 1 where the component does not tell them apart.
    """
    _ = subject.base
    ensure_equal_labels(Discrepancy(subject.component))


def one_source(subject: AnySubject) -> None:
    """Of 200 sets with candidates and references of one source,
    at most 22 have p of 0.05 or less.
    """
    _ = subject.base
    ensure_one_source(Discrepancy(subject.component))
