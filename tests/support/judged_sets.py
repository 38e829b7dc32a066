"""Small sets of judgments, and their agreement with scores."""

from __future__ import annotations

import numpy as np

from harness.contracts import JudgedCaption, JudgedItem, Judgments
from harness.judgments.agreement import agreements
from harness.judgments.judgment_models import JudgmentSpec
from harness.judgments.metric_scores import MetricScores
from harness.judgments.plan import make_judgment_plan
from harness.judgments.reference_policy import scoring_sets
from harness.judgments.rows import JudgmentRows
from harness.judgments.scoring import score_metrics
from harness.run.execution import Execution
from harness.rundir.provenance import Provenance
from harness.spec.loading import load_specs

TEXTS = ["a dog runs on the beach", "the dog", "a red car at night", "a car"]
RECORDS = [
    {
        "id": str(i),
        "system": s,
        "caption": "word " * (k + 1) + str(i),
        "human_score": k + (i % 2) * 0.5,
        "references": ["a", "b"],
        "kind": s,
    }
    for i in range(6)
    for k, s in enumerate("xyz")
]
FIVE_PAIRS = [
    {
        "id": str(k),
        "references": ["r"],
        "first": f"{k} ab",
        "second": f"{k} a",
        "preference": 1 if k < 4 else -1,
    }
    for k in range(5)
]
"""The longer caption is the preferred one of all pairs but the last."""
SCORING_RECORDS = [
    {
        "id": str(i),
        "caption_a": TEXTS[i],
        "caption_b": TEXTS[i - 1],
        "votes": (-1) ** i,
        "kind": "ab"[i % 2],
        "references": [TEXTS[i] + " fast", TEXTS[i - 2]],
    }
    for i in range(4)
]
THREE_RATED = [
    {"id": str(i), "caption": f"c{i}", "human_score": i, "references": ["r"]}
    for i in range(3)
]
REFERENCES = ["a dog runs", "the dog"]


def spec(**keys):
    judgments = {"form": "captions", "path": "f", **keys.pop("judgments", {})}
    return JudgmentSpec.model_validate(
        {
            "task": "t",
            "metrics": ["m"],
            "statistics": ["kendall_b"],
            "judgments": judgments,
            **keys,
        }
    )


def rated_rows(seed=0, items=12, kind="ab", **keys):
    rng = np.random.default_rng(seed)
    captions = [
        JudgedCaption(
            item,
            (f"{item}{k}",),
            f"s{k}",
            (float(rng.integers(1, 5)), float(rng.integers(1, 5))),
            (),
            {},
            {"kind": kind[k % 2]},
        )
        for item in range(items)
        for k in range(3)
    ]
    judgments = Judgments(
        "f", tuple(JudgedItem(str(i), ("r",)) for i in range(items)), tuple(captions)
    )
    return JudgmentRows(judgments, spec(**keys)), rng.normal(size=(len(captions), 1))


def value(rows, scores, statistic, group="all", weights=None):
    reduce = agreements(rows, MetricScores(scores), statistic)[group].reduce
    return float(
        reduce(
            np.ones((1, rows.items)) if weights is None else weights[None].astype(float)
        )[0]
    )


def rows_of_wmt(wmt, **keys):
    people = wmt["scores"]["people"]
    segments = len(wmt["scores"]["people"]) // wmt["systems"]
    captions = tuple(
        JudgedCaption(k % segments, (str(k),), f"s{k // segments}", (score,))
        for k, score in enumerate(people)
    )
    return JudgmentRows(
        Judgments(
            "f", tuple(JudgedItem(str(k), ("r",)) for k in range(segments)), captions
        ),
        spec(**keys),
    )


def numbers(run):
    return [(r.metric, r.value, r.ci95, r.n) for r in run.records]


def scored(jsonl, corpus, metrics=("cider",)):
    task = {
        "task": "t",
        "judgments": {"form": "pairs", "path": jsonl(SCORING_RECORDS)},
        "metrics": [{m: {"tokenizer": "none"}} for m in metrics],
        "statistics": ["accuracy"],
        "references": {"corpus": corpus},
        "groups": "kind",
    }
    (loaded,) = load_specs(task)
    plan = make_judgment_plan(loaded)
    judgments = plan.read()
    sets = scoring_sets(judgments, plan.spec.references, 0, "kind")
    return score_metrics(plan, sets, Execution(Provenance({})), judgments)


def content(jsonl, **more):
    base = {
        "task": "judgments/t",
        "judgments": {"form": "captions", "path": jsonl(THREE_RATED)},
        "metrics": ["novelty"],
        "statistics": ["pearson"],
    }
    return {**base, **more}


def planned(task):
    (loaded,) = load_specs(task)
    return make_judgment_plan(loaded)


def two(record, **changes):
    """Two records of different items."""
    return [
        {"id": "1", "references": REFERENCES, **record},
        {"id": "2", "references": REFERENCES, **record, **changes},
    ]
