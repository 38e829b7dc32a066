"""The base of metrics by a judge: its spec, its signature, the note on scales."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Batch, CaptionSet
from harness.errors import HarnessError
from harness_metrics.judges.answers import COLUMNS, STATUSES, verdict_of_text
from harness_metrics.judges.judge_metric import JudgeMetric

NAN = float("nan")


class OfSets(JudgeMetric):
    of_all_candidates = True


def make(overlap, *settings, unanswered="undefined", needs=("references",), cls=OfSets):
    return cls("fox", overlap, unanswered, frozenset(needs), *settings)


def test_the_spec_tells_on_what_a_score_depends(overlap):
    spec = make(overlap).spec
    assert spec.depends_on == {"references", "candidates"}
    assert (spec.min_references, spec.min_texts) == (1, 2)
    assert spec.bounds == (0.0, 1.0) and spec.higher_is_better
    spec = make(overlap, needs=(), cls=JudgeMetric).spec
    assert spec.depends_on == frozenset()
    assert (spec.min_references, spec.min_texts) == (0, 1)
    spec = make(overlap, needs=("source",), cls=JudgeMetric).spec
    assert spec.needs == {"source"} and spec.depends_on == frozenset()


def test_the_signature_has_settings_and_the_judge(overlap):
    signature = make(overlap, "n:2", "x:y").signature()
    assert signature.startswith("fox|n:2|x:y|") and "overlap" in signature
    assert "unanswered" not in signature
    lowest = make(overlap, "n:2", unanswered="lowest").signature()
    assert lowest.startswith("fox|n:2|unanswered:lowest|")


def test_a_caption_without_an_answer_is_undefined_or_lowest(overlap):
    assert np.isnan(make(overlap).default)
    assert make(overlap, unanswered="lowest").default == 0.0
    with pytest.raises(HarnessError, match="unanswered is 'highest'"):
        make(overlap, unanswered="highest")


def test_verdicts_are_those_of_each_candidate_in_order(scripted):
    judge = scripted(lambda talk: talk[0]["content"].upper())
    metric = make(judge, cls=JudgeMetric)
    sets = tuple(
        CaptionSet(str(k), (f"a{k}", f"b{k}"), ("r",), media=f"{k}.png")
        for k in range(3)
    )
    batch = Batch(sets, np.zeros((3, 3), dtype=int), 2, 1)
    verdicts = metric.ask_each(
        batch, lambda item, caption: f"{item.id} {caption}", verdict_of_text
    )
    assert [[verdict.value for verdict in row] for row in verdicts] == [
        [f"{k} A{k}", f"{k} B{k}"] for k in range(3)
    ]


def note(overlap, grades, valid, low=0.0, high=100.0, unanswered="undefined", failed=0):
    """Return the note on means of grades (B, k) of ``valid`` answers each."""
    grades = np.array(grades)
    counts = np.zeros((len(grades), len(COLUMNS)))
    counts[:, 0] = valid
    counts[:, STATUSES.index("invalid")] = failed
    metric = make(overlap, unanswered=unanswered)
    return metric.scale_note(grades, counts, low, high).get("scale_note", "")


@pytest.mark.parametrize(
    ("grades", "is_noted"),
    [
        ([[0.005], [0.009]], True),
        ([[0.005], [0.5]], False),  # 50 of 100
        ([[0.0], [0.01]], False),  # whole grades of 0 and 1
        ([[NAN], [0.005]], True),
        ([[NAN], [NAN]], False),
        ([[0.005, 0.9]], False),  # by another criterion
    ],
)
def test_grades_of_0_to_1_with_fractions_are_noted(overlap, grades, is_noted):
    assert bool(note(overlap, grades, 1)) is is_noted


def test_other_scales_have_no_note(overlap):
    assert "on a scale of 0 to 10: " in note(overlap, [[0.05]], 1, high=10.0)
    assert not note(overlap, [[0.05]], 1, high=9.0)
    assert not note(overlap, [[0.005]], 1, low=1.0)


def test_a_mean_of_whole_grades_has_no_fractions(overlap):
    # 0 and 1 of 100: the mean .5 is no answer with a fraction
    assert not note(overlap, [[0.005]], 2)
    assert note(overlap, [[0.0025]], 2)
    # One answer of 1, and one without a grade that counts as 0.
    assert not note(overlap, [[0.005]], 1, unanswered="lowest", failed=1)


def test_details_are_the_counts_of_the_last_columns(overlap):
    stats = np.zeros((2, 1 + len(COLUMNS)))
    stats[:, 0] = 0.5
    stats[:, 1] = [2, 1]
    stats[:, 1 + COLUMNS.index("requests")] = [3, 1]
    details = make(overlap).details(stats)
    assert details["requests"] == 4
    assert details["answers"] == dict.fromkeys(STATUSES, 0) | {"valid": 3}
    assert "cost" not in details
