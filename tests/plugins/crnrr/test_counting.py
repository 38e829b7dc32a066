"""Exact counts that do not depend on shards, chunks, packing and spilling."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, InputError
from harness_metrics.crnrr import counting
from harness_metrics.crnrr.counting import NgramCounter, Vocabulary
from harness_metrics.crnrr.ngrams import compare, cr_nrr_cnd_orders
from harness_metrics.crnrr.runs import partitions

corpora = st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=6)


def random_corpus(rng, sentences, vocabulary):
    return [rng.integers(0, vocabulary, rng.integers(0, 9)).tolist() for _ in range(sentences)]


@given(corpora, corpora, st.integers(0, 6), st.booleans())
def test_shards_with_separate_vocabularies_equal_one_pass(q, p, cut, wide):
    whole = cr_nrr_cnd_orders(q, p)
    first, second, other = (NgramCounter() for _ in range(3))
    if wide:  # more than 2**16 words: 32 bits per word
        second.vocabulary.ids([list(map(str, range(70_000)))], 70_000)
    first.add(q[:cut])
    second.add(q[cut:])
    other.add(p)
    assert compare(second.merge(first), other) == whole
    assert second.sentences == len(q)


def test_chunks_spilling_and_ranges_do_not_change_results(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    q, p = random_corpus(rng, 500, 12), random_corpus(rng, 300, 12)
    whole = cr_nrr_cnd_orders(q, p)
    monkeypatch.setattr(counting, "CHUNK", 37)
    vocabulary = Vocabulary()
    sides = [NgramCounter(vocabulary=vocabulary, directory=tmp_path, memory=200).add(iter(side)) for side in (q, p)]
    assert len(list(tmp_path.glob("*.npy"))) > 20
    assert compare(*sides) == whole
    ranges = list(partitions([side.counts[2].runs for side in sides], size=16))
    assert len(ranges) > 5
    assert sum(int(run.counts.sum()) for run, _ in ranges) == sides[0].counts[2].total


def test_runs_stay_exact_when_the_keys_are_widened(monkeypatch):
    rng = np.random.default_rng(1)
    q, p = random_corpus(rng, 200, 90_000), random_corpus(rng, 200, 90_000)
    q += q[:50]
    monkeypatch.setattr(counting, "CHUNK", 20)
    q = [[f"w{w}" for w in sentence] for sentence in q] + [[str(w) for w in range(66_000)]]
    results = cr_nrr_cnd_orders(q, p + q[:30], (1, 3, 4))
    for n, result in results.items():
        grams = [Counter(tuple(s[i : i + n]) for s in side for i in range(len(s) - n + 1)) for side in (q, p + q[:30])]
        assert result.sums is not None
        assert result.sums.qq == sum(c * c for c in grams[0].values())
        assert result.sums.qp == sum(c * grams[1][g] for g, c in grams[0].items())


def test_statistics_of_a_small_corpus():
    counter = NgramCounter((1, 2)).add([["a", "b", "a"], ["b"]])
    entry = counter.counts[1]
    assert (counter.sentences, entry.total, entry.within, entry.squares) == (2, 4, 4 + 1 + 1, 9 + 1)
    assert counter.counts[2].total == 2


def test_temporary_folder(monkeypatch):
    monkeypatch.setattr(counting, "CHUNK", 2)
    corpus = [["a", "b"], ["b", "c"], ["c", "d"], ["a", "b"], ["e", "f"]]
    counter = NgramCounter((2,), spill=True, memory=1).add(corpus)
    assert compare(counter, NgramCounter((2,), vocabulary=counter.vocabulary).add(corpus))[2].cnd == 0


def test_invalid_input():
    with pytest.raises(HarnessError, match="n is 0; expected an integer of at least 1"):
        NgramCounter((0,))
    with pytest.raises(InputError, match="sentence 1: found the text 'a dog', expected a list of tokens"):
        NgramCounter((1,)).add([["a"], "a dog"])
    with pytest.raises(HarnessError, match="cannot be merged"):
        NgramCounter((1,)).merge(NgramCounter((2,)))
