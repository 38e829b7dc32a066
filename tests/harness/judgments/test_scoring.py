"""Scores of the metrics of a plan: corpora, rivals, values of systems."""

from types import SimpleNamespace

import numpy as np
import pytest

from harness import api
from harness.contracts import MetricSpec
from harness.judgments.execute import execute
from harness.judgments.metric_scores import MetricScores
from harness.judgments.plan import make_judgment_plan
from harness.judgments.rated_agreement import CORRELATIONS
from harness.judgments.scoring import ScoredMetric, _spread_points
from harness.registry import current
from harness.spec.loading import load_specs
from tests.support.judged_sets import FIVE_PAIRS, RECORDS, SCORING_RECORDS, scored

DOG = "the dog is running"
BUS = "a red bus drives"
MEN = "two men walk home"
SPOKEN = [
    (
        [
            ("i0", "a dog runs", DOG, 2),
            ("i0", "cat", DOG, 1),
            ("i0", "some cat here", DOG, 1.5),
            ("i1", "a red bus", BUS, 5),
            ("i1", "red", BUS, 3),
        ],
        [2 / 3, 0, 0, 1, 0.135],
    ),
    (
        [
            ("k", "zzz", MEN, 3),
            ("k", "qqq qqq qqq", MEN, 1),
            ("k", "men", MEN, 4),
            ("m", "x", "snow lies there", 2),
            ("n", "lies", "lies there", 5),
        ],
        [0, 0, 0.05, 0, 0.6],
    ),
    (
        [
            ("a", "one", "red car", 1),
            ("b", "two words", "blue sea", 3),
            ("c", "now three words", "green hill", 2),
            ("d", "sky", "sky", 4),
        ],
        [0, 0, 0, 1],
    ),
]
"""Item, caption, reference and judgment of each caption;
numbers in the order of their BLEU-1.
"""


def spoken(*rows):
    """Records of (item, caption, reference, score)."""
    return [
        {
            "id": item,
            "caption": caption,
            "references": [reference],
            "human_score": score,
        }
        for item, caption, reference, score in rows
    ]


def test_the_size_of_a_set_is_its_own_under_rotated_references(plan, jsonl, length):
    """The first caption has fewer rotations than the others:
    one of the references is its own.

    The last set has a text more.
    """
    texts = [["r0", "x"], ["longer", "x"], ["z", "x"], ["z", "xx", "xxx"]]
    references = [f"r{k}" for k in range(5)]
    records = [
        {
            "id": str(k // 2),
            "caption": text,
            "human_score": k,
            "references": references,
            "own": k == 0,
        }
        for k, text in enumerate(texts)
    ]
    metric = length()
    metric.spec = MetricSpec("length", True, level="set")
    judged = {
        "form": "captions",
        "path": jsonl(records),
        "columns": {"own_reference": "own"},
    }
    task = plan(
        judged, [metric], statistics=["kendall_within"], references={"rotate": 4}
    )
    assert (task.prepare()[1].index[:, 0] >= 0).sum(axis=1).tolist() == [1, 5, 5, 5]
    run = execute(task)
    (record,) = run.records
    assert (record.value, record.n, record.skipped) == (1, 2, 2)
    _, sets = task.prepare()
    first = [list(sets.sets[k].references) for k in sets.index[:, 0, 0]]
    assert list(map(list, run.samples.lists("references"))) == first, (
        "the references of the first rotation"
    )


def test_the_scores_are_those_of_the_api(jsonl):
    (metric,) = scored(jsonl, "items")
    references = [record["references"] for record in SCORING_RECORDS]
    for position, key in enumerate(("caption_a", "caption_b")):
        expected = api.score(
            [[r[key]] for r in SCORING_RECORDS],
            references,
            [{"cider": {"tokenizer": "none"}}],
        )["cider"].per_example
        captions = metric.scores.scores[position::2, 0]
        np.testing.assert_allclose(captions, expected)


def test_every_list_of_categories_and_side_is_a_corpus_of_its_own(jsonl):
    (metric,) = scored(jsonl, [["a"], ["b"]])
    rows = [r for r in SCORING_RECORDS if r["kind"] == "a"]
    expected = api.score(
        [[r["caption_a"]] for r in rows],
        [r["references"] for r in rows],
        [{"cider": {"tokenizer": "none"}}],
    )
    np.testing.assert_allclose(
        metric.scores.scores[[0, 4], 0], expected["cider"].per_example
    )
    whole = scored(jsonl, "items")[0]
    assert not np.allclose(whole.scores.scores, metric.scores.scores)


@pytest.mark.parametrize("corpus", [[["a", "b"]], [["a"], ["b"]]])
def test_statistics_of_several_corpora_are_those_of_all_captions(
    plan, jsonl, length, tmp_path, corpus
):
    task = {"form": "pairs", "path": jsonl(SCORING_RECORDS)}
    metric = length()
    run = execute(
        plan(
            task,
            [metric],
            statistics=["accuracy"],
            references={"corpus": corpus},
            groups="kind",
        ),
        output=tmp_path / "r",
    )
    lengths = [
        len(record[side])
        for record in SCORING_RECORDS
        for side in ("caption_a", "caption_b")
    ]
    assert sorted(metric.per_example(run.statistics(run.records[0]))) == sorted(lengths)


@pytest.mark.parametrize(("rows", "scores"), SPOKEN)
@pytest.mark.parametrize("metric", ["bleu1", "bleu2", "bleu4"])
@pytest.mark.parametrize("statistic", ["kendall_b", "kendall_c", "spearman"])
def test_captions_without_a_word_in_common_are_ties(
    rows, scores, metric, statistic, jsonl
):
    records = spoken(*rows)
    content = {
        "task": "t",
        "judgments": {"form": "captions", "path": jsonl(records)},
        "metrics": [metric],
        "statistics": [statistic],
    }
    (loaded,) = load_specs({**content, "tests": {"draws": 0}})
    (record,) = execute(make_judgment_plan(loaded)).records
    human = np.array([row["human_score"] for row in records], dtype=float)
    if metric == "bleu1":
        expected = CORRELATIONS[statistic](np.array(scores, dtype=float), human)(
            np.ones((1, len(human)))
        )[0]
        assert record.value == pytest.approx(expected)
        if statistic == "kendall_b" and len(records) == 5 and scores[0]:
            assert record.value == pytest.approx(0.73786, abs=1e-5)
    nothing = [k for k, score in enumerate(scores) if score == 0]
    exchanged = [dict(row) for row in records]
    for k, other in zip(nothing, [*nothing[1:], nothing[0]]):
        exchanged[k]["human_score"] = records[other]["human_score"]
    (loaded,) = load_specs(
        {
            **content,
            "judgments": {"form": "captions", "path": jsonl(exchanged, "e.jsonl")},
            "tests": {"draws": 0},
        }
    )
    (same,) = execute(make_judgment_plan(loaded)).records
    assert same.value == pytest.approx(record.value)  # no order among them


def test_points_of_pairs_are_preferences_and_each_caption_has_their_mean():
    """Caption 0 beats 1 and ties with 2; caption k is judged in set 2 - k,
    by several draws of references.
    """
    pairs = [SimpleNamespace(first=0, second=1), SimpleNamespace(first=2, second=0)]
    judgments = SimpleNamespace(pairs=pairs, captions=range(4))
    index = np.full((4, 2, 2), 3)
    index[:, 0, 0] = [2, 1, 0, 3]
    metric = ScoredMetric(
        None, None, MetricScores(np.array([[1.0], [0.5]])), np.empty(0), ""
    )
    spread = _spread_points(
        metric, judgments, SimpleNamespace(index=index, sets=range(4))
    )
    assert spread.scores.of_pairs.tolist() == [
        [1.0],
        [0.0],
    ] and spread.scores.scores.shape == (4, 1)
    np.testing.assert_array_equal(spread.scores.scores[:, 0], [0.75, 0.0, 0.5, np.nan])
    np.testing.assert_array_equal(spread.per_set, [0.5, 0.0, 0.75, np.nan])


def test_the_number_of_a_system_is_that_of_its_captions(plan, judgments, length):
    run = execute(
        plan(
            judgments,
            [length(), length(sign=-1)],
            statistics=["pearson_system"],
            tests={"draws": 0},
        )
    )
    of_system = [
        [record for record in RECORDS if record["system"] == name] for name in "xyz"
    ]
    lengths, human = (
        [np.mean([value(record) for record in records]) for records in of_system]
        for value in (
            lambda record: len(record["caption"]),
            lambda record: record["human_score"],
        )
    )
    expected = np.corrcoef(lengths, human)[0, 1]
    assert [record.value for record in run.records] == pytest.approx(
        [expected, expected], abs=1e-12
    )
    assert [record.n for record in run.records] == [3, 3]


def test_the_number_of_a_system_is_that_of_its_corpus(plan, jsonl):
    words = ["a", "dog", "runs", "on", "the", "beach"]
    captions = [
        [
            " ".join(words[: 1 + i * (k + 2) % 6] + ["z"] * ((i + k) % 3))
            for i in range(6)
        ]
        for k in range(3)
    ]
    records = [
        {
            "id": str(i),
            "system": "xyz"[k],
            "caption": captions[k][i],
            "human_score": (k + 1) ** 2 + i % 2,
            "references": [" ".join(words)],
        }
        for i in range(6)
        for k in range(3)
    ]
    metric = current().create("metrics", "bleu1", {})
    run = execute(
        plan(
            {"form": "captions", "path": jsonl(records)},
            [metric],
            statistics=["pearson_system"],
            bootstrap={"samples": 0},
        )
    )
    of_corpora = [
        api.score([[text] for text in of_system], [[" ".join(words)]] * 6, ["bleu1"])[
            "bleu1"
        ]
        for of_system in captions
    ]
    human = np.array([1, 4, 9]) + 0.5
    assert run.records[0].value == pytest.approx(
        np.corrcoef([result.value for result in of_corpora], human)[0, 1], abs=1e-9
    )
    means = [np.mean(result.per_example) for result in of_corpora]
    assert run.records[0].value != pytest.approx(
        np.corrcoef(means, human)[0, 1], abs=1e-3
    ), "not the mean of its captions"


def test_the_number_of_a_system_is_the_mean_over_draws_of_references(
    plan, jsonl, length
):
    class OfReference(length):
        def scores(self, batch, features, state):
            return np.array(
                [
                    float(len(item.references[0]) + len(item.candidates[0]))
                    for item in batch.sets
                ]
            )

    records = [
        {**record, "references": ["a" * (1 + 7 * k % 5), "b" * 30, "c" * (60 + k)]}
        for k, record in enumerate(RECORDS)
    ]
    records = [{**record, "id": str(k)} for k, record in enumerate(records)]
    task = plan(
        {"form": "captions", "path": jsonl(records)},
        [OfReference()],
        statistics=["pearson_system"],
        references={"sample": 1, "draws": 2},
    )
    _, sets = task.prepare()
    score = [
        [
            len(sets.sets[k].references[0]) + len(sets.sets[k].candidates[0])
            for k in draws.ravel()
        ]
        for draws in sets.index
    ]
    assert sets.index.shape == (18, 2, 1) and any(
        first != second for first, second in score
    )
    mean = np.mean(score, axis=1).reshape(6, 3).mean(axis=0)
    human = np.reshape([record["human_score"] for record in records], (6, 3)).mean(
        axis=0
    )
    run = execute(task)
    assert run.records[0].value == pytest.approx(
        np.corrcoef(mean, human)[0, 1], abs=1e-12
    )
    by_system = np.argsort(np.arange(18) % 3, kind="stable")
    assert run.samples.numbers("length").tolist() == pytest.approx(
        np.mean(score, axis=1)[by_system]
    )
    first = [list(sets.sets[sets.index[k, 0, 0]].references) for k in by_system]
    assert list(map(list, run.samples.lists("references"))) == first, (
        "the references of the first draw"
    )


def test_metrics_of_pairs_stand_in_the_order_of_the_task(plan, jsonl, length):
    class Judge(length):
        """Prefers the longer caption."""

        spec = MetricSpec("judge", True, rival=True)

        def __init__(self):
            self.calls = 0

        def scores(self, batch, features, state):
            return np.array(
                [
                    float(len(item.candidates[0]) > len(item.references[0]))
                    for item in batch.sets
                ]
            )

    metrics = [length(), Judge(), length(sign=-1)]
    run = execute(
        plan(
            {"form": "pairs", "path": jsonl(FIVE_PAIRS)},
            metrics,
            statistics=["accuracy"],
        )
    )
    assert [(record.metric, record.value) for record in run.records] == [
        ("length", 0.8),
        ("judge", 0.8),
        ("cost", 0.8),
    ]
