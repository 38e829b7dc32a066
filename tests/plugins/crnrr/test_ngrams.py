"""CR, NRR and CND against exact fractions, and exact counting however the corpus is cut, packed or spilled."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError, InputError
from harness.plugins.crnrr import counting
from harness.plugins.crnrr.counting import NgramCounter, Vocabulary
from harness.plugins.crnrr.ngrams import compare, cr_nrr_cnd, cr_nrr_cnd_orders

FIELDS = {
    "CR": "cr", "NRR": "nrr", "CND": "cnd", "NRR_u": "nrr_unbiased", "CND_u": "cnd_unbiased", "NRR_cross_sentence": "nrr_cross_sentence",
}  # fmt: skip


@pytest.fixture(scope="module")
def golden(golden):
    return json.loads((golden / "crnrr/crnrr_corpora_golden.json").read_text())


def words(sentences):
    return [sentence.split() if isinstance(sentence, str) else sentence for sentence in sentences]


def test_golden_values_exact(golden):
    for case in golden["tiny"] + golden["real"]:
        for n, expected in case["by_n"].items():
            found = cr_nrr_cnd(words(case["candidate"]), words(case["reference"]), int(n))
            for name, field in FIELDS.items():
                value = getattr(found, field)
                if expected is None or expected[name] is None:
                    assert value is None, (case["name"], n, name)
                elif f"{name}_exact" in expected:
                    assert value == float(Fraction(expected[f"{name}_exact"])), (case["name"], n, name)
                else:
                    assert value == pytest.approx(expected[name], abs=1e-15), (case["name"], n, name)
            if expected:
                sums = found.sums
                assert (sums.total_q, sums.distinct_p) == (expected["total_candidate"], expected["distinct_reference"])


def exact(q, p, n):
    """The definition, in fractions."""
    grams = [[tuple(s[i : i + n]) for s in side for i in range(len(s) - n + 1)] for side in (q, p)]
    if not grams[0] or not grams[1]:
        return None
    counts = [Counter(side) for side in grams]
    f = [{g: Fraction(c, len(side)) for g, c in count.items()} for side, count in zip(grams, counts)]
    keys = f[0].keys() | f[1].keys()
    by_sentence = [[tuple(s[i : i + n]) for i in range(len(s) - n + 1)] for s in q]
    pairs = [
        (a, b) for i, s in enumerate(by_sentence) for j, t in enumerate(by_sentence) if i != j for a in s for b in t
    ]
    return {
        "cr": sum(f[0].get(g, 0) * f[1].get(g, 0) for g in keys),
        "nrr": -sum(v * v for v in f[0].values()),
        "cnd": sum((f[0].get(g, 0) - f[1].get(g, 0)) ** 2 for g in keys),
        "nrr_cross_sentence": -Fraction(sum(a == b for a, b in pairs), len(pairs)) if pairs else None,
    }


corpora = st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=6)


@settings(max_examples=60, deadline=None)
@given(corpora, corpora, st.integers(1, 5), st.sampled_from([0, 64]))
def test_definition(q, p, n, short):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_SHORT", short)  # 0: the way for long sentences
        check_definition(q, p, n)


def check_definition(q, p, n):
    found, expected = cr_nrr_cnd(q, p, n), exact(q, p, n)
    if expected is None:
        assert (found.cr, found.nrr, found.cnd) == (None, None, None)
        assert f"no {n}-gram" in found.note
        return
    for field, value in expected.items():
        got = getattr(found, field)
        assert got is None if value is None else got == float(value)


@settings(max_examples=30, deadline=None)
@given(corpora, corpora, st.integers(0, 6), st.booleans())
def test_shards_with_their_own_vocabularies_merge_to_one_pass(q, p, cut, wide):
    whole = cr_nrr_cnd_orders(q, p)
    first, second, other = (NgramCounter() for _ in range(3))
    if wide:  # a vocabulary of more than 2**16 words: 32 bits a word
        second.vocabulary.ids([list(range(70_000))], 70_000)
    first.add(q[:cut])
    second.add(q[cut:])
    other.add(p)
    assert compare(second.merge(first), other) == whole
    assert second.sentences == len(q)


def random_corpus(rng, sentences, vocabulary):
    return [rng.integers(0, vocabulary, rng.integers(0, 9)).tolist() for _ in range(sentences)]


def test_chunks_spilling_and_ranges_change_nothing(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    q, p = random_corpus(rng, 500, 12), random_corpus(rng, 300, 12)
    whole = cr_nrr_cnd_orders(q, p)
    monkeypatch.setattr(counting, "CHUNK", 37)
    vocabulary = Vocabulary()
    sides = [NgramCounter(vocabulary=vocabulary, directory=tmp_path, memory=200).add(iter(side)) for side in (q, p)]
    assert len(list(tmp_path.glob("*.npy"))) > 20
    assert compare(*sides) == whole
    ranges = list(counting.partitions([side.counts[2].runs for side in sides], size=16))
    assert len(ranges) > 5
    assert sum(int(run.counts.sum()) for run, _ in ranges) == sides[0].counts[2].total


def test_widening_keeps_runs_that_are_there(monkeypatch):
    rng = np.random.default_rng(1)
    q, p = random_corpus(rng, 200, 90_000), random_corpus(rng, 200, 90_000)
    q += q[:50]
    monkeypatch.setattr(counting, "CHUNK", 20)
    q = [[f"w{w}" for w in sentence] for sentence in q] + [[str(w) for w in range(66_000)]]
    found = cr_nrr_cnd_orders(q, p + q[:30], (1, 3, 4))
    for n, result in found.items():
        grams = [Counter(tuple(s[i : i + n]) for s in side for i in range(len(s) - n + 1)) for side in (q, p + q[:30])]
        assert result.sums.qq == sum(c * c for c in grams[0].values())
        assert result.sums.qp == sum(c * grams[1][g] for g, c in grams[0].items())


def test_undefined_and_bad_input():
    assert cr_nrr_cnd([["a"]], [["a", "b"]], 2).note == "the candidates hold no 2-gram"
    assert cr_nrr_cnd([], [], 1).note == "the candidates and the references hold no 1-gram"
    for n in (0, -1, 1.5, True):
        with pytest.raises(HarnessError, match="an integer of at least 1"):
            cr_nrr_cnd([["a"]], [["a"]], n)
    with pytest.raises(InputError, match="sentence 1: found the text 'a dog', expected a list of tokens"):
        cr_nrr_cnd([["a"], "a dog"], [["a"]], 1)
    with pytest.raises(HarnessError, match="cannot be merged"):
        NgramCounter((1,)).merge(NgramCounter((2,)))
