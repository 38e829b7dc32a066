"""Checks of permutation p-values: what is fitted on one side is noticed, what is fitted
on both or on nothing passes.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import partial

import numpy as np
import pytest

from harness.contracts import EncodesSets, TextDistance
from harness.registry import current, parameters
from harness.stats.significance import untestable_reason
from harness.testing import (
    check_distance,
    check_embedding,
    check_metric,
    exchangeability,
)
from harness.testing.results import NotApplicable, Violation
from tests.support import metric_cases

CHECKS = ("equal-labels", "one-source", "corpus-state")
NEEDS_MODELS = {"minilm", "glove", "wmd", "bert"}
"""Components that read a table of word vectors or a network."""
REASONS = (
    "tells texts without a common token apart",
    "is undefined for texts without a common token",
    "is undefined for sets of random words",
)
"""Reasons of metrics with p-values for which a check is not applicable."""


class WordsOfReferences:
    """Counts of the words of the references, as the embedding ``bow`` had them: a
    vocabulary that knows the labels.
    """

    name = "reference-words"
    held_fixed = "vocabulary held fixed"

    def __init__(self, *, vocabulary: int = 5000) -> None:
        self.vocabulary = vocabulary

    def signature(self):
        return f"reference-words|{self.vocabulary}"

    def fit(self, references):
        counts = Counter(
            word
            for texts in references
            for text in texts
            for word in text.lower().split()
        )
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        self.column = {word: k for k, word in enumerate(ranked[: self.vocabulary])}

    def encode(self, texts):
        counts = np.zeros((len(texts), len(self.column)), dtype=np.float32)
        for row, text in zip(counts, texts):
            for word in text.lower().split():
                if word in self.column:
                    row[self.column[word]] += 1
        return counts


class Undeclared(WordsOfReferences):
    """The same without a word about what is fitted."""

    name = "undeclared"
    held_fixed = ""


class Untested(WordsOfReferences):
    """The same for metrics without p-values."""

    name = "untested"
    untestable = "counts the words of the references"


class WordsOfBothSides(WordsOfReferences):
    """Words of all texts of an example, for metrics of each example."""

    name = "words-of-both-sides"

    def encode_set(self, texts):
        words = sorted({word for text in texts for word in text.lower().split()})
        counts = np.zeros((len(texts), len(self.column)), dtype=np.float32)
        for row, text in zip(counts, texts):
            for word in text.lower().split():
                row[words.index(word) % counts.shape[1]] += 1
        return counts


class RareWords(TextDistance):
    """Share of the words of two texts that both have, weighed by the documents of the
    references that have them.
    """

    name = "rare-words"
    held_fixed = "document frequencies held fixed"

    def matrices(self, batch, features):
        counts = Counter(
            word
            for texts in features.references
            for word in {word for text in texts for word in text.split()}
        )

        def weight(words):
            return sum(1.0 if counts[word] else 9.0 for word in words)

        bags = [[set(text.split()) for text in texts] for texts in batch.texts]
        return np.array(
            [
                [
                    [1 - weight(a & b) / max(weight(a | b), 1) for b in texts]
                    for a in texts
                ]
                for texts in bags
            ]
        )


def outcomes_of(outcomes):
    return {outcome.check: outcome for outcome in outcomes if outcome.check in CHECKS}


def test_a_vocabulary_of_the_references_is_noticed():
    found = outcomes_of(check_embedding(WordsOfReferences()))
    assert [found[check].status for check in CHECKS] == [
        "fail",
        "fail",
        "not applicable",
    ]
    assert "under all labels and p 0.0286; expected 1" in found["equal-labels"].reason
    small = int(found["one-source"].reason.split()[0])
    assert small > 60, "many more than the ten or so of an exact test"
    assert found["corpus-state"].reason == "declares it: vocabulary held fixed"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mmd", "energy", "sliced-wasserstein"])
def test_metrics_of_a_vocabulary_of_the_references_have_small_p_values(name):
    metric = current().create("metrics", name, {"embedding": WordsOfReferences()})
    for ensure in (
        exchangeability.ensure_equal_labels,
        exchangeability.ensure_one_source,
    ):
        with pytest.raises(Violation):
            ensure(metric)
    found = outcomes_of(check_metric({name: {"embedding": "bow"}}))
    assert "fail" not in {outcome.status for outcome in found.values()}


def test_what_a_component_does_not_declare_is_refused():
    found = outcomes_of(check_embedding(Undeclared()))
    assert (
        found["corpus-state"].failed
        and "give it held_fixed" in found["corpus-state"].reason
    )
    assert (
        "which is fitted on the references of the task: set MetricSpec(held_fixed="
        in found["one-source"].reason
    )
    metric = current().create("metrics", "energy", {"embedding": Undeclared()})
    assert {outcome.reason for outcome in check_metric(metric) if outcome.failed} == {
        "raised metric 'energy(undeclared)' declares no corpus state and reads the "
        "embedding 'undeclared', which is fitted on the "
        "references of the task: set MetricSpec(held_fixed='... held fixed'), "
        "which metrics of an embedding or distance take from its "
        "attribute held_fixed"
    }


def test_a_component_without_p_values_is_not_tested():
    found = outcomes_of(check_embedding(Untested()))
    assert {found[check].status for check in CHECKS} == {"not applicable"}
    assert (
        found["one-source"].reason
        == "has no p-values: counts the words of the references"
    )


def test_texts_of_both_sides_may_be_fitted_together():
    assert isinstance(WordsOfBothSides(), EncodesSets)
    found = outcomes_of(check_embedding(WordsOfBothSides()))
    assert not any(outcome.failed for outcome in found.values())


def test_weights_of_the_references_are_noticed_in_a_distance():
    found = outcomes_of(check_distance(RareWords()))
    assert (
        found["one-source"].failed and found["corpus-state"].status == "not applicable"
    )
    undeclared = RareWords()
    undeclared.held_fixed = ""
    assert outcomes_of(check_distance(undeclared))["one-source"].failed


def test_a_metric_that_tells_random_texts_apart_has_no_equal_labels():
    with pytest.raises(NotApplicable, match="tells texts without a common token apart"):
        exchangeability.ensure_equal_labels(
            current().create("metrics", "pairwise", {"distance": ByLength()})
        )


class ByLength(TextDistance):
    """Difference of the numbers of characters."""

    name = "by-length"

    def pairwise(self, texts):
        lengths = np.array([len(text) for text in texts], dtype=float)
        return abs(lengths[:, None] - lengths)


def test_data_sets_are_as_small_as_p_values_permit():
    def size(name, **values):
        return exchangeability.data_set_size(current().create("metrics", name, values))

    assert size("mmd", embedding="bow") == 200, (
        "nothing is fitted: the sets are examples of one data set"
    )
    assert size("mmd", embedding=WordsOfReferences()) == 1
    assert size("cider") == 50 == size("trm", distance="cider")
    assert size("cider", df=[["a dog"], ["a cat"]]) == 1


def test_metrics_with_too_many_texts_are_not_tested():
    metric = current().create(
        "metrics", "density-example", {"distance": "rouge", "k": 4}
    )
    with pytest.raises(
        NotApplicable, match="does not score 4 candidates and 4 references"
    ):
        exchangeability.ensure_one_source(metric)


def test_the_largest_count_is_rarely_exceeded():
    def beyond(tests):
        limit = exchangeability.largest_count(tests)
        return sum(
            math.comb(tests, k) * 0.05**k * 0.95 ** (tests - k)
            for k in range(limit + 1, tests + 1)
        )

    assert exchangeability.largest_count(200) == 22
    assert [beyond(tests) < 1e-3 for tests in (50, 100, 200)] == [True] * 3


def forms():
    """Return name and parameters of each built-in metric with p-values, over each
    embedding and distance without further files.
    """
    found = []
    for name in metric_cases.names():
        values = dict(metric_cases.PARAMETERS.get(name, {}))
        if name in metric_cases.CANNOT_RUN or values.get("judge"):
            continue

        known = parameters(current().load("metrics", name))
        variants = [values]
        if "embedding" in known:
            variants = [
                {**values, "embedding": embedding}
                for embedding in ("bow", "glove", "minilm")
            ]
        elif "distance" in known:
            names = ("bleu", "cider", "meteor", "rouge", "wmd", "bert")
            cosines = (
                {"bert": {"embedding": embedding}} for embedding in ("bow", "glove")
            )
            variants = [
                {**values, "distance": distance} for distance in (*names, *cosines)
            ]
        elif name == "bertscore":
            variants = [{"model": "minilm"}, {"model": "minilm", "idf": True}]
        found += [(name, variant) for variant in variants]
    return found


def reason_of(ensure, metric):
    """Return the reason why a check is not applicable to a metric;
    empty where the metric passes.
    """
    try:
        ensure(metric)
    except NotApplicable as reason:
        return str(reason)
    return ""


def is_slow(name, values):
    heavy = NEEDS_MODELS & {
        str(values.get(key)) for key in ("embedding", "distance")
    } or "glove" in str(values)
    return (
        bool(heavy)
        or name
        in {*metric_cases.SLOW, "best", "fense", "spider", "spider-max", "spider-fl"}
        or name.startswith("fact-")
    )


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param(
            name,
            values,
            id=f"{name}-{values}",
            marks=[pytest.mark.slow] if is_slow(name, values) else [],
        )
        for name, values in forms()
    ],
)
def test_built_in_p_values_of_one_source(name, values):
    metric = current().create("metrics", name, values)
    if metric.spec.level == "model" or untestable_reason(metric):
        pytest.skip("no p-values")
    assert reason_of(exchangeability.ensure_equal_labels, metric) in ("", *REASONS)
    assert reason_of(partial(exchangeability.ensure_one_source, count=200), metric) in (
        "",
        *REASONS,
    )
