"""CIDEr-R against a plain program of its formula."""

import math
from collections import Counter

import numpy as np
import pytest

from caption_kernels_reference.cider import repetition_penalty
from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.ngram.cider_r import CiderR
from tests.support.cider_formula import document_frequencies, vectors


@parametrize_with_checks([CiderR()])
def test_contract(check):
    check()


def by_definition(hyp, refs, df, documents):
    total = 0.0
    for ref in refs:
        a = Counter(hyp)
        b = Counter(ref)
        shares = [1 / (1 + (abs(a[w] - b[w]) if w in b else a[w] - 1)) for w in a]
        repetition = math.prod(shares) ** (1 / len(shares)) if shares else 1.0
        n = max(len(hyp), 1)
        m = max(len(ref), 1)
        penalty = repetition**0.8 * math.exp(-((n - m) ** 2) / m**2) ** 0.2
        for h, r in zip(vectors(hyp, df, documents), vectors(ref, df, documents)):
            dot = sum(min(x, r[g]) * r[g] for g, x in h.items() if g in r)
            norm = math.sqrt(sum(x * x for x in h.values())) * math.sqrt(
                sum(x * x for x in r.values())
            )
            total += penalty * (dot / norm if norm else 0.0)
    return 10 * total / 4 / len(refs)


def test_scores_by_the_definition():
    rng = np.random.default_rng(0)

    def text(least):
        return " ".join(rng.choice(list("abcdefg"), rng.integers(least, 40)))

    sets = [
        CaptionSet(str(k), (text(0), text(3)), (text(1), text(5), text(2)))
        for k in range(8)
    ]
    features = FeatureCache([item.references for item in sets])
    metric = CiderR(tokenizer="none")
    batch = features.batch(sets)
    scores = metric.scores(batch, features, metric.fit(features.references, features))
    df = document_frequencies(
        [[text.split() for text in item.references] for item in sets]
    )
    for score, item in zip(scores, sets):
        refs = [text.split() for text in item.references]
        expected = [
            by_definition(text.split(), refs, df, len(sets)) for text in item.candidates
        ]
        assert score == pytest.approx(np.mean(expected), abs=1e-9)


def test_repetition_of_words():
    assert repetition_penalty({}, {1: 1}) == 1.0
    assert repetition_penalty({5: 4}, {}) == pytest.approx(1 / 4)
    assert CiderR().signature() == "cider-r|df:task|tok:ptb"
