"""Scores of judged captions: the path of a run, several corpora, speed."""

import numpy as np

from harness import api
from harness.judgments.plan import make_judgment_plan
from harness.judgments.reference_policy import scoring_sets
from harness.judgments.scoring import score_metrics
from harness.run.execution import Execution
from harness.rundir.provenance import Provenance
from harness.spec.loading import load_specs

TEXTS = ["a dog runs on the beach", "the dog", "a red car at night", "a car"]
RECORDS = [
    {"id": str(i), "caption_a": TEXTS[i], "caption_b": TEXTS[i - 1], "votes": 1, "kind": "ab"[i % 2],
     "references": [TEXTS[i] + " fast", TEXTS[i - 2]]}
    for i in range(4)
]  # fmt: skip


def scored(jsonl, corpus, metrics=("cider",)):
    task = {
        "task": "t", "judgments": {"form": "pairs", "path": jsonl(RECORDS)}, "metrics": [{m: {"tokenizer": "none"}} for m in metrics],
        "statistics": ["accuracy"], "references": {"corpus": corpus}, "groups": "kind",
    }  # fmt: skip
    (loaded,) = load_specs(task)
    plan = make_judgment_plan(loaded)
    judgments = plan.read()
    sets = scoring_sets(judgments, plan.spec.references, 0, "kind")
    return score_metrics(plan, sets, Execution(Provenance({})))


def test_the_scores_are_those_of_the_api(jsonl):
    (metric,) = scored(jsonl, "items")
    references = [record["references"] for record in RECORDS]
    for position, key in enumerate(("caption_a", "caption_b")):
        expected = api.score([[r[key]] for r in RECORDS], references, [{"cider": {"tokenizer": "none"}}])["cider"].per_example
        captions = metric.scores.scores[position::2, 0]
        np.testing.assert_allclose(captions, expected)
    assert metric.rate > 0


def test_every_list_of_categories_and_side_is_a_corpus_of_its_own(jsonl):
    (metric,) = scored(jsonl, [["a"], ["b"]])
    rows = [r for r in RECORDS if r["kind"] == "a"]
    expected = api.score([[r["caption_a"]] for r in rows], [r["references"] for r in rows], [{"cider": {"tokenizer": "none"}}])
    np.testing.assert_allclose(metric.scores.scores[[0, 4], 0], expected["cider"].per_example)
    whole = scored(jsonl, "items")[0]
    assert not np.allclose(whole.scores.scores, metric.scores.scores)
