"""BLEU, ROUGE-L and CIDEr against values of pycocoevalcap (golden/coco; its README
describes their computation).
"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from harness.api import caption_sets
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness_metrics.ngram import bleu, cider, rouge

TOLERANCE = 1e-12
METRICS = [
    pair
    for tokenizer in ("none", "ptb")
    for pair in (
        *(
            (bleu.Bleu(n=n, tokenizer=tokenizer), lambda item, n=n: item["Bleu"][n - 1])
            for n in (1, 2, 3, 4)
        ),
        (rouge.Rouge(tokenizer=tokenizer), lambda item: item["ROUGE_L"]),
        (cider.Cider(tokenizer=tokenizer), lambda item: item["CIDEr"]),
        (cider.CiderD(tokenizer=tokenizer), lambda item: item["CIDEr"]),
    )
]


@pytest.fixture(scope="module")
def golden(golden):
    folder = golden / "coco"
    with gzip.open(
        folder / "coco_metrics_golden.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        items = [json.loads(line) for line in lines]
    return items, json.loads(
        (folder / "coco_metrics_golden_corpus.json").read_text(encoding="utf-8")
    )


def run(metric, items):
    """Corpus value and per-example values on the golden items,
    which are tokenised for tokenizer "none".
    """
    end = "_tok" if metric.tokenizer == "none" else ""
    sets = caption_sets(
        [[item["hyp" + end]] for item in items], [item["refs" + end] for item in items]
    )
    features = FeatureCache([item.references for item in sets])
    state = metric.fit(features.references, features)
    rows = {}
    for _, batch in scoring.batches(sets, features):
        rows.update(zip(batch.ids, metric.stats(batch, features, state)))
    stats = np.stack([rows[item.id] for item in sets])
    return metric.reduce(stats), metric.per_example(stats)


@pytest.mark.parametrize(
    "metric, expected",
    METRICS,
    ids=[f"{m.spec.name}-{m.tokenizer}" for m, _ in METRICS],
)
def test_items_and_corpus_equal_the_toolkit(golden, metric, expected):
    items, corpus = golden
    value, per_example = run(metric, items)
    assert np.abs(per_example - [expected(item) for item in items]).max() <= TOLERANCE
    assert abs(value - expected(corpus["corpus"])) <= TOLERANCE


@pytest.mark.parametrize(
    "metric, expected",
    METRICS,
    ids=[f"{m.spec.name}-{m.tokenizer}" for m, _ in METRICS],
)
def test_first_items_alone_equal_the_toolkit(golden, metric, expected):
    items, corpus = golden
    for size, subset in corpus["first_n_items_alone"].items():
        if size == "1" and isinstance(metric, cider.Cider):
            continue  # the toolkit gives 0, the harness no score
        value, per_example = run(metric, items[: int(size)])
        assert abs(value - expected(subset["corpus"])) <= TOLERANCE
        assert (
            np.abs(per_example - [expected(item) for item in subset["items"]]).max()
            <= TOLERANCE
        )


def test_order_of_examples_does_not_change_a_digit(golden):
    items, _ = golden
    for metric, _ in METRICS:
        _, forward = run(metric, items[:100])
        _, backward = run(metric, items[:100][::-1])
        assert np.array_equal(forward, backward[::-1])
