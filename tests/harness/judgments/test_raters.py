"""One person against the others, and judges as raters:
direct computations on small sets.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from harness.contracts import MetricSpec
from harness.judgments.alternative_annotator import judge_against_people
from harness.judgments.execute import execute
from harness.judgments.judgment_models import JudgmentSpec
from harness.judgments.league import League, LeagueSet
from harness.judgments.league_tables import league_table, set_table
from harness.judgments.raters import (
    ONE_PERSON,
    judge_as_person,
    person_agreements,
    ratings_of_people,
)
from harness.judgments.rows import JudgmentRows
from harness.judgments.source_files import read_judgments

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 9, 60)
PEOPLE = np.clip(TRUTH[:, None] + RNG.integers(-2, 3, (60, 3)), 0, 9)
RECORDS = [
    {
        "id": str(k // 3),
        "caption": "xyz"[k % 3] * (3 + int(TRUTH[k])),
        "score": people.tolist(),
        "references": ["r"],
        "kind": "ab"[k % 2],
    }
    for k, people in enumerate(PEOPLE)
]
VOTES = (
    np.where(RNG.random((40, 3)) < 0.3, -1, 1)
    * np.where(RNG.random(40) < 0.5, -1, 1)[:, None]
)
PAIRS = [
    {
        "id": str(k // 2),
        "caption_a": "xy"[k % 2] * (4 + int(votes.sum())),
        "caption_b": "zw"[k % 2] * 4,
        "votes": votes.tolist(),
        "references": ["r"],
        "system_a": "s",
        "system_b": "tu"[k % 2],
    }
    for k, votes in enumerate(VOTES)
]
OF_PAIRS = {
    "form": "pairs",
    "columns": {
        "preference": "votes",
        "system_first": "system_a",
        "system_second": "system_b",
    },
}


@pytest.fixture
def judged(plan, jsonl, length):
    """Runs metrics on the set; ``records`` in place of the usual ones."""

    def run(metrics=None, records=RECORDS, source=None, **more):
        content = {
            "form": "captions",
            "path": jsonl(records),
            "columns": {"score": "score"},
            **(source or {}),
        }
        return execute(
            plan(content, metrics or [length()], bootstrap={"samples": 200}, **more)
        )

    return run


@pytest.fixture
def rows_of(source, jsonl):
    """Makes rows of captions with some ratings each."""

    def make(scores, statistic, **tests):
        records = [
            {**RECORDS[k], "id": str(k), "score": score}
            for k, score in enumerate(scores)
        ]
        of_file = {
            "form": "captions",
            "path": jsonl(records),
            "columns": {"score": "score"},
        }
        spec = {
            "task": "t",
            "judgments": of_file,
            "statistics": [statistic],
            "metrics": ["novelty"],
            "tests": tests,
        }
        return JudgmentRows(
            read_judgments(source(**of_file)), JudgmentSpec.model_validate(spec)
        )

    return make


def people_of(run):
    return {
        (record.statistic, record.group): record
        for record in run.records
        if record.metric == ONE_PERSON
    }


def left_out(person, rows=slice(None)):
    return PEOPLE[rows, person], np.delete(PEOPLE[rows], person, axis=1)


def test_the_row_is_the_mean_over_the_people_who_are_left_out(judged):
    people = people_of(judged(statistics=["kendall_b", "pearson"], groups="kind"))
    expected = np.mean(
        [
            kendalltau(x, others.mean(axis=1)).statistic
            for x, others in map(left_out, range(3))
        ]
    )
    record = people["kendall_b", "all"]
    assert (
        record.value == pytest.approx(expected, abs=1e-12)
        and record.ci95[0] < expected < record.ci95[1]
    )
    assert (
        record.n,
        record.skipped,
        record.details["people"],
        record.details["ceiling"],
    ) == (60, 0, 3, True)
    halves = [
        left_out(person, slice(start, None, 2))
        for start in (0, 1)
        for person in range(3)
    ]
    mean = np.mean([pearsonr(x, others.mean(axis=1)).statistic for x, others in halves])
    assert people["pearson", "mean"].value == pytest.approx(mean, abs=1e-12)


def test_less_is_better(judged):
    higher, lower = (
        people_of(judged(source={"higher_is_better": better}))["kendall_b", "all"].value
        for better in (True, False)
    )
    assert higher == pytest.approx(lower, abs=1e-12) and higher > 0


def test_single_ratings_meet_each_of_the_others(judged):
    people = people_of(judged(source={"raters": "each"}))
    expected = [
        kendalltau(np.repeat(x, 2), others.ravel()).statistic
        for x, others in map(left_out, range(3))
    ]
    assert people["kendall_b", "all"].value == pytest.approx(
        np.mean(expected), abs=1e-12
    )
    assert people["kendall_b", "all"].signature.endswith("|raters:each")


def test_the_row_stands_in_the_league_without_a_cluster(judged):
    run = judged()
    judged_set = LeagueSet(run)
    assert ONE_PERSON in [row[1] for row in set_table(judged_set).rows]
    league = league_table(League((judged_set,)))
    assert league.rows[-1][0] == ONE_PERSON and league.rows[-1][1].endswith("(–)")
    assert any(
        note.startswith("one person against the others: the mean over 3")
        for note in set_table(judged_set).notes
    )
    assert run.records[0].details["cluster"] == 1


@pytest.mark.parametrize(
    "source, falling", [({"mean_of": 3}, False), ({}, False), ({}, True)]
)
def test_ratings_that_name_nobody(judged, source, falling):
    scores = [
        int(truth) if source else sorted(row.tolist(), reverse=falling)
        for truth, row in zip(TRUTH, PEOPLE)
    ]
    run = judged(
        records=[{**record, "score": score} for record, score in zip(RECORDS, scores)],
        source=source,
    )
    assert not people_of(run)


def test_captions_with_one_rating_are_skipped(judged):
    records = [
        {**record, "score": record["score"][:1]} if k < 6 else record
        for k, record in enumerate(RECORDS)
    ]
    record = people_of(judged(records=records))["kendall_b", "all"]
    assert (record.n, record.skipped) == (54, 6)
    expected = [
        kendalltau(x, others.mean(axis=1)).statistic
        for x, others in (left_out(person, slice(6, None)) for person in range(3))
    ]
    assert record.value == pytest.approx(np.mean(expected), abs=1e-12)


def test_of_two_people_each_is_compared_with_the_other(judged):
    records = [{**record, "score": record["score"][:2]} for record in RECORDS]
    record = people_of(judged(records=records))["kendall_b", "all"]
    assert record.value == pytest.approx(
        kendalltau(*PEOPLE[:, :2].T).statistic, abs=1e-12
    )
    assert (record.n, record.skipped, record.details["people"]) == (60, 0, 2)


@pytest.mark.parametrize(
    ("statistic", "scores", "compared"),
    [
        ("auc", [[0, 1], [0, 0], [0, 0], [1, 0]], True),
        # without the second person there is one label
        ("auc", [[0, 1, 0], [0, 0, 0], [0, 1, 0]], False),
        # two of three people may give the mean of a half
        ("auc", [[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]], False),
        ("pearson", [[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]], True),
        ("accuracy", [[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]], True),
    ],
)
def test_labels_are_compared_where_the_others_give_two(
    rows_of, statistic, scores, compared
):
    found = person_agreements(rows_of(scores, statistic), statistic)
    assert list(found) == ["all"] if compared else found == {}


def test_a_person_without_an_agreement_is_left_out_of_the_mean(rows_of):
    # the first person gives one rating to all captions
    ratings = np.column_stack([np.full(9, 5), PEOPLE[:9, :2]])
    found = person_agreements(rows_of(ratings.tolist(), "pearson"), "pearson")["all"]
    expected = [
        pearsonr(ratings[:, k], np.delete(ratings, k, axis=1).mean(axis=1)).statistic
        for k in (1, 2)
    ]
    assert (
        found.reduce(np.ones((1, 9)))[0] == pytest.approx(np.mean(expected))
        and found.n == 9
    )
    assert found.details == {"items": 9, "captions": 9, "ratings": 18, "people": 2}
    nobody = person_agreements(
        rows_of([[5, k] if k % 2 else [5, 5 - k] for k in range(9)], "pearson"),
        "pearson",
    )["all"]
    assert np.isnan(nobody.reduce(np.ones((1, 9)))[0]) and nobody.details["people"] == 0


def test_human_scores_of_systems_in_a_file_are_of_no_person(rows_of):
    rows = rows_of(PEOPLE[:9].tolist(), "kendall_b")
    rows = JudgmentRows(
        replace(rows.judgments, systems={"s": 1.0, "t": 2.0}), rows.spec
    )
    assert person_agreements(rows, "pearson_system") == {} and list(
        person_agreements(rows, "kendall_b")
    ) == ["all"]


def test_labels_and_systems(judged):
    records = [
        {**record, "score": (row > 4).tolist(), "system": "st"[k % 2]}
        for k, (record, row) in enumerate(zip(RECORDS, PEOPLE))
    ]
    run = judged(
        records=records, statistics=["auc", "pearson_system"], source={"raters": "each"}
    )
    assert {name for name, _ in people_of(run)} == {"auc", "pearson_system"}


class Grade:
    """A metric of the length with bounds: a judge whose scores are grades of another
    scale.
    """

    def __new__(cls, length, bounds, higher=True):
        metric = length(sign=1 if higher else -1)
        metric.spec = MetricSpec("grade", higher, bounds=bounds)
        return metric


@pytest.mark.parametrize(
    ("higher", "scale"), [(True, [0, 9]), (False, [0, 9]), (True, None)]
)
def test_a_judge_is_mapped_to_the_scale_of_the_ratings(judged, length, higher, scale):
    """Without a scale it is the range of the ratings, which is 0 to 9 too."""
    assert (PEOPLE.min(), PEOPLE.max()) == (0, 9)
    bounds = (3.0, 12.0) if higher else (-12.0, -3.0)
    run = judged(
        [Grade(length, bounds, higher)],
        tests={"alternative": {"epsilon": 0.1, "scale": scale}},
    )
    test = run.records[0].details["alternative"]
    wins = [
        np.abs(others - TRUTH[:, None]) ** 2 for _, others in map(left_out, range(3))
    ]
    own = [np.abs(others - x[:, None]) ** 2 for x, others in map(left_out, range(3))]
    assert test["advantage"] == pytest.approx(
        np.mean([a.mean(axis=1) <= b.mean(axis=1) for a, b in zip(wins, own)]),
        abs=1e-12,
    )
    assert test["winning_rate"] == 1.0 and len(test["p"]) == 3
    table = set_table(LeagueSet(run))
    assert table.headers[-1] == "as a person" and any(
        "1.00 (0." in row[-1] for row in table.rows
    )
    assert any(
        "Calderon et al. 2025), epsilon 0.1, 3 people" in note for note in table.notes
    )


def test_a_judge_without_finite_bounds_is_taken_as_it_is(judged, length):
    details = [
        judged([Grade(length, bounds)], tests={"alternative": {"epsilon": 0.1}})
        .records[0]
        .details["alternative"]
        for bounds in (None, (0.0, float("inf")))
    ]
    assert details[0] == details[1]


def test_a_judge_of_labels_is_rounded(judged, length):
    records = [
        {**record, "score": [int(x > 4) for x in row]}
        for record, row in zip(RECORDS, PEOPLE)
    ]
    run = judged(
        [Grade(length, (3.0, 12.0))],
        records,
        tests={"alternative": {"alignment": "accuracy"}},
    )
    assert 0.5 < run.records[0].details["alternative"]["advantage"] <= 1.0


def test_the_best_score_is_the_lowest_rating_where_less_is_better(judged, length):
    records = [
        {**record, "score": (9 - row).tolist()} for record, row in zip(RECORDS, PEOPLE)
    ]
    tests = {"alternative": {"epsilon": 0.1}}
    more, less = (
        judged(
            [Grade(length, (3.0, 12.0))],
            given,
            source={"higher_is_better": better},
            tests=tests,
        )
        .records[0]
        .details["alternative"]
        for given, better in ((RECORDS, True), (records, False))
    )
    assert less == more


def test_a_judge_of_labels_gives_the_nearest_label(rows_of):
    table = np.array([[1, 2], [4, 4], [2, 2], [4, 1], [2, 4]] * 8)
    rows = rows_of(
        table.tolist(),
        "kendall_b",
        alternative={"alignment": "accuracy", "scale": [1, 4], "epsilon": 0.1},
    )
    # 3 is as near to 2 as to 4
    scores = [1.4, 3.1, 3.0, 9.0, 2.9]
    labels = [1.0, 4, 2, 4, 2]
    found = judge_as_person(rows, np.array([*scores * 7, *scores[:4], np.nan]), None)[
        "alternative"
    ]
    expected = judge_against_people(
        np.array([*labels * 7, *labels[:4], np.nan]),
        table,
        epsilon=0.1,
        alignment="accuracy",
    )
    assert found == {
        "winning_rate": expected.winning_rate,
        "advantage": expected.advantage,
        "epsilon": 0.1,
        "p": list(expected.p_values),
    }
    assert len(found["p"]) == 2


def test_scores_within_bounds_are_mapped_to_the_scale(rows_of):
    table = PEOPLE[:40] % 5 + 1
    scores = TRUTH[:40] / 10
    rows = rows_of(
        table.tolist(), "kendall_b", alternative={"scale": [1, 6], "epsilon": 0.1}
    )
    for bounds, on_scale in (((-0.2, 1.8), 1 + 5 * (scores + 0.2) / 2), (None, scores)):
        expected = judge_against_people(on_scale, table, epsilon=0.1)
        found = judge_as_person(rows, scores, bounds)["alternative"]
        assert found["advantage"] == expected.advantage and found["p"] == pytest.approx(
            expected.p_values
        )


def test_a_test_needs_to_be_asked_for_and_enough_captions(rows_of):
    few = PEOPLE[:20].tolist()
    many = PEOPLE.tolist()
    assert judge_as_person(
        rows_of(few, "kendall_b", alternative={}), TRUTH[:20], None
    ) == {"alternative": {}}
    assert judge_as_person(rows_of(many, "kendall_b"), TRUTH, None) == {}
    of_nobody = [sorted(ratings) for ratings in many]
    assert (
        judge_as_person(rows_of(of_nobody, "kendall_b", alternative={}), TRUTH, None)
        == {}
    )


def test_the_table_of_ratings(source, jsonl):
    records = [
        {**RECORDS[0], "score": [3, 1]},
        {**RECORDS[3], "score": [2]},
        {**RECORDS[6], "score": [1, 2]},
    ]
    judgments = read_judgments(source(jsonl(records), columns={"score": "score"}))
    spec = JudgmentSpec.model_validate(
        {
            "task": "t",
            "judgments": {"form": "captions", "path": "x"},
            "statistics": ["kendall_b"],
            "metrics": ["novelty"],
        }
    )
    table = ratings_of_people(JudgmentRows(judgments, spec))
    assert table is not None and np.array_equal(
        table, [[3, 1], [2, np.nan], [1, 2]], equal_nan=True
    )


def test_one_vote_is_left_out_of_the_preference_of_each_pair(judged):
    people = people_of(
        judged(
            records=PAIRS, source=OF_PAIRS, statistics=["accuracy", "accuracy_system"]
        )
    )
    expected = []
    counted = []
    for person in range(3):
        others = np.delete(VOTES, person, axis=1).sum(axis=1)
        expected.append(
            np.mean(VOTES[:, person][others != 0] * others[others != 0] > 0)
        )
        counted.append(int((others != 0).sum()))
    record = people["accuracy", "all"]
    assert (
        record.value == pytest.approx(np.mean(expected), abs=1e-12)
        and record.n == counted[0]
    )
    assert (
        record.details["people"] == 3
        and record.details["ceiling"]
        and record.interval_note is not None
    )
    assert 0 <= people["accuracy_system", "all"].value <= 1


def test_sums_of_votes_and_one_vote_have_no_row_of_people(judged):
    for votes in (
        [int(v.sum()) for v in VOTES],
        [v[:1].tolist() for v in VOTES],
        [sorted(v.tolist()) for v in VOTES],
    ):
        records = [{**record, "votes": vote} for record, vote in zip(PAIRS, votes)]
        assert not people_of(
            judged(records=records, source=OF_PAIRS, statistics=["accuracy"])
        )


def test_a_person_without_a_vote_has_none(jsonl):
    records = [
        {**record, "votes": [("skip", None, "")[k // 4 % 3], *record["votes"][1:]]}
        if k % 4 == 0
        else record
        for k, record in enumerate(PAIRS)
    ]
    labels = {"first": 1, "second": -1, "skip": "skip"}
    source = {**OF_PAIRS, "path": jsonl(records), "preference": labels}
    spec = JudgmentSpec.model_validate(
        {"task": "t", "judgments": source, "statistics": ["accuracy"], "metrics": ["m"]}
    )
    judgments = read_judgments(spec.judgments)
    table = ratings_of_people(JudgmentRows(judgments, spec), of_pairs=True)
    assert (
        table is not None
        and np.isnan(table[::4, 0]).all()
        and np.isfinite(table[:, 1:]).all()
    )
    assert [pair.preference for pair in judgments.pairs[:2]] == [
        VOTES[0, 1:].sum(),
        VOTES[1].sum(),
    ]
