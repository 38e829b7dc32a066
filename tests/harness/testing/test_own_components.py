"""Every shipped metric, distance and light adapter meets its contract; exceptions are
listed here with their reasons.
"""

from __future__ import annotations

import json
from itertools import islice

import pytest

from harness.contracts import CaptionSet
from harness.registry import current
from harness.testing import (
    check_adapter,
    check_distance,
    check_embedding,
    check_metric,
    check_reader,
    check_task,
)
from harness.testing.sample_captions import examples as sample_examples
from harness_tasks.readers.generated import ReferenceGames

# batches, shards and the order of examples change no digit
pytestmark = pytest.mark.equal_bits
BOW = {"embedding": "bow"}
METRICS = [
    "bleu",
    "bleu1",
    "bleu2",
    "bleu3",
    "bleu4",
    "cider",
    "ciderd",
    "rouge",
    "meteor",
    "chrf",
    "ter",
    "rouge1",
    "rouge2",
    "rougeL",
    "rougeLsum",
    {"rougeLsum": {"stem": True, "statistic": "recall"}},
    {"bleu": {"tokenizer": "characters"}},
    "novelty",
    "vocabulary",
    "distinct",
    "pairwise-bleu",
    "self-bleu",
    "corpus-bleu",
    "qdisc",
    "cr",
    "nrr",
    "cnd",
    "pregen",
    {"best": {"metric": "bleu"}},
    {"self-bleu": {"conditional": True}},
    {"self-bleu": {"negative": True}},
    {"cr": {"conditional": True}},
    {"nrr": {"form": "unbiased"}},
    *({"trm": {"distance": name}} for name in ("meteor", "cider", "bleu", "rouge")),
    {"trm": {"distance": "rouge", "pooling": "per-direction"}},
    *(
        {name: BOW}
        for name in (
            "mmd",
            "frechet",
            "energy",
            "sliced-wasserstein",
            "mauve",
            "mauve-example",
        )
    ),
    {"mmd": {**BOW, "estimator": "unbiased"}},
]
PRAGMATIC = [
    "discriminativity",
    "contrastive-efficiency",
    "relevance",
    "optimal-discriminativity",
    "mentioned-features",
    "false-features",
    {"redundant-mention": {"feature": "shape"}},
]
HEAVY = {
    "wmd": "word vectors",
    "bertscore": "a model",
    "clipscore": "a model and images",
    "refclipscore": "a model and images",
    "spice": "Java",
    "listener-accuracy": "a listener",
    "text-space": "an oracle",
    "text-space-qdisc": "an oracle",
}
"""Metrics that are not checked here, with what they need."""
WITH_THEIR_FAMILY = {
    "adjective-order",
    "caption-length",
    "entropy",
    "perplexity",
    "chair-i",
    "chair-s",
    "choice",
    "clip-recall",
    # a program of the user, with tests of its own (tests/harness/programs)
    "command",
    "dense",
    "trm-events",
    "mmd-events",
    "fact-f1",
    "fact-precision",
    "fact-recall",
    "object-match",
    "object-recall",
    "poll",
    "c2st",
    "cider-r",
    "compression-ratio",
    "corpus-frechet",
    "corpus-mmd",
    "corpus-vendi",
    "coverage",
    "coverage-example",
    "density",
    "density-example",
    "clair",
    "fense",
    "mauve-kde",
    "mauve-knn",
    "mbleu",
    "mmdagg",
    "ms-jaccard",
    "pac-score",
    "pairwise",
    "precision",
    "precision-example",
    "production-variability",
    "recall",
    "recall-example",
    "ref-pac-score",
    "pac-score-plus",
    "ref-pac-score-plus",
    "vqascore",
    "reference-coverage",
    "rubric",
    "sari",
    "retrieval",
    "reverse-perplexity",
    "fleur",
    "ref-fleur",
    "scores",
    "self-cider",
    "semantic-entropy",
    "spider",
    "spider-max",
    "spider-fl",
    "vendi",
    "win-rate",
}
"""Metrics whose checks are beside the tests of their module."""
NOISE = (
    "noisy copies of the references are drawn from a seed, "
    "in the order of the references"
)
EXPECTED_FAILURES = {
    "novelty": {"direction": "copies of the references are not novel"},
    "mauve": {
        "weights": "weights move texts between the clusters of the corpus; "
        "repeated rows are clustered again"
    },
    "qdisc": {"example-order": NOISE, "reference-order": NOISE},
}
SLOW = (
    "ter",
    "self-bleu",
    {"self-bleu": {"conditional": True}},
    {"self-bleu": {"negative": True}},
    {"best": {"metric": "bleu"}},
    {"sliced-wasserstein": {"embedding": "bow"}},
    "distinct",
    "cr",
    {"cr": {"conditional": True}},
    {"nrr": {"form": "unbiased"}},
    "nrr",
    "cnd",
    "qdisc",
    "vocabulary",
    "corpus-bleu",
    {"mauve-example": {"embedding": "bow"}},
)


def name_of(component):
    return component if isinstance(component, str) else next(iter(component))


def label(component):
    return component if isinstance(component, str) else json.dumps(component)


def failures(outcomes):
    return {o.check: o.reason for o in outcomes if o.failed}


def passes(outcomes):
    return sum(o.status == "pass" for o in outcomes)


@pytest.mark.parametrize(
    "metric",
    [pytest.param(m, marks=pytest.mark.slow) if m in SLOW else m for m in METRICS],
    ids=label,
)
def test_metric(metric):
    outcomes = check_metric(
        metric, expected_failures=EXPECTED_FAILURES.get(name_of(metric))
    )
    assert not failures(outcomes)
    assert passes(outcomes) >= (10 if name_of(metric) == "pregen" else 18)


@pytest.fixture(scope="module")
def games():
    examples = islice(ReferenceGames(pairs=2), 6)
    return [
        CaptionSet(e.id, e.references[:3], e.references[3:6], None, None, e.meta)
        for e in examples
    ]


@pytest.mark.parametrize("metric", PRAGMATIC, ids=label)
def test_metric_of_reference_games(metric, games):
    outcomes = check_metric(metric, sets=games)
    assert not failures(outcomes)
    assert passes(outcomes) >= 18


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["bleu", "meteor", "rouge", "cider"])
def test_distance(distance):
    assert not failures(check_distance(distance))


def test_embedding():
    assert not failures(check_embedding("bow"))


def test_every_metric_is_listed():
    listed = (
        {name_of(metric) for metric in [*METRICS, *PRAGMATIC]}
        | set(HEAVY)
        | WITH_THEIR_FAMILY
    )
    assert {
        entry.name
        for entry in current().entries("metrics")
        if entry.provider == "harness"
    } <= listed


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    path = tmp_path_factory.mktemp("predictions") / "captions.json"
    path.write_text(
        json.dumps({e.id: list(e.references[:2]) for e in sample_examples()})
    )
    return {"predictions": {"path": str(path)}}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "lines.txt"
    path.write_text("\n".join(e.references[0] for e in sample_examples()) + "\n")
    return {"lines": {"path": str(path)}}


@pytest.mark.parametrize(
    "adapter",
    [
        "human",
        "central",
        "mixture",
        "shuffled",
        {"epsilon-mixture": {"epsilon": 0.5}},
        {"human": {"held_out": 2, "split": "first"}},
        {"central": {"held_out": True}},
        {"mixture": {"unique": 3, "correct": 2}},
        {"people-mixture": {"unique": 2, "correct": 3, "n": 4, "choice": "central"}},
        "predictions",
        "lines",
    ],
    ids=label,
)
def test_adapter(adapter, request):
    if adapter in ("predictions", "lines"):
        adapter = request.getfixturevalue({"lines": "corpus"}.get(adapter, adapter))
    settings = {"mixture": {"unique": 3}} if adapter == "mixture" else adapter
    outcomes = check_adapter(settings)
    assert not failures(outcomes)
    assert passes(outcomes) >= 14


def test_reader():
    assert not failures(check_reader({"a3ds": {"pairs": 2}}))


def test_the_sample_task():
    assert not failures(check_task("coco", skip=["runs"]))
