"""Exact discrepancies of known distributions."""

import json
from typing import Any

import numpy as np
import pytest

from harness.contracts import TokenScores
from harness.errors import HarnessError, InputError
from harness_tasks.text_spaces.adapter import LstmOracle
from harness_tasks.text_spaces.metrics import (
    ExactDiscrepancy,
    TextSpace,
    bleu_pair,
    distribution_of,
    ngram_pair,
)
from harness_tasks.text_spaces.reader import SyntheticTexts
from harness_tasks.text_spaces.spaces import (
    bleu_table,
    expected_bleu,
    expected_nsbleu,
    ngram_distribution,
)

EXAMPLES = list(SyntheticTexts())


def scored(p):
    return [
        [
            TokenScores(
                np.array([np.log(x), 0, 0]), np.zeros(3), tuple(e.references[0].split())
            )
        ]
        for x, e in zip(p, EXAMPLES)
    ]


def test_the_distribution_is_read_in_any_order():
    p = LstmOracle(sigma=1.0).distribution()
    result, size, length = distribution_of(scored(p)[::-1])
    np.testing.assert_allclose(result, p, rtol=1e-12)
    assert (size, length) == (4, 3)


def test_missing_texts_and_other_sums_are_refused():
    p = np.full(64, 1 / 64)
    with pytest.raises(
        InputError, match="found the scores of 63 texts; 4 words and length 3 make 64"
    ):
        distribution_of(scored(p)[:63])
    with pytest.raises(InputError, match="sum to 0.5"):
        distribution_of(scored(p / 2))


def test_torch_forms_agree_with_enumeration(golden):
    import torch

    case = json.loads((golden / "crnrr/crnrr_exact_golden.json").read_text())[
        "synthetic"
    ][1]
    p = np.array(case["P"])
    q = p**2 / (p**2).sum()
    for n in (1, 2, 3):
        table = bleu_table(4, 3, n)
        quality, diversity = bleu_pair(p, table)
        assert quality(torch.tensor(q)).item() == pytest.approx(
            expected_bleu(q, p, table), rel=1e-12
        )
        assert diversity(torch.tensor(q)).item() == pytest.approx(
            expected_nsbleu(q, table), rel=1e-12
        )
        quality, diversity = ngram_pair(p, 4, 3, n)
        shares_q, shares_p = (ngram_distribution(x, 4, 3, n) for x in (q, p))
        assert quality(torch.tensor(q)).item() == pytest.approx(
            shares_q @ shares_p, rel=1e-12
        )
        assert diversity(torch.tensor(q)).item() == pytest.approx(
            -shares_q @ shares_q, rel=1e-12
        )


@pytest.mark.slow
def test_bleu_can_gain_over_the_real_distribution_and_cr_nrr_cannot():
    metric = ExactDiscrepancy(orders=[2], starts=1, steps=300)
    values = metric.evaluate_scores(
        list(LstmOracle(sigma=1.0).score_references(EXAMPLES))
    )
    assert values["BS-2"] > 1e-3 and 0 < values["BS-2 rate"] < 1
    assert values["CN-2"] < 1e-12
    assert abs(values["LL-SE"]) < 1e-9 and abs(values["CR-NRR"]) < 1e-9
    assert values["LL-NRR"] > 1e-3 and values["CR-SE"] > 1e-4


def test_quality_and_diversity_of_the_oracle():
    values = TextSpace(sigma=1.0).evaluate_scores(
        list(LstmOracle(sigma=1.0).score_references(EXAMPLES))
    )
    assert values["LL"] == pytest.approx(-values["SE"])
    assert values["CR"] == pytest.approx(-values["NRR"])


def test_signatures_and_invalid_parameters():
    assert (
        ExactDiscrepancy(orders=[2], steps=5).signature()
        == "text-space-qdisc|n:2|starts:3|steps:5|penalty:2|seed:0"
    )
    assert (
        TextSpace(sigma=0.5, seed=1).signature() == "text-space|sigma:0.5|seed:1|H:32"
    )
    options: dict[str, Any] = {"orders": [0], "steps": 1.5, "penalty": 0}
    for parameter, value in options.items():
        with pytest.raises(
            HarnessError, match=f"ExactDiscrepancy: {parameter} is"
        ) as caught:
            ExactDiscrepancy(**{parameter: value})
        assert caught.value.parameter == parameter
    with pytest.raises(HarnessError, match="sigma is -1"):
        TextSpace(sigma=-1)


def test_metrics_have_no_values_per_example():
    assert TextSpace(sigma=0.5).per_example(scored(np.full(64, 1 / 64))) == {}


def test_orders_and_ranks_of_a_model_that_is_the_oracle():
    p = LstmOracle(sigma=1.0).distribution()
    values = TextSpace(sigma=1.0, orders=[1, 2], ranks=[1, 64]).evaluate_scores(
        list(LstmOracle(sigma=1.0).score_references(list(SyntheticTexts())))
    )
    assert values["CND-2"] == pytest.approx(0.0, abs=1e-15)
    assert values["CR-1"] == pytest.approx(-values["NRR-1"])
    assert values["BLEU-2"] == pytest.approx(-values["NSBLEU-2"])
    assert values["log Q 1"] == pytest.approx(np.log(p.max())) and values[
        "log Q 64"
    ] == pytest.approx(np.log(p.min()))


@pytest.mark.parametrize(
    "params",
    [
        {"sigma": 0},
        {"sigma": "other"},
        {"sigma": 1, "orders": [0]},
        {"sigma": 1, "ranks": [0]},
    ],
)
def test_parameters_out_of_range(params):
    with pytest.raises(HarnessError, match="(?i)text-?space: .* expected"):
        TextSpace(**params)


@pytest.mark.slow
def test_the_curve_of_the_ascent_ends_at_the_bound_or_below():
    scores = scored(LstmOracle(sigma=0.5).distribution())
    metric = ExactDiscrepancy(orders=[2], starts=1, steps=100, curve=[25, 50, 100])
    values = metric.evaluate_scores(scores)
    steps = [values[f"BS-2 step {k}"] for k in (25, 50, 100)]
    assert min(steps) >= 0 and max(steps) <= values["BS-2"] + 1e-12
    assert metric.signature().endswith("|curve:25/50/100")
    with pytest.raises(HarnessError, match="multiples of 25 up to 100"):
        ExactDiscrepancy(steps=100, curve=[30])
