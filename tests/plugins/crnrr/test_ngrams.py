"""CR, NRR and CND against exact fractions."""

import json
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.ngram_values import cr_nrr_cnd

FIELDS = {
    "CR": "cr",
    "NRR": "nrr",
    "CND": "cnd",
    "NRR_u": "nrr_unbiased",
    "CND_u": "cnd_unbiased",
    "NRR_cross_sentence": "nrr_cross_sentence",
}
corpora = st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=6)


@pytest.fixture(scope="module")
def golden(golden):
    return json.loads((golden / "crnrr/crnrr_corpora_golden.json").read_text())


def words(sentences):
    return [
        sentence.split() if isinstance(sentence, str) else sentence
        for sentence in sentences
    ]


def test_golden_values_exact(golden):
    for case in golden["tiny"] + golden["real"]:
        for n, expected in case["by_n"].items():
            result = cr_nrr_cnd(
                words(case["candidate"]), words(case["reference"]), int(n)
            )
            for name, field in FIELDS.items():
                value = getattr(result, field)
                if expected is None or expected[name] is None:
                    assert value is None, (case["name"], n, name)
                elif f"{name}_exact" in expected:
                    assert value == float(Fraction(expected[f"{name}_exact"])), (
                        case["name"],
                        n,
                        name,
                    )
                else:
                    assert value == pytest.approx(expected[name], abs=1e-15), (
                        case["name"],
                        n,
                        name,
                    )
            if expected:
                sums = result.sums
                assert sums is not None
                assert sums.total_q == expected["total_candidate"]


def exact(q, p, n):
    """The definition, in fractions."""
    grams = [
        [tuple(s[i : i + n]) for s in side for i in range(len(s) - n + 1)]
        for side in (q, p)
    ]
    if not grams[0] or not grams[1]:
        return None
    counts = [Counter(side) for side in grams]
    f = [
        {g: Fraction(c, len(side)) for g, c in count.items()}
        for side, count in zip(grams, counts)
    ]
    keys = f[0].keys() | f[1].keys()
    by_sentence = [[tuple(s[i : i + n]) for i in range(len(s) - n + 1)] for s in q]
    pairs = [
        (a, b)
        for i, s in enumerate(by_sentence)
        for j, t in enumerate(by_sentence)
        if i != j
        for a in s
        for b in t
    ]
    return {
        "cr": sum(f[0].get(g, 0) * f[1].get(g, 0) for g in keys),
        "nrr": -sum(v * v for v in f[0].values()),
        "cnd": sum((f[0].get(g, 0) - f[1].get(g, 0)) ** 2 for g in keys),
        "nrr_cross_sentence": -Fraction(sum(a == b for a, b in pairs), len(pairs))
        if pairs
        else None,
    }


@given(corpora, corpora, st.integers(1, 5))
def test_definition(q, p, n):
    result = cr_nrr_cnd(q, p, n)
    expected = exact(q, p, n)
    if expected is None:
        assert (result.cr, result.nrr, result.cnd) == (None, None, None)
        assert f"no {n}-gram" in result.note
        return
    for field, value in expected.items():
        actual = getattr(result, field)
        assert actual is None if value is None else actual == float(value)


def test_undefined_results_and_invalid_input():
    assert cr_nrr_cnd([["a"]], [["a", "b"]], 2).note == "the candidates hold no 2-gram"
    assert (
        cr_nrr_cnd([], [], 1).note == "the candidates and the references hold no 1-gram"
    )


@given(corpora, corpora, st.integers(1, 4))
def test_bounds_and_symmetry(q, p, n):
    result = cr_nrr_cnd(q, p, n)
    if result.cr is None or result.nrr is None or result.cnd is None:
        return
    assert 0 <= result.cr <= 1 and -1 <= result.nrr < 0 and result.cnd >= 0
    assert cr_nrr_cnd(p, q, n).cnd == result.cnd
    assert cr_nrr_cnd(q, q, n).cnd == 0
