"""Targets that read texts: tokenisers, metrics and distances through the API."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

from hypothesis import strategies as st

from harness import api
from tools.fuzz.fuzz_inputs import TEXTS, VALUES, encoded
from tools.fuzz.fuzz_target import read_list, target
from tools.fuzz.variation import batch_of_sets, halves, vary_items

SETS = st.lists(
    st.tuples(
        st.lists(TEXTS, min_size=1, max_size=3), st.lists(TEXTS, min_size=1, max_size=3)
    ),
    min_size=1,
    max_size=4,
)
METRICS = (
    "bleu",
    "bleu1",
    "rouge",
    "rouge1",
    "rouge2",
    "rougeL",
    "rougeLsum",
    "cider",
    "cider-r",
    "ciderd",
    "chrf",
    "ter",
    "corpus-bleu",
    "cr",
    "nrr",
    "cnd",
    "ms-jaccard",
    "reverse-perplexity",
    "distinct",
    "vocabulary",
    "entropy",
    "caption-length",
    "compression-ratio",
    "novelty",
    "self-bleu",
    "mbleu",
    "self-cider",
    "pairwise-bleu",
    "meteor",
    "qdisc",
    "trm:distance=bleu",
    "trm:distance=rouge",
    "trm:distance=cider",
    "trm:distance=meteor",
    "pairwise:distance=bleu",
    "best:metric=rouge",
    "precision-example:distance=rouge",
    "recall-example:distance=rouge",
    "coverage-example:distance=bleu",
    "density-example:distance=bleu",
    "production-variability:distance=rouge",
    "reference-coverage:distance=rouge",
    "semantic-entropy:distance=rouge",
    "mmd:embedding=bow",
    "energy:embedding=bow",
    "sliced-wasserstein:embedding=bow",
    "frechet:embedding=bow",
    "mauve-example:embedding=bow",
    "mauve-kde:embedding=bow",
    "mauve-knn:embedding=bow",
    "mmdagg:embedding=bow",
    "c2st:embedding=bow",
    "vendi:embedding=bow",
    "corpus-vendi:embedding=bow",
    "corpus-frechet:embedding=bow",
    "corpus-mmd:embedding=bow",
    "retrieval:embedding=bow",
    "coverage:embedding=bow",
    "density:embedding=bow",
    "precision:embedding=bow",
    "recall:embedding=bow",
    "mauve:embedding=bow",
    "chair-i",
    "chair-s",
    "object-recall",
    "object-match:embedding=bow",
    "fact-f1",
    "fact-precision",
    "fact-recall",
)
NOT_FUZZED = {
    "language model or word vectors": (
        *(
            "bertscore",
            "clair",
            "clip-recall",
            "clipscore",
            "fense",
            "fleur",
            "pac-score",
            "ref-pac-score",
            "pac-score-plus",
            "ref-pac-score-plus",
            "ref-fleur",
            "vqascore",
            "refclipscore",
            "rubric",
            "win-rate",
        ),
        "wmd",
    ),
    "events in place of captions": ("dense", "trm-events", "mmd-events"),
    "Java program": ("spice", "spider", "spider-max", "spider-fl"),
    "source text, scene or options beside the captions": (
        *(
            "sari",
            "scores",
            "adjective-order",
            "contrastive-efficiency",
            "discriminativity",
            "false-features",
            "listener-accuracy",
        ),
        *(
            "mentioned-features",
            "optimal-discriminativity",
            "redundant-mention",
            "relevance",
            "choice",
            "poll",
        ),
    ),
    "token scores, or a model of text": ("perplexity", "pregen"),
    "parts of metrics that are fuzzed": ("bleu2", "bleu3", "bleu4"),
}
"""Reasons for which the target ``metrics`` leaves out built-in metrics."""


@target(encoded(st.lists(TEXTS, max_size=5)))
def tokenisers(data: bytes, folder: Path) -> None:
    """The tokenisers of captions and the stemmer."""
    from caption_kernels import Tokenizer, stem
    from harness_metrics.tokenisers.plain_words import plain_words

    try:
        texts = [text for text in json.loads(data) if isinstance(text, str)]
    except (ValueError, TypeError, RecursionError):
        texts = data.decode("utf-8", "replace").splitlines()
    tokenizer = Tokenizer()
    lines = tokenizer.tokenize(texts)
    assert len(lines) == len(texts)
    assert not any("\n" in line for line in lines)
    tokenizer.tokens_raw(texts)
    stem(texts)
    for text in texts:
        plain_words(text)


@target(
    encoded(st.tuples(st.sampled_from(METRICS), st.booleans(), SETS)),
    scores=True,
    vary=batch_of_sets,
    size=lambda data: len(json.loads(data)[2]),
    halves=halves,
)
def metrics(data: bytes, folder: Path) -> None:
    """Every metric and distance that needs no large model, through the API,
    with and without p-values.
    """
    name, tested, sets = json.loads(data)
    candidates = [item[0] for item in sets]
    references = [item[1] for item in sets]
    results = api.score(
        candidates,
        references,
        name,
        p_value="monte-carlo"
        if tested and max(map(len, itertools.chain(*candidates, *references))) < 400
        else None,
    )
    for result in results.values():
        value = result.value
        assert isinstance(value, float), value
        assert not math.isinf(value), f"{name} is infinite"


@target(encoded(st.tuples(VALUES, VALUES)), scores=True, vary=vary_items)
def score_arguments(data: bytes, folder: Path) -> None:
    """Arguments of the API of any shape."""
    candidates, references = read_list(data, 2)
    api.score(candidates, references, "rouge")
