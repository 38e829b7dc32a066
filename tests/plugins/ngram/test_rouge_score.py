"""ROUGE of summaries against values of rouge_score (golden/rouge_score), under every
relabeling, and the names of both ROUGE-L.
"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.contracts import CaptionSet
from harness.contracts.bases import MeanMetric
from harness.errors import HarnessError, InputError
from harness.registry.display_names import display_name
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness_metrics.ngram import rouge_score
from harness_metrics.ngram.rouge_score import Rouge1, Rouge2, RougeL, RougeLsum

KINDS = {"rouge1": Rouge1, "rouge2": Rouge2, "rougeL": RougeL, "rougeLsum": RougeLsum}
STATISTICS = ("precision", "recall", "fmeasure")
texts = st.lists(
    st.sampled_from(["a", "dogs", "running", "the", "b3", "é", "\n", "."]), max_size=14
).map(" ".join)


def scores_of(metric, sets):
    features = FeatureCache([item.references for item in sets])
    return metric.scores(features.batch(sets), features, None)


@pytest.fixture(scope="module")
def items(golden):
    return json.loads(
        gzip.decompress((golden / "rouge_score" / "scores.json.gz").read_bytes())
    )


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("stem", [False, True])
def test_all_digits_are_those_of_rouge_score(items, name, statistic, stem):
    metric = KINDS[name](stem=stem, statistic=statistic)
    for count in (1, 3):
        chosen = [item for item in items if len(item["references"]) == count]
        assert len(chosen) > 30
        found = scores_of(
            metric,
            [
                CaptionSet(str(k), (row["candidate"],), tuple(row["references"]))
                for k, row in enumerate(chosen)
            ],
        )
        assert found.tolist() == [
            row["scores"][name][stem][STATISTICS.index(statistic)] for row in chosen
        ]


@settings(max_examples=25, deadline=None)
@given(data=st.data(), n=st.integers(1, 3), m=st.integers(1, 3))
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("statistic", ["fmeasure", "recall"])
def test_the_null_is_the_score_under_every_relabeling(
    batch_of, data, n, m, name, statistic
):
    rows = data.draw(
        st.lists(
            st.lists(texts, min_size=n + m, max_size=n + m), min_size=1, max_size=2
        )
    )
    features, batch = batch_of(rows, n)
    labels = permutation.relabelings(n, m)
    metric = KINDS[name](statistic=statistic)
    null = metric.null(batch, features, None, labels)
    assert np.array_equal(null, MeanMetric.null(metric, batch, features, None, labels))
    assert np.array_equal(null[:, 0], metric.scores(batch, features, None))


def test_the_reference_with_the_largest_f_gives_all_three_statistics():
    sets = [CaptionSet("1", ("a b c d",), ("a", "a b c x y"))]
    found = {
        statistic: float(scores_of(Rouge1(statistic=statistic), sets)[0])
        for statistic in STATISTICS
    }
    assert found == {
        "precision": 3 / 4,
        "recall": 3 / 5,
        "fmeasure": 2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5),
    }


def test_lines_are_the_sentences_of_a_summary_and_a_text_of_one_line_has_rouge_l():
    lines = [CaptionSet("1", ("the cat sat\na dog ran",), ("a dog ran\nthe cat sat",))]
    assert scores_of(RougeLsum(), lines).tolist() == [1.0]
    assert scores_of(RougeL(), lines).tolist() == [0.5]
    one = [CaptionSet("1", ("the cat sat on a mat",), ("a cat sat on the mat\n",))]
    assert (
        scores_of(RougeLsum(), one).tolist()
        == scores_of(RougeL(), one).tolist()
        == [4 / 6]
    )


@pytest.mark.parametrize("text", ["", "\n\n", "!?", "狗"])
@pytest.mark.parametrize("name", KINDS)
def test_a_text_without_words_scores_zero_even_with_itself(name, text):
    assert scores_of(
        KINDS[name](),
        [CaptionSet("1", (text,), (text,)), CaptionSet("2", (text,), ("a dog",))],
    ).tolist() == [0.0, 0.0]


def test_other_tokenisers_are_for_texts_whose_letters_rouge_score_drops():
    sets = [CaptionSet("1", ("一只狗在跑",), ("一只狗跑",))]
    assert scores_of(Rouge1(), sets).tolist() == [0.0]
    assert (
        scores_of(Rouge1(tokenizer="zh"), sets)[0]
        == scores_of(RougeL(tokenizer="characters"), sets)[0]
        == 2 * 0.8 / 1.8
    )
    with pytest.raises(
        InputError,
        match="^rouge1: stem is for the words of rouge_score; found tokenizer 'zh'$",
    ):
        Rouge1(stem=True, tokenizer="zh")


def test_signatures():
    assert Rouge1().signature() == "rouge1|fmeasure|tok:rouge-score"
    assert (
        RougeLsum(stem=True, statistic="recall").signature()
        == "rougeLsum|recall|tok:rouge-score-stems"
    )
    assert (
        RougeL(tokenizer="characters").signature() == "rougeL|fmeasure|tok:characters"
    )


def test_both_rouge_ls_stand_in_one_table_under_names_of_their_own():
    candidates = [["a dog runs on grass"], ["two cats"]]
    references = [["the dog runs"], ["two grey cats"]]
    scores = harness.score(
        candidates, references, ["rouge", "rougeL", "rouge1:stem=true"]
    )
    assert list(scores) == ["rouge", "rougeL", "rouge1"]
    assert scores["rougeL"].value == pytest.approx(
        (2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3) + 2 * (2 / 3) / (1 + 2 / 3)) / 2,
        rel=1e-12,
    )
    assert scores["rouge"].value != scores["rougeL"].value
    shown = [
        display_name(record.metric, record.signature) for record in scores.values()
    ]
    assert shown == ["ROUGE-L (COCO)", "ROUGE-L (rouge_score)", "ROUGE-1"]
    with pytest.raises(
        HarnessError, match="metric 'ROUGE-L' may be 'rouge' .* or 'rougeL' "
    ):
        harness.score(candidates, references, ["ROUGE-L"])


def test_shares_of_nothing_are_zero():
    shares = rouge_score.shares_of(
        np.zeros((1, 1, 1)), np.zeros((1, 1)), np.zeros((1, 1))
    )
    assert [float(part[0, 0, 0]) for part in shares] == [0.0, 0.0, 0.0]
