"""Enumerated text distributions against golden values."""

import json

import numpy as np
import pytest

from harness.errors import InputError
from harness_tasks.text_spaces.frontier import PAIRS, pareto
from harness_tasks.text_spaces.spaces import (
    bleu_table,
    expected_bleu,
    expected_nsbleu,
    ngram_distribution,
    oracle,
    sigma_text,
    texts,
)


@pytest.fixture(scope="module")
def golden(golden):
    return json.loads((golden / "crnrr/crnrr_exact_golden.json").read_text())


def test_induced_ngrams_and_expected_bleu(golden):
    tables = {n: bleu_table(4, 3, n) for n in (1, 2, 3)}
    for case in golden["synthetic"]:
        p = np.array(case["P"])
        for model in case["models"]:
            q = pareto(PAIRS["LL-SE"], p, -model["beta"])
            for n in (1, 2, 3):
                shares_q, shares_p = (ngram_distribution(x, 4, 3, n) for x in (q, p))
                expected = model[f"CN-{n}"]
                values = {
                    "CR": shares_q @ shares_p,
                    "NRR": -(shares_q @ shares_q),
                    "CND": ((shares_q - shares_p) ** 2).sum(),
                }
                assert values == pytest.approx(expected, abs=1e-12)
                expected = model[f"BS-{n}"]
                assert expected_bleu(q, p, tables[n]) == pytest.approx(
                    expected["BLEU"], abs=1e-12
                )
                assert expected_nsbleu(q, tables[n]) == pytest.approx(
                    expected["NSBLEU"], abs=1e-12
                )


def test_entropy_of_the_oracle_decreases_with_sigma():
    entropies = []
    for sigma in (0.1, 1.0, 3.0):
        p = oracle(sigma, seed=0)
        assert p.shape == (64,)
        assert p.sum() == pytest.approx(1)
        entropies.append(-(p * np.log(p)).sum())
    assert entropies == sorted(entropies, reverse=True)
    np.testing.assert_array_equal(oracle(1.0, seed=3), oracle(1.0, seed=3))


def test_texts_by_index():
    assert texts(2, 3)[5].tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="too many"):
        texts(10, 9)
    with pytest.raises(InputError, match="no 4-grams"):
        ngram_distribution(np.ones(8) / 8, 2, 3, 4)


@pytest.mark.parametrize(
    ("sigma", "text"), [(1, "1"), (1.0, "1"), (0.25, "0.25"), ("uniform", "uniform")]
)
def test_signatures_name_sigma(sigma, text):
    assert sigma_text(sigma) == text
