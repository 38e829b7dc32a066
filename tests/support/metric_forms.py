"""Parameters of the metrics whose numbers are pinned, one set for each form."""

from __future__ import annotations

from typing import Any

from harness.registry import current, parameters
from harness_metrics.judges import judge
from tests.support import metric_inputs as inputs

BOW = {"embedding": "bow"}
LETTERS = {"embedding": inputs.Letters()}
DISTANCE = {"distance": "rouge"}
OTHERS: tuple[dict[str, Any], ...] = (
    {"distance": "bleu"},
    {"distance": {"bert": {"embedding": "bow"}}},
)
SAME = {
    "chair-s": "chair-i",
    "object-recall": "chair-i",
    "fact-precision": "fact-f1",
    "fact-recall": "fact-f1",
    "spider-max": "spider",
    "rouge2": "rouge1",
    "rougeL": "rouge1",
    "rougeLsum": "rouge1",
}
"""Metrics with the parameters of another one."""


def judging(**settings: Any) -> Any:
    """Return a judge without a model."""
    return judge.Judge(inputs.Judging(), cache=False, **settings)


def _with(first: dict[str, Any], *others: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**first, **other} for other in others]


FORMS: dict[str, Any] = {
    "best": [
        {"metric": "bleu"},
        {"metric": "ter"},
        {"metric": "ciderd"},
        {"metric": {"pairwise": {"distance": "rouge"}}},
    ],
    "bleu": [{}, {"n": 1}, {"n": 2, "tokenizer": "none"}],
    "c2st": [BOW, *_with(LETTERS, {}, {"ridge": 0.01}, {"ridge": 30.0})],
    "chair-i": [{}, {"truth": "annotations"}, {"truth": "both"}],
    "chrf": [
        {},
        {"char_order": 3, "word_order": 2, "beta": 1},
        {"lowercase": True},
        {"level": "sentence"},
    ],
    "cider": [
        {},
        {"tokenizer": "none"},
        {"variant": "plain"},
        {"df": "resampled"},
        {"df": "given"},
        {"df": [["a dog runs", "a cat"], ["the dog"]]},
    ],
    "ciderd": [{}, {"tokenizer": "none"}, {"df": "resampled"}],
    "cider-r": [
        {},
        {"tokenizer": "none"},
        {"df": "resampled"},
        {"df": [["a dog runs", "a cat"], ["the dog"], ["two boats"]]},
    ],
    "clair": [
        {"judge": judging()},
        {
            "judge": judging(),
            "unanswered": "lowest",
            "prompt": "Grade {candidates} {references}",
        },
    ],
    "rubric": [
        {"judge": judging()},
        {"judge": judging(), "unanswered": "lowest"},
        {
            "judge": judging(),
            "criteria": {"correctness": "true", "fluency": "good"},
            "scale": (0, 4),
            "references": False,
            "source": False,
        },
    ],
    "win-rate": [
        {"judge": judging()},
        {
            "judge": judging(),
            "opponents": 3,
            "criterion": "longer",
            "unanswered": "lowest",
        },
    ],
    "cnd": [
        {},
        {"n": 1},
        {"form": "unbiased"},
        {"conditional": True, "n": 1},
        {"form": "unbiased", "conditional": True, "tokenizer": "none"},
    ],
    "cr": [
        {},
        {"n": 1},
        {"conditional": True, "n": 3},
        {"conditional": True, "tokenizer": "none"},
    ],
    "nrr": [
        {},
        {"n": 1},
        {"form": "unbiased"},
        {"form": "cross-sentence"},
        {"form": "cross-sentence", "conditional": True, "n": 1},
    ],
    "corpus-bleu": [{}, {"n": 2}, {"n": 1, "tokenizer": "none"}],
    "corpus-mmd": [
        BOW,
        *_with(LETTERS, {"features": 16}, {"features": 7, "sigma": 2.5, "seed": 4}),
    ],
    "corpus-vendi": [
        BOW,
        *_with(LETTERS, {}, {"q": 0.0}, {"q": 2.0}, {"q": float("inf")}, {"q": 0.5}),
    ],
    "vendi": [
        BOW,
        *_with(LETTERS, {}, {"q": 0.0}, {"q": 2.0}, {"q": float("inf")}, {"q": 0.5}),
    ],
    "fact-f1": [
        {},
        *({"kind": kind} for kind in ("objects", "attributes", "relations")),
        {"table": None},
    ],
    "fense": [
        BOW,
        *_with(LETTERS, {}, {"threshold": 1.0}, {"penalty": 0.25, "threshold": 0.5}),
    ],
    "mauve": [
        *_with(
            LETTERS,
            {},
            {"k": 3, "redo": 1},
            {"k": 5, "seed": 7, "redo": 2, "scaling": 1.5},
        )
    ],
    "mauve-example": [
        *_with(
            LETTERS,
            {},
            {"k": 3, "redo": 1},
            {"k": 4, "seed": 7, "redo": 2, "scaling": 1.5},
        )
    ],
    "mauve-kde": [BOW, *_with(LETTERS, {}, {"scaling": 1.5})],
    "mauve-knn": [*_with(LETTERS, {}, {"scaling": 1.5, "k": 2})],
    "mbleu": [{}, {"n": 2}, {"n": 1, "tokenizer": "none"}],
    "meteor": [{}, {"tokenizer": "none"}],
    "mmd": [
        BOW,
        *_with(LETTERS, {}, {"estimator": "unbiased"}),
        {**BOW, "estimator": "unbiased"},
    ],
    "mmdagg": [
        BOW,
        *_with(
            LETTERS,
            {"bandwidths": 3},
            {"kernel": "gaussian", "bandwidths": 2},
            {"kernel": "laplace", "bandwidths": 4, "seed": 5},
        ),
    ],
    "ms-jaccard": [{}, {"n": 2}, {"n": 1, "tokenizer": "none"}],
    "object-match": [BOW, LETTERS, {**LETTERS, "aggregate": "mean"}],
    "pairwise": [
        DISTANCE,
        {**DISTANCE, "aggregate": "best"},
        {},
        {"aggregate": "best"},
        *OTHERS,
    ],
    "pairwise-bleu": [{}, {"n": 2}, {"n": 1, "tokenizer": "none"}],
    "production-variability": [DISTANCE, {**DISTANCE, "compare": "cross"}, {}, *OTHERS],
    "qdisc": [
        {},
        {"pair": "BLEU-NSBLEU", "epsilons": (0.0, 0.5)},
        {"n": 1, "show": "self-ratio"},
        {"length": "same", "seed": 2, "show": "drate"},
        {"length": 5, "epsilons": (0.0, 0.3, 1.0)},
        {"pair": "BLEU-NSBLEU", "n": 3, "show": "ref-ratio"},
    ],
    "reference-coverage": [
        DISTANCE,
        {**DISTANCE, "threshold": 0.6},
        {**DISTANCE, "threshold": 0.0},
        *OTHERS,
    ],
    "semantic-entropy": [
        DISTANCE,
        {**DISTANCE, "threshold": 0.6},
        {**DISTANCE, "threshold": 0.0},
        *OTHERS,
    ],
    "retrieval": [BOW, *_with(LETTERS, {}, {"k": 1}, {"k": 3})],
    "reverse-perplexity": [{}, {"n": 1}, {"n": 2, "tokenizer": "none"}],
    "sari": [{}, {"tokenizer": "intl"}, {"tokenizer": "none", "lowercase": False}],
    "self-bleu": [
        {},
        {"n": 2, "conditional": True},
        {"negative": True, "n": 1},
        {"conditional": True, "negative": True, "tokenizer": "none"},
    ],
    "self-cider": [{}, {"tokenizer": "none"}, {"df": "given"}],
    "sliced-wasserstein": [
        BOW,
        *_with(
            LETTERS,
            {"projections": 5},
            {"projections": 3, "p": 1.0, "seed": 2},
            {"projections": 4, "p": 3.5},
        ),
    ],
    "rouge1": [{}, {"stem": True}, {"statistic": "recall"}, {"tokenizer": "ptb"}],
    "spider": [
        {"spice": "rouge"},
        {"cider": {"cider": {"variant": "plain"}}, "spice": "bleu1"},
    ],
    "spider-fl": [
        {"spice": "rouge"},
        {"spice": "bleu1", "threshold": 1.0},
        {"spice": "rouge", "penalty": 0.25, "threshold": 0.5},
    ],
    "ter": [
        {},
        {"normalized": True, "case_sensitive": True},
        {"no_punct": True},
        {"level": "sentence"},
    ],
    "trm": [
        DISTANCE,
        {**DISTANCE, "pooling": "per-direction"},
        {},
        *OTHERS,
        {**DISTANCE, "triangles": "sampled", "drawn": 50},
        {**DISTANCE, "triangles": "sampled", "drawn": 40, "pooling": "per-direction"},
    ],
}


def forms(name: str) -> list[dict[str, Any]]:
    """Return the parameters of a metric, one set for each form."""
    name = SAME.get(name, name)
    if name in FORMS:
        return list(FORMS[name])
    known = parameters(current().load("metrics", name))
    if "embedding" in known:
        return [
            BOW,
            LETTERS,
            *([{**LETTERS, "k": 1}, {**LETTERS, "k": 3}] if "k" in known else []),
        ]
    if "distance" in known:
        return [DISTANCE, *OTHERS, *([{**DISTANCE, "k": 2}] if "k" in known else [])]
    return [
        *({"n": n} for n in ((1, 3) if "n" in known else ())),
        *([{"tokenizer": "none"}] if "tokenizer" in known else []),
        {},
    ]


def name_of(form: dict[str, Any]) -> str:
    """Return the parameters as text."""
    shown = {
        key: "letters" if isinstance(value, inputs.Letters) else value
        for key, value in form.items()
        if key != "judge"
    }
    return ", ".join(f"{key}={value}" for key, value in shown.items()) or "default"
