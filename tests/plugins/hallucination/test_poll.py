"""Polls against counts by hand; answers are told apart by their tokens."""

import numpy as np
import pytest

from harness.contracts import TokenScores
from harness.errors import HarnessError, InputError
from harness_metrics.hallucination.poll import Poll


def answer(log_prob, *tokens):
    return TokenScores(
        np.array([log_prob] * max(len(tokens), 1)),
        np.zeros(max(len(tokens), 1), int),
        tokens,
    )


def question(truth, p_yes):
    yes = answer(np.log(p_yes), "ĠYes")
    no = answer(np.log(1 - p_yes), "▁No", "</s>")
    return [yes, no] if truth else [no, yes]


# truth yes: two right, one wrong; truth no: one right, one wrong
ROWS = [
    question(True, 0.9),
    question(True, 0.8),
    question(True, 0.1),
    question(False, 0.1),
    question(False, 0.9),
]


def test_rates_by_hand():
    values = Poll(score="mean").evaluate_scores(ROWS)
    assert values == pytest.approx(
        {"accuracy": 0.6, "precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "yes": 0.6}
    )
    amber = Poll(score="mean", positive="no").evaluate_scores(ROWS)
    assert amber == pytest.approx(
        {"accuracy": 0.6, "precision": 0.5, "recall": 0.5, "f1": 0.5, "yes": 0.4}
    )
    assert Poll(score="mean").per_example(ROWS)["yes"].tolist() == [
        1.0,
        1.0,
        0.0,
        0.0,
        1.0,
    ]


def test_a_model_that_always_says_no_has_no_precision():
    values = Poll(score="mean").evaluate_scores(
        [question(True, 0.1), question(False, 0.1)]
    )
    assert np.isnan(values["precision"])
    assert (values["recall"], values["f1"], values["yes"]) == (0.0, 0.0, 0.0)


def test_a_tie_is_a_wrong_answer():
    assert (
        Poll(score="mean").evaluate_scores([question(True, 0.5), question(False, 0.5)])[
            "accuracy"
        ]
        == 0.0
    )


def test_intervals_contain_the_numbers():
    metric = Poll(score="mean")
    values = metric.evaluate_scores(ROWS * 10)
    ends = metric.intervals(ROWS * 10, 200, 0)
    for name, value in values.items():
        assert ends[name].ends[0] <= value <= ends[name].ends[1]


@pytest.mark.parametrize(
    "row, message",
    [
        ([answer(-1), answer(-2)], "example 0 have no tokens"),
        ([answer(-1, "yes"), answer(-2, "maybe")], "has the answers 'yes' and 'maybe'"),
        (
            [answer(-1, "yes"), answer(-2, "no"), answer(-3, "no")],
            "has 3 options; expected exactly 2",
        ),
    ],
)
def test_refused_questions(row, message):
    with pytest.raises(InputError, match=message):
        Poll().evaluate_scores([row])


@pytest.mark.parametrize(
    "params",
    [{"yes": "no"}, {"yes": "not", "no": "no"}, {"no": ""}, {"positive": "maybe"}],
)
def test_refused_parameters(params):
    with pytest.raises(HarnessError, match="(?i)poll: "):
        Poll(**params)


def test_other_languages():
    rows = [
        [answer(-1, "j", "a"), answer(-3, "ne", "in")],
        [answer(-1, "nein"), answer(-3, "ja")],
    ]
    assert Poll(yes="ja", no="nein").evaluate_scores(rows)["accuracy"] == 1.0
    assert Poll(yes="ja", no="nein").signature() == "poll|sum|ja/nein|positive:yes"


def test_rates_of_each_type_of_question():
    meta = [
        {"type": "object"},
        {"type": "relation"},
        {"type": "object"},
        {"type": "relation"},
        {"type": "object"},
    ]
    metric = Poll(score="mean", by="type").of_meta(meta)
    values = metric.evaluate_scores(ROWS)
    intervals = metric.intervals(ROWS, 100, 0)

    objects = Poll(score="mean").evaluate_scores([ROWS[0], ROWS[2], ROWS[4]])
    for name, value in objects.items():
        assert values[f"{name}, type=object"] == value
    assert Poll(score="mean").evaluate_scores(ROWS).items() <= values.items()
    assert set(intervals) == set(values) and len(values) == 15

    sizes = {
        f"{c}, type={t}": n
        for t, n in (("object", 3), ("relation", 2))
        for c in (*objects, "unparsed")
    }
    assert metric.column_sizes() == sizes
    assert metric.signature() == "poll|mean|yes/no|positive:yes|by:type"

    with pytest.raises(
        HarnessError, match="poll: by: type reads the metadata of examples"
    ):
        Poll(by="type").evaluate_scores(ROWS)
