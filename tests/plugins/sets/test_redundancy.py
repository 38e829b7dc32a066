"""Compression and n-gram multisets by their definitions."""

import gzip
from collections import Counter

import numpy as np
import pytest

from harness_metrics.sets import redundancy
from harness_metrics.words.grams import words_of
from harness_metrics.words.keys import Vocabulary


def test_compression_ratio_does_not_depend_on_the_order():
    texts = [b"a dog runs", b"a cat sits", b"a dog sits"] * 20
    ratio = redundancy.compression_ratio(texts)
    whole = b"\n".join(sorted(texts))
    assert (
        ratio
        == len(whole) / len(gzip.compress(whole))
        == redundancy.compression_ratio(texts[::-1])
    )
    assert np.isnan(redundancy.compression_ratio([]))


def by_definition(candidates, references, n):
    logs = []
    for order in range(1, n + 1):
        sides = []
        for side in (candidates, references):
            counts = Counter(
                tuple(s[i : i + order]) for s in side for i in range(len(s) - order + 1)
            )
            sides.append({gram: count / len(side) for gram, count in counts.items()})
        grams = set(sides[0]) | set(sides[1])
        low = sum(min(side.get(gram, 0) for side in sides) for gram in grams)
        high = sum(max(side.get(gram, 0) for side in sides) for gram in grams)
        logs.append(np.log(low / high))
    return np.exp(np.mean(logs))


def test_ms_jaccard_by_the_definition():
    rng = np.random.default_rng(0)
    candidates, references = (
        [list(rng.choice(list("abc"), rng.integers(3, 8))) for _ in range(s)]
        for s in (5, 9)
    )
    vocabulary = Vocabulary()
    words = [words_of(side, vocabulary) for side in (candidates, references)]
    value = redundancy.ms_jaccard(*words, (5, 9), 3)
    assert value == pytest.approx(by_definition(candidates, references, 3), abs=1e-12)


def test_ms_jaccard_without_common_or_any_ngrams():
    vocabulary = Vocabulary()
    words = [words_of(side, vocabulary) for side in ([["a", "b"]], [["c", "d"]])]
    assert redundancy.ms_jaccard(*words, (1, 1), 2) == 0.0
    words = [words_of(side, vocabulary) for side in ([["a"]], [["a"]])]
    assert np.isnan(redundancy.ms_jaccard(*words, (1, 1), 2))
