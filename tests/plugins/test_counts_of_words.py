"""Numbers of metrics over counts of words have the same bits on every processor and
with any number of threads.

The pinned bits are those of one machine. ``make test-bits`` computes them as other
processors do.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from harness import registry
from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness.stats.significance import metric_p_values, untestable_reason
from tests.support.pinned import as_text, assert_pinned

WORDS = (
    "a",
    "the",
    "two",
    "red",
    "dog",
    "bus",
    "cat",
    "man",
    "runs",
    "sits",
    "waits",
    "on",
    "near",
    "grass",
    "street",
)


class Counts:
    """Embedding by counts of fixed words."""

    name = "counts"

    def signature(self):
        return "counts"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.array(
            [[text.split().count(word) for word in WORDS] for text in texts],
            dtype=np.float32,
        )


def some_sets(count: int, n: int, m: int) -> list[CaptionSet]:
    """Return sets of captions of few words: many distances are equal,
    some captions too.
    """
    generator = random.Random(count)

    def caption() -> str:
        return " ".join(generator.choices(WORDS, k=generator.randint(2, 6)))

    sets = [
        CaptionSet(
            str(k),
            tuple(caption() for _ in range(n)),
            tuple(caption() for _ in range(m)),
        )
        for k in range(count)
    ]
    twice = sets[1].references[0]
    return [
        CaptionSet("repeated", (twice,) * n, (*sets[0].references[1:], twice)),
        *sets,
    ]


COUNTS = {"embedding": Counts()}
COSINE = {"distance": {"bert": COUNTS}}
FORMS: list[tuple[str, dict[str, Any]]] = [
    ("mmd", COUNTS),
    ("mmd", {**COUNTS, "estimator": "unbiased"}),
    ("energy", COUNTS),
    ("frechet", COUNTS),
    ("sliced-wasserstein", COUNTS),
    ("sliced-wasserstein", {**COUNTS, "p": 1}),
    ("sliced-wasserstein", {**COUNTS, "p": 2.5}),
    ("mauve-example", COUNTS),
    ("mauve-example", {**COUNTS, "k": 3}),
    ("mauve-knn", {**COUNTS, "k": 2}),
    ("mauve-kde", COUNTS),
    ("mmdagg", {**COUNTS, "bandwidths": 3}),
    ("c2st", COUNTS),
    ("vendi", COUNTS),
    ("vendi", {**COUNTS, "q": 0.5}),
    ("trm", COSINE),
    ("precision-example", COSINE),
    ("recall-example", COSINE),
    ("density-example", COSINE),
    ("coverage-example", COSINE),
    ("production-variability", COSINE),
    ("reference-coverage", COSINE),
    ("semantic-entropy", COSINE),
    ("fense", COUNTS),
]
OF_CORPORA: list[tuple[str, dict[str, Any]]] = [
    ("mauve", COUNTS),
    ("mauve", {**COUNTS, "k": 20, "seed": 7}),
    ("corpus-mmd", {**COUNTS, "features": 32}),
    ("precision", COUNTS),
    ("recall", COUNTS),
    ("density", COUNTS),
    ("coverage", COUNTS),
    ("retrieval", COUNTS),
]


@pytest.mark.slow
@pytest.mark.equal_bits
def test_numbers_have_their_pinned_bits():
    sets = some_sets(9, 3, 4)
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)

    out = dict[str, Any]()
    for name, parameters in FORMS:
        metric = registry.resolve("metrics", {name: parameters})
        state = metric.fit(features.references, features)
        scores = metric.per_example(metric.stats(batch, features, state))
        row: dict[str, Any] = {"scores": scores.tolist()}
        if not untestable_reason(metric):
            p_values = metric_p_values(metric, batch, features, state, scores)
            row["p"] = p_values.values.tolist()
        out[metric.signature()] = row

    corpus = some_sets(60, 3, 3)
    features = FeatureCache([item.references for item in corpus])
    for name, parameters in OF_CORPORA:
        metric = registry.resolve("metrics", {name: parameters})
        state = metric.fit(features.references, features)
        stats = metric.stats(features.batch(corpus), features, state)
        details = getattr(metric, "details", lambda stats: {})(stats)
        out[metric.signature()] = {"number": metric.reduce(stats), "details": details}

    assert_pinned(
        "metrics/functions/counts_of_words.txt",
        as_text(out),
        relative=0.0,
        absolute=0.0,
    )
