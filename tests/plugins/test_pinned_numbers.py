"""All numbers of every metric, in many forms, on small fixed data: nothing moves unseen.

Other tests compare with formulas, other implementations and published values; these only notice that a number, note or signature changed.
``HARNESS_PIN=write`` writes the files anew (:mod:`tests.support.pinned`).
"""

from __future__ import annotations

import json
import math
import pickle
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.registry import current, parameters
from harness.run.features import FeatureCache
from harness_metrics.composed.fense import is_broken
from harness_metrics.crnrr.ngrams import Sums, from_sums
from harness_metrics.crnrr.words import Vocabulary, words_of
from harness_metrics.discrepancy.curve import PAIRS, largest_quality, point
from harness_metrics.discrepancy.mixing import draw
from harness_metrics.discrepancy.qdisc import curve_discrepancy
from harness_metrics.hallucination import fact_words
from harness_metrics.hallucination.facts import parse
from harness_metrics.hallucination.matching import NO_SYNONYMS
from harness_metrics.hallucination.nouns import singular
from harness_metrics.hallucination.objects import ObjectTable, object_table
from harness_metrics.judges import answers, judge
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.tournament import arena
from harness_metrics.kernel import frechet, geometry, mmd, sliced_wasserstein, symmetric_relabelings
from harness_metrics.mauve import frontier, quantise
from harness_metrics.mauve import metric as mauve
from harness_metrics.meteor import engine as meteor
from harness_metrics.neural import bertscore
from harness_metrics.ngram import bleu, cider, document_frequency, rouge
from harness_metrics.pragmatic import lexicon
from harness_metrics.pragmatic import scores as scores_of_games
from harness_metrics.pragmatic.parser import read
from harness_metrics.pragmatic.scores import evaluate
from harness_metrics.pragmatic.tagging import nouns_and_adjectives
from harness_metrics.pragmatic.word_order import size_first
from harness_metrics.pregen.functions import evaluate as evaluate_pregen
from harness_metrics.pregen.tokens import from_token_scores
from harness_metrics.sets import corpus_metrics, neighbour_groups, neighbours, spectrum, variability_metric
from harness_metrics.tokenisers.plain_words import plain_words
from harness_metrics.tokenisers.tokens import tokenize
from harness_metrics.trm import metric as trm
from harness_metrics.trm import statistic as triangles
from harness_metrics.twosample import metrics as twosample
from harness_tasks.a3ds.scene import FACTORS, PHRASES, indices
from tests.support import metric_inputs as inputs
from tests.support import metric_reports as reports
from tests.support.pinned import FOLDER, as_text, assert_pinned

NOT_PINNED = {"spice": "needs Stanford CoreNLP"}
"""Metrics without a pinned file, with the reason."""
TOKENIZERS = ({}, {"tokenizer": "none"})
BOW, LETTERS = {"embedding": "bow"}, {"embedding": inputs.Letters()}
DISTANCE = {"distance": "rouge"}
OTHERS: tuple[dict[str, Any], ...] = ({"distance": "bleu"}, {"distance": {"bert": {"embedding": "bow"}}})
N_AND_TOKENIZER = ({}, {"n": 1}, {"n": 3, "tokenizer": "none"})


def judging(**settings: Any) -> Any:
    """Return a judge without a model."""
    return judge.Judge(inputs.Judging(), cache=False, **settings)


def _with(first: dict[str, Any], *others: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**first, **other} for other in others]


_FORMS: dict[str, Any] = {
    "best": [{"metric": "bleu"}, {"metric": "ter"}, {"metric": "ciderd"}, {"metric": {"pairwise": {"distance": "rouge"}}}],
    "bleu": [{}, {"n": 1}, {"n": 2, "tokenizer": "none"}],
    "c2st": [BOW, *_with(LETTERS, {}, {"ridge": 0.01}, {"ridge": 30.0})],
    "chair-i": [{}, {"truth": "annotations"}, {"truth": "both"}],
    "chrf": [{}, {"char_order": 3, "word_order": 2, "beta": 1}, {"lowercase": True}, {"level": "sentence"}],
    "cider": [
        {},
        {"tokenizer": "none"},
        {"variant": "plain"},
        {"df": "resampled"},
        {"df": "given"},
        {"df": [["a dog runs", "a cat"], ["the dog"]]},
    ],
    "ciderd": [{}, {"tokenizer": "none"}, {"df": "resampled"}],
    "cider-r": [{}, {"tokenizer": "none"}, {"df": "resampled"}, {"df": [["a dog runs", "a cat"], ["the dog"], ["two boats"]]}],
    "clair": [{"judge": judging()}, {"judge": judging(), "unanswered": "lowest", "prompt": "Grade {candidates} {references}"}],
    "rubric": [
        {"judge": judging()},
        {"judge": judging(), "unanswered": "lowest"},
        {"judge": judging(), "criteria": {"correctness": "true", "fluency": "good"}, "scale": (0, 4), "references": False, "source": False},
    ],
    "win-rate": [{"judge": judging()}, {"judge": judging(), "opponents": 3, "criterion": "longer", "unanswered": "lowest"}],
    "cnd": [
        {},
        {"n": 1},
        {"form": "unbiased"},
        {"conditional": True, "n": 1},
        {"form": "unbiased", "conditional": True, "tokenizer": "none"},
    ],
    "cr": [{}, {"n": 1}, {"conditional": True, "n": 3}, {"conditional": True, "tokenizer": "none"}],
    "nrr": [{}, {"n": 1}, {"form": "unbiased"}, {"form": "cross-sentence"}, {"form": "cross-sentence", "conditional": True, "n": 1}],
    "corpus-bleu": [{}, {"n": 2}, {"n": 1, "tokenizer": "none"}],
    "corpus-mmd": [BOW, *_with(LETTERS, {"features": 16}, {"features": 7, "sigma": 2.5, "seed": 4})],
    "corpus-vendi": [BOW, *_with(LETTERS, {}, {"q": 0.0}, {"q": 2.0}, {"q": float("inf")}, {"q": 0.5})],
    "vendi": [BOW, *_with(LETTERS, {}, {"q": 0.0}, {"q": 2.0}, {"q": float("inf")}, {"q": 0.5})],
    "fact-f1": [{}, *({"kind": kind} for kind in ("objects", "attributes", "relations")), {"table": None}],
    "fense": [BOW, *_with(LETTERS, {}, {"threshold": 1.0}, {"penalty": 0.25, "threshold": 0.5})],
    "mauve": [*_with(LETTERS, {}, {"k": 3, "redo": 1}, {"k": 5, "seed": 7, "redo": 2, "scaling": 1.5})],
    "mauve-example": [*_with(LETTERS, {}, {"k": 3, "redo": 1}, {"k": 4, "seed": 7, "redo": 2, "scaling": 1.5})],
    "mauve-kde": [BOW, *_with(LETTERS, {}, {"scaling": 1.5})],
    "mauve-knn": [*_with(LETTERS, {}, {"scaling": 1.5, "k": 2})],
    "mbleu": [{}, {"n": 2}, {"n": 1, "tokenizer": "none"}],
    "meteor": [{}, {"tokenizer": "none"}],
    "mmd": [BOW, *_with(LETTERS, {}, {"estimator": "unbiased"}), {**BOW, "estimator": "unbiased"}],
    "mmdagg": [
        BOW,
        *_with(LETTERS, {"bandwidths": 3}, {"kernel": "gaussian", "bandwidths": 2}, {"kernel": "laplace", "bandwidths": 4, "seed": 5}),
    ],
    "ms-jaccard": [{}, {"n": 2}, {"n": 1, "tokenizer": "none"}],
    "object-match": [BOW, LETTERS, {**LETTERS, "aggregate": "mean"}],
    "pairwise": [DISTANCE, {**DISTANCE, "aggregate": "best"}, {}, {"aggregate": "best"}, *OTHERS],
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
    "reference-coverage": [DISTANCE, {**DISTANCE, "threshold": 0.6}, {**DISTANCE, "threshold": 0.0}, *OTHERS],
    "semantic-entropy": [DISTANCE, {**DISTANCE, "threshold": 0.6}, {**DISTANCE, "threshold": 0.0}, *OTHERS],
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
    "sliced-wasserstein": [BOW, *_with(LETTERS, {"projections": 5}, {"projections": 3, "p": 1.0, "seed": 2}, {"projections": 4, "p": 3.5})],
    "spider": [{"spice": "rouge"}, {"cider": {"cider": {"variant": "plain"}}, "spice": "bleu1"}],
    "ter": [{}, {"normalized": True, "case_sensitive": True}, {"no_punct": True}, {"level": "sentence"}],
    "trm": [
        DISTANCE,
        {**DISTANCE, "pooling": "per-direction"},
        {},
        *OTHERS,
        {**DISTANCE, "triangles": "sampled", "drawn": 50},
        {**DISTANCE, "triangles": "sampled", "drawn": 40, "pooling": "per-direction"},
    ],
}
_SAME = {
    "chair-s": "chair-i", "object-recall": "chair-i", "fact-precision": "fact-f1", "fact-recall": "fact-f1", "spider-max": "spider",
}  # fmt: skip
"""Metrics with the parameters of another one."""


def forms(name: str) -> list[dict[str, Any]]:
    """Return the parameters of a metric, one set for each form."""
    name = _SAME.get(name, name)
    if name in _FORMS:
        return list(_FORMS[name])
    known = parameters(current().load("metrics", name))
    if "embedding" in known:
        return [BOW, LETTERS, *([{**LETTERS, "k": 1}, {**LETTERS, "k": 3}] if "k" in known else [])]
    if "distance" in known:
        return [DISTANCE, *OTHERS, *([{**DISTANCE, "k": 2}] if "k" in known else [])]
    return [*({"n": n} for n in ((1, 3) if "n" in known else ())), *([{"tokenizer": "none"}] if "tokenizer" in known else []), {}]


def name_of(form: dict[str, Any]) -> str:
    """Return the parameters as text."""
    shown = {key: "letters" if isinstance(value, inputs.Letters) else value for key, value in form.items() if key != "judge"}
    return ", ".join(f"{key}={value}" for key, value in shown.items()) or "default"


NAMES = [entry.name for entry in current().entries("metrics") if entry.provider == "harness"]
for _name in NAMES:
    current().load("metrics", _name)  # what a module does on import belongs to no single test
OTHER_INPUTS = {
    "choice",
    "poll",
    "perplexity",
    "pregen",
    "scores",
    "novelty",
    "bertscore",
    "wmd",
    "clipscore",
    "refclipscore",
    "pac-score",
    "ref-pac-score",
    "clip-recall",
    "listener-accuracy",
    "fleur",
    "discriminativity",
    "contrastive-efficiency",
    "relevance",
    "optimal-discriminativity",
    "mentioned-features",
    "false-features",
    "redundant-mention",
    "adjective-order",
}
"""Metrics that need other inputs than captions, below."""
OF_CAPTIONS = [name for name in NAMES if name not in OTHER_INPUTS and name not in NOT_PINNED]


@pytest.mark.parametrize("name", OF_CAPTIONS)
def test_metric_of_captions(name: str) -> None:
    further = {"mirrored": inputs.MIRRORED, "wide": inputs.WIDE, "short": inputs.SHORT}
    out: dict[str, Any] = {}
    for number, form in enumerate(forms(name)):
        metric = reports.create(name, form)
        more = further if number == 0 or metric.spec.level == "corpus" else {}
        if name in ("cr", "nrr", "cnd"):
            more = {**more, "hundred": inputs.HUNDRED}
        if name == "mauve-example":  # of few points, several divisions into buckets are equally good: rounding errors choose
            more = {key: sets for key, sets in more.items() if key != "short"}
        out[str(number)] = {"form": name_of(form), **reports.report_all(metric, inputs.MIXED, inputs.EVEN, more)}
    assert_pinned(f"metrics/{name}.txt", as_text(out))


# --------------------------------------------------------------------------- metrics of other inputs
@pytest.mark.parametrize("name", ["choice", "poll", "perplexity", "pregen"])
def test_metric_of_token_scores(name: str) -> None:
    twelve, kinds = inputs.likelihoods(), [{"kind": "abca"[k % 4], "part": k // 4} for k in range(12)]
    single = [[option] for row in inputs.likelihoods(2, 12) for option in row]
    blind = [row for pair in zip(twelve, inputs.likelihoods(3, 15)[3:]) for row in pair]
    pairs = [row for pair in zip(inputs.groups(2), inputs.groups(2, 5)[2:]) for row in pair]
    poll, unread = inputs.polls(), inputs.polls(unread=True)
    tiers = {"captions": ["geomean", "join", "median"], "score": "*", "tokens": ["none", "filter0_kept"]}
    outer = {"images": "*", "captions": ["mean", "join"], "score": ["pplx", "normcount"], "tokens": "filter0"}
    cases: dict[str, list[tuple[dict[str, Any], Any, Any]]] = {
        "choice": [
            ({}, twelve, ()),
            ({"score": "mean"}, twelve, ()),
            ({"options": 3}, twelve, ()),
            ({"options": 2}, twelve, ()),
            ({"by": "kind"}, twelve, kinds),
            ({"by": "part", "score": "mean"}, twelve, kinds),
            ({"across": 2}, single, ()),
            ({"across": 4, "score": "mean"}, single, ()),
            ({"across": 5}, single, ()),
            ({"blind": True}, blind, ()),
            ({"blind": True, "by": "part"}, blind, [{"part": k // 6} for k in range(24)]),
            ({"group": 2}, inputs.groups(2), ()),
            ({"group": 3, "score": "mean"}, inputs.groups(3), ()),
            ({"group": 2, "blind": True}, pairs, ()),
            ({"group": 2, "by": "part"}, inputs.groups(2), [{"part": k // 4} for k in range(8)]),
            ({}, unread, ()),
            ({}, twelve[:1], ()),
            ({"blind": True}, [*twelve[:1], inputs.likelihoods(2, 1)[0]], ()),
            ({}, [row[:1] for row in twelve], ()),
            ({"across": 2}, twelve, ()),
            ({"group": 2}, [row[::-1] for row in inputs.groups(2)], ()),
            ({"group": 3}, inputs.groups(2), ()),
            ({"group": 2}, [[row[0], row[0]] for row in inputs.groups(2)], ()),
            ({"by": "gone"}, twelve, kinds),
            ({"by": "kind", "across": 2}, single, [kinds[k // 2] for k in range(24)]),
            ({"by": "kind", "across": 2}, single, [kinds[k % 12] for k in range(24)]),
        ],
        "poll": [
            ({}, poll, ()),
            ({"positive": "no"}, poll, ()),
            ({"score": "mean"}, poll, ()),
            ({"by": "kind"}, poll, kinds),
            ({}, unread, ()),
            ({"positive": "no", "by": "kind", "score": "mean"}, unread, kinds),
            ({"yes": "ye"}, poll[:1], ()),
        ],
        "perplexity": [({}, twelve, ()), ({}, [row[: 1 + k % 3] for k, row in enumerate(twelve)], ()), ({}, unread, ())],
        "pregen": [
            ({}, twelve, ()),
            *(({"tiers": given}, [row[: 1 + k % 3] for k, row in enumerate(twelve)], ()) for given in (tiers, outer)),
            ({"name": "median_max_pplx_prefix0"}, twelve, ()),
            ({"names": ["max_mean_prob_none", "sum_join_count_filter0", "mean_geomean_count_none"]}, twelve[:7], ()),
            ({"tiers": ["geomean", "*", "pplx", "none"]}, twelve[:8], ()),
            ({"name": "mean_sum_prob_none"}, unread, ()),
        ],
    }
    out: dict[str, Any] = {}
    for number, (form, *rest) in enumerate(cases[name]):
        out[str(number)] = {"form": name_of(form), **reports.report_scores(reports.create(name, form), *rest)}
    if name == "pregen":
        short = [row[: 1 + k % 3] for k, row in enumerate(inputs.likelihoods(3, 5))]
        out["all"] = reports.as_json(reports.create("pregen", {"all": True}).evaluate_scores(short))
        out["spec of all"] = reports.as_json(reports.fields_of_spec(reports.create("pregen", {"all": True}).spec))
        many = from_token_scores([[inputs.likelihoods(1, 40)[k][0] for k in range(5, 5 + size)] for size in (1, 17, 18, 2, 30)])
        names = [
            f"{a}_{b}_{c}_prefix0" for a in ("median", "geomean", "min") for b in ("median", "min", "geomean") for c in ("count", "pplx")
        ]
        out["many captions"] = reports.as_json(dict(zip(names, evaluate_pregen(many, names))))
        out["taken"] = reports.as_json(many.take(np.array([3, 0, 3])))
        for wrong in (
            [],
            [[]],
            [[[]]],
            [[[(2, 0)]]],
            [[[(0.5, 0)], [(0.5, 0), (0.5, -1)]]],
            [[[(0.5, 0)]], [[(0.5, 0)], [(0.5, 0.5)]]],
            [[[0.5]]],
        ):
            out[f"refused {wrong}"] = reports.attempt(evaluate_pregen, wrong)
    assert_pinned(f"metrics/{name}.txt", as_text(out))


def scores_file(folder: Path) -> str:
    """Write a file of scores of the captions of ``MIXED`` and ``EVEN`` by example and caption."""
    rows = [
        {"id": item.id, "caption": text, "score": None if k == 3 else (k * 7 % 5) / 4 + len(text) / 100, "other": k}
        for k, item in enumerate((*inputs.MIXED, *inputs.EVEN)) for text in dict.fromkeys(item.candidates)
    ]  # fmt: skip
    (folder / "rated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(folder / "rated.jsonl")


def vector_file(folder: Path) -> str:
    """Write word vectors of the words of ``EVEN``, some without."""
    words = sorted(
        {word for item in inputs.EVEN for text in (*item.candidates, *item.references) for word in text.replace(",", "").split()}
    )
    lines = [f"{word} {len(word) - 4} {ord(word[0]) % 7 - 3} {(ord(word[-1]) * k) % 5 - 2}" for k, word in enumerate(words) if k % 9 != 4]
    (folder / "words.vec").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder / "words.vec")


def corpus_file(folder: Path) -> str:
    """Write training captions."""
    (folder / "corpus.txt").write_text("A cat.\n\n  two boats \nlemon quantum zebra\nrice and beans on a plate", encoding="utf-8")
    return str(folder / "corpus.txt")


def with_towers(metric: Any) -> Any:
    """Give a metric of images towers that need no weights."""
    towers = getattr(metric, "towers", metric)
    towers.clip.signature = lambda: "clip|letters"
    towers.clip.encode = lambda texts: unit(inputs.Letters().encode(texts))
    towers._encode = lambda images: unit(np.array([np.resize(np.asarray(i).mean(axis=(0, 1)), 7) - 100.0 for i in images]))
    return metric


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors divided by their lengths, float32."""
    vectors = vectors.astype(np.float64)
    return (vectors / np.sqrt(np.maximum((vectors**2).sum(axis=1, keepdims=True), 1.0))).astype(np.float32)


def illustrated(sets: Sequence[CaptionSet], folder: Path) -> list[CaptionSet]:
    """Return caption sets with images of one colour."""
    image = pytest.importorskip("PIL.Image")
    for number in range(5):
        image.new("RGB", (4, 4), (number * 60, 255 - number * 50, (number * 100) % 256)).save(folder / f"{number}.png")
    return [replace(item, media=str(folder / f"{number * 3 % 5}.png")) for number, item in enumerate(sets)]


@pytest.mark.parametrize(
    "name", ["scores", "novelty", "wmd", "clipscore", "refclipscore", "pac-score", "ref-pac-score", "clip-recall", "fleur"]
)
def test_metric_of_files(name: str, tmp_path: Path) -> None:
    path, images = str(tmp_path), name not in ("scores", "novelty", "wmd")
    mixed: list[CaptionSet] = illustrated(inputs.MIXED, tmp_path) if images else list(inputs.MIXED)
    even: list[CaptionSet] = illustrated(inputs.EVEN, tmp_path) if images else list(inputs.EVEN)
    cases: dict[str, list[dict[str, Any]]] = {
        "scores": [
            {"column": "rating"},
            {"path": scores_file},
            {"path": scores_file, "column": "other", "name": "mine", "higher_is_better": False},
        ],
        "novelty": [{}, {"tokenizer": "none"}, {"corpus": corpus_file}, {"corpus": corpus_file, "tokenizer": "none"}],
        "wmd": [
            {"path": vector_file},
            {"path": vector_file, "form": "similarity"},
            {"path": vector_file, "stopwords": True, "normalize": True},
            {"path": vector_file, "normalize": True, "form": "similarity"},
        ],
        "clip-recall": [
            {"weights": corpus_file},
            {"weights": corpus_file, "k": 1},
            {"weights": corpus_file, "k": 2, "model": "ViT-L-14", "batch_size": 2},
        ],
        "fleur": [{"judge": judging(image=True)}, {"judge": judging(image=True), "references": True, "unanswered": "lowest"}],
    }
    out: dict[str, Any] = {}
    for form in cases.get(name, [{"weights": "none"}, {"weights": "none", "images": path, "batch_size": 3}]):
        given = {key: value(tmp_path) if callable(value) else value for key, value in form.items()}
        metric = reports.create(name, given)
        metric = with_towers(metric) if "weights" in form else metric
        shown = {key: getattr(value, "__name__", value) for key, value in form.items() if key not in ("judge", "images", "weights")}
        out[str(len(out))] = {"form": name_of(shown), **reports.report_all(metric, mixed, even, {})}
    assert_pinned(f"metrics/{name}.txt", as_text(out).replace(path, "FOLDER"))


class Listening:
    """A listener that selects by the length of the caption."""

    def fingerprint(self) -> str:
        """Return a text that identifies it."""
        return "length"

    def listen(self, examples: Sequence[Any], captions: Sequence[str]) -> np.ndarray:
        """Return the selected image of each game, 0 for the target."""
        return np.array([(len(text) + int(example.meta["target_id"])) % 3 // 2 for example, text in zip(examples, captions)])


TARGETS = (0, 17, 4711, 123_456, 479_999, 250_000, 88_888, 31_415)
DISTRACTORS = (1, 479_999, 4712, 123_457, 0, 8, 88_903, 400_000)


def described_scene(values: Sequence[int]) -> str:
    """Return a caption that says all six features of a scene."""
    floor, wall, hue, scale, shape, place = (PHRASES[factor][value] for factor, value in enumerate(values))
    return f"{scale} {hue} {shape} {place} in front of a {wall} wall on {floor} floor"


def games(several: bool = False) -> list[CaptionSet]:
    """Return captions of scenes with distractors."""
    out: list[CaptionSet] = []
    for k, (target, distractor) in enumerate(zip(TARGETS, DISTRACTORS)):
        described = [described_scene(values) for values in indices([target, distractor]).tolist()]
        other = inputs.PHRASES[(3 * k) % len(inputs.PHRASES)]
        texts = (described[0], described[1], f"{PHRASES[4][indices([target])[0][4]]} {other}")
        beside = {"distractor_ids": [distractor, DISTRACTORS[k - 1]]} if several else {"distractor_id": distractor}
        out.append(
            CaptionSet(f"game-{k}", texts, (other,), None, None, {"target_id": target, **beside, "category": "abc"[k % 3], "group": k % 2})
        )
    return out


PRAGMATIC = (
    "discriminativity", "contrastive-efficiency", "relevance", "optimal-discriminativity", "mentioned-features", "false-features",
    "redundant-mention", "listener-accuracy", "adjective-order",
)  # fmt: skip


@pytest.mark.parametrize("name", PRAGMATIC)
def test_metric_of_reference_games(name: str) -> None:
    cases: dict[str, list[dict[str, Any]]] = {
        "redundant-mention": [{"feature": factor} for factor in FACTORS] + [{"feature": "shape", "category": "b"}],
        "listener-accuracy": [{"listener": Listening()}, {"listener": Listening(), "category": "a", "tag": "mine"}],
        "adjective-order": [{}], "optimal-discriminativity": [{}, {"category": "b"}],
    }  # fmt: skip
    out: dict[str, Any] = {}
    for form in cases.get(name, [{}, {"mode": "authors-script"}, {"category": "a"}, {"mode": "authors-script", "category": "b"}]):
        shown = {key: value for key, value in form.items() if key != "listener"}
        metric = reports.create(name, form)
        out[str(len(out))] = {"form": name_of(shown), **reports.report_all(metric, games(), games(), {"several": games(several=True)})}
    assert_pinned(f"metrics/{name}.txt", as_text(out))


class TokenVectors:
    """An encoder of words by their letters, in place of a language model."""

    fingerprint, layer, path = "letters", 2, Path("letters")

    def encode(self, texts: Sequence[str]) -> list[bertscore.Tokens]:
        """Return unit vectors along the axes or halves, exact on every processor."""
        out: list[bertscore.Tokens] = []
        for text in texts:
            ids = np.array(self.token_ids([text])[0], dtype=np.int64)
            signs = np.where((ids[:, None] >> np.arange(4)) & 1, 0.5, -0.5).astype(np.float32)
            counted = np.ones(len(ids), dtype=bool)
            counted[[0, -1]] = False
            out.append(bertscore.Tokens(signs, counted, ids))
        return out

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return numbers of words between those of two special tokens."""
        return [[1, *(sum(map(ord, word)) % 61 + 3 for word in text.split()), 2] for text in texts]


def test_bertscore(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 2}')
    (tmp_path / "baseline.tsv").write_text("LAYER,P,R,F\n1,0.1,0.2,0.3\n2,0.4,0.35,0.45\n")
    out: dict[str, Any] = {}
    for form in ({}, {"kind": "precision"}, {"kind": "recall", "idf": True}, {"idf": True, "baseline": str(tmp_path / "baseline.tsv")}):
        metric = bertscore.BertScore(path=str(tmp_path), **cast("dict[str, Any]", form))
        metric.encoder, metric.model = cast("Any", TokenVectors()), "letters"
        shown = {key: Path(str(value)).name for key, value in form.items()}
        out[str(len(out))] = {"form": name_of(shown), **reports.report_all(metric, inputs.MIXED, inputs.EVEN, {})}
    out["baseline"] = [bertscore.read_baseline(tmp_path / "baseline.tsv", layer) for layer in (1, 2)]
    out["layers"] = bertscore.LAYERS
    assert_pinned("metrics/bertscore.txt", as_text(out))


# --------------------------------------------------------------------------- functions
def test_tokenisers_and_word_lists() -> None:
    out: dict[str, Any] = {
        "ptb": tokenize(inputs.ODD_TEXTS),
        "none": tokenize(inputs.ODD_TEXTS, "none"),
        **{
            f"plain {joiners} {marks}": [plain_words(text, joiners=joiners, marks=marks) for text in inputs.ODD_TEXTS]
            for joiners in ("", "'", "'’-")
            for marks in (False, True)
        },
        "broken": {
            text: is_broken(text) for text in (*inputs.ODD_TEXTS, *inputs.SENTENCES, "a b c d a b c d", "a b c d e a b c d e", "a dog of")
        },
    }
    assert_pinned("metrics/functions/tokenisers.txt", as_text(reports.as_json(out)))


def broken_table(folder: Path, text: str) -> Any:
    """Return what a table of objects with this content has, or the message that refuses it."""
    path = folder / f"{zlib.crc32(text.encode())}.yaml"
    path.write_text(text, encoding="utf-8")
    found = reports.attempt(lambda: object_table(str(path)).objects)
    return found.replace(str(path), "FILE") if isinstance(found, str) else found


def test_facts_and_objects(tmp_path: Path) -> None:
    table = object_table("coco")
    nouns = (
        "dogs buses knives geese men women children glasses sheep leaves boxes babies potatoes news grass is people series oxen feet teeth"
    )
    own = ObjectTable(
        {"dog": ["hot", "puppy"], "food": ["hot dog", "orange"], "cat": []}, none=["toy dog"], modifiers=["orange"], name="mine"
    )
    (tmp_path / "table.yaml").write_text(
        "objects:\n  dog: [puppy, hound]\n  animal: [dog, cat]\nnone: [hot dog]\nmodifiers: [cat]\n", encoding="utf-8"
    )
    mine = object_table(str(tmp_path / "table.yaml"))
    tables: tuple[Any, ...] = (
        {"a": ["b"], "b": ["a"]},
        {"a": ["..."]},
        {"a": ["c"], "b": ["c"]},
        {"a": ["b"], "b": [], "c": ["b"]},
        {"a": ["b"], "b": ["c"], "c": []},
    )
    out = {
        "own": [
            [own.mentions(text), mine.mentions(text)]
            for text in ("hot dogs and an orange cat", "a toy dog, puppies", "orange", "cat hound", "the cat dog")
        ],
        "files": [
            broken_table(tmp_path, text)
            for text in (
                "dog: puppy\n",
                "cat: []\ndog: [1]\n",
                "objects:\n  cat: []\n  dog: 3\n",
                "objects: {}\nnon: []\n",
                "- a\n",
                "objects:\n  cat: [x]\n  dog: [x]\n",
                "cat: [x]\ndog: [x]\n",
                "objects: {a: }\nnone: 5\n",
            )
        ],
        "signatures": [own.signature(), mine.signature(), NO_SYNONYMS.signature()],
        "tables": [reports.attempt(lambda table: ObjectTable(table).objects, t) for t in tables],
        "facts": {text: parse(text, table) for text in inputs.SENTENCES},
        "facts without table": {text: parse(text, NO_SYNONYMS) for text in inputs.SENTENCES},
        "objects": {text: table.mentions(text) for text in inputs.SENTENCES},
        "singular": {word: singular(word) for word in nouns.split()},
        "verbs": " ".join(f"{form}={verb}" for form, verb in sorted(fact_words.VERBS.items()) if form[0] in "abcs" or form[-1] == "d"),
        "signature": table.signature(),
        "of labels": [table.object_of(label, "here") for label in ("Puppy", "hot dogs", "cell phone")],
        "contains": [table.contains(word) for word in ("dogs", "toilet paper", "zebra", "xyz")],
        "unknown": reports.attempt(table.object_of, "xyz", "here"),
    }
    assert_pinned("metrics/functions/facts.txt", as_text(reports.as_json(out)))


def test_reference_games() -> None:
    rows = [
        {"prediction": text, "target_id": TARGETS[k % 8], "distractor_id": DISTRACTORS[(k * 3) % 8]}
        for k, text in enumerate(inputs.PHRASES)
    ]
    rows += [{"prediction": text, **item.meta} for item in games() for text in item.candidates]
    for orientation in (0, 3, 7, 9, 14):  # scenes of which one part is red, and no part or two parts
        for first, second, third in ((0, 3, 5), (4, 0, 5), (2, 3, 0), (2, 3, 4), (0, 0, 6)):
            target = (((first * 10 + second) * 10 + third) * 32 + orientation) * 15 + orientation
            words = [
                PHRASES[5][orientation],
                PHRASES[0][first],
                f"{PHRASES[1][second]} wall",
                f"{PHRASES[2][third]} {PHRASES[4][orientation % 4]}",
            ]
            text = " ".join(words[(orientation + first) % 2 :]).replace(*(("in the ", "") if orientation % 3 else ("on the ", "")))
            rows.append({"prediction": text, "target_id": target, "distractor_id": target + (second + 1) * 15 + first % 2})
    for hues in ((2, 3, 4), (3, 2, 4), (3, 4, 2), (3, 4, 5)):  # a bare colour whose number is that of the size, too
        target = (((hues[0] * 10 + hues[1]) * 10 + hues[2]) * 32 + 2 * 4 + 2) * 15
        rows.append({"prediction": "yellow", "target_id": target, "distractor_id": target + 15})
    several = [
        {**row, "distractor_ids": [str(row["distractor_id"]), *DISTRACTORS[k % 5 : k % 5 + k % 3]]} for k, row in enumerate(rows)
    ]  # fmt: skip
    several = [{key: value for key, value in row.items() if key != "distractor_id"} for row in several]
    out: dict[str, Any] = {}
    for name, given in {
        "labels": evaluate(rows), "words": evaluate(rows, differences="words"), "script": evaluate(rows, "authors-script"),
        "script in order": evaluate(rows, "authors-script", order_dependent=True), "several": evaluate(several),
        "several words": evaluate(several, differences="words"),
    }.items():  # fmt: skip
        columns = {key: value for key, value in given.columns.items() if key not in ("prediction", "target_id", "distractor_id")}
        out[name] = {"summary": given.summary(), "unread": given.unread, **columns}
    out["first"] = evaluate(rows)[0]
    out["last"] = evaluate(rows)[-2:]
    readings = read(inputs.PHRASES)
    out["readings"] = {"masks": readings.masks, "bare": readings.bare, "contradictions": readings.contradictions, "unread": readings.unread}
    tables = (lexicon.HUES, lexicon.SCALES, lexicon.SHAPES, lexicon.NOUNS)
    out["words"] = [" ".join(f"{word}={value}" for word, value in sorted(table.items())) for table in tables]
    out["places"] = {text: lexicon.place([*text.split()]) for text in (
        "in the middle", "middle", "near the middle", "nearly in the center", "left", "in the left corner", "close to the right corner",
        "right corner", "nearly left", "left right", "on the right side", "almost right", "middle sized", "at the centre",
    )}  # fmt: skip
    out["tagged"] = nouns_and_adjectives(inputs.PHRASES)
    out["order"] = {text: size_first(text) for text in (*inputs.PHRASES, "the tiny red ball", "a red tiny ball", "a ball tiny red")}
    for wrong in ({"prediction": 3}, {"prediction": "a"}, {"prediction": "a", "target_id": 480_000, "distractor_id": 1}, [1]):
        out[f"refused {wrong}"] = reports.attempt(evaluate, [rows[0], cast("Any", wrong)])
    counts = np.array([0, 1, 2, 3, 4, 5, 6])
    out["efficiency"] = [
        scores_of_games.contrastive_efficiency(counts[[0, *range(needed, k + 1)]], np.full(k + 2 - needed, k), needed)
        for k in (2, 4, 6)
        for needed in (1, 2)
    ]
    out["optimal"] = [scores_of_games.optimal_discriminativity(counts, needed) for needed in (0, 1, 3)]
    assert_pinned("metrics/functions/reference_games.txt", as_text(reports.as_json(out)))


ANSWERS = (
    '{"score": 70}',
    'Sure:\n```json\n{"score": "85/100", "reason": "both {a} dog"}\n```',
    '{"Score ": 12.5} then {"score": 3}',
    '{"punkte": 55}',
    '{"a": 1, "b": 2}',
    '{"score": true}',
    '{"score": 101}',
    '{"score": -0.5}',
    '{"score": "85 %"}',
    '{"score": "1,5"}',
    '{"score": "a"}',
    '{"score": 1e999}',
    '{"score": 0}',
    '{"score": 100}',
    "I'm sorry, I can't",
    "",
    "  ",
    "no object",
    '{"sco',
    "{" * 60 + '{"score": 5}',
    '{"better": "a"}',
    '{"better": "TIE"}',
    '{"choice": "B"}',
    '{"better": "C"}',
    '{"x": "A", "y": "B"}',
    '{"correctness": 3, "FLUENCY": "4/5"}',
    '{"correctness": 3}',
    "x" * 301 + " I am sorry",
    "Es tut mir leid",
    '{"score": {"score": 4}}',
    '{"score": "+7"}',
    "{" * 49 + '{"score": 6}',
    "{" * 50 + '{"score": 7}',
    "{" * 48 + '{"score": 8}',
)


def test_answers_of_judges() -> None:
    readers: dict[str, Any] = {
        "number": answers.read_number("score", 0, 100), "numbers": answers.read_numbers(("correctness", "fluency"), 1, 5),
        "choice": answers.read_choice("better", ("A", "B", "tie")),
    }  # fmt: skip
    out: dict[str, Any] = {"objects": {text: answers.find_object(text) for text in ANSWERS}}
    verdicts: list[Any] = []
    for number, text in enumerate(ANSWERS):
        finish: Any = ("stop", "stop", "length", "refused", "rejected")[number % 5]
        for ending in ("stop", finish):
            reply = Reply(text, ending, 3 * number, number % 7)
            for name, reader in readers.items():
                verdicts.append(answers.verdict_of(reply, reader))
                out[f"{number} {name} {ending}"] = verdicts[-1]
            out[f"{number} text {ending}"] = answers.verdict_of_text(reply)
    counts = np.stack([answers.count_answers(verdicts[start : start + 9]) for start in range(0, len(verdicts), 9)])
    out["counts"] = counts
    prices: list[Any] = [None, {"input": 2.5, "output": 10.0}, {"input": 1.0}]
    out["described"] = [answers.describe_counts(counts, price) for price in prices]
    assert_pinned("metrics/functions/answers.txt", as_text(reports.as_json(out)))


def test_tournaments() -> None:
    systems = {
        "short": [f"a {k}" for k in range(9)], "long": [f"a brown dog number {'x' * k} runs" for k in range(9)],
        "middle": [f"dog {'y' * (k % 4)}" for k in range(9)],
    }  # fmt: skip
    references, sources, media = [[f"dog {k}", "a dog"] for k in range(9)], [f"source {k}" for k in range(9)], [None] * 9
    two = {name: systems[name][:3] for name in ("short", "long")}
    out = {
        "plain": reports.attempt(arena, judging(), systems, samples=60, seed=2),
        "context": reports.attempt(
            arena, judging(), systems, references, sources=sources, media=media, samples=30, prior=0.5, criterion="longer"
        ),
        "no samples": reports.attempt(arena, judging(), two, samples=0),
        "ties": reports.attempt(arena, judging(), {"a": ["x"] * 3, "b": ["x"] * 3}),
        "one": reports.attempt(arena, judging(), {"a": ["x"]}),
        "unequal": reports.attempt(arena, judging(), {"a": ["x"], "b": []}),
    }
    assert_pinned("metrics/functions/tournaments.txt", as_text(reports.as_json(out)))


def whole_numbers(*shape: int, seed: int = 0, width: int = 9) -> np.ndarray:
    """Return whole numbers of both signs as float64, the same ones on every platform."""
    size = math.prod(shape)
    return np.array(
        [((k * 7919 + seed * 104_729 + k * k * 31) % 10_007) % width - width // 2 for k in range(size)], dtype=np.float64
    ).reshape(shape)


def test_vectors() -> None:
    vectors, labels = whole_numbers(3, 7, 4), np.array([[k in chosen for k in range(7)] for chosen in ((0, 1, 2), (0, 3, 6), (4, 5, 6))])
    inner = geometry.gram(vectors)
    out: dict[str, Any] = {
        "gram": inner,
        "squared": geometry.squared_distances(inner),
        "mmd kernel": mmd.mmd_kernel(inner),
        **{f"two-sample {estimator}": geometry.two_sample(mmd.mmd_kernel(inner), 3, estimator) for estimator in ("biased", "unbiased")},
        "frechet": frechet.from_gram(inner, 3),
        "frechet of vectors": [frechet.of_vectors(vectors, n) for n in (1, 3, 6)],
        "frechet wide": frechet.of_vectors(whole_numbers(2, 40, 3, seed=2), 17),
        "frechet relabelled": frechet.relabel(inner, labels),
        "frechet p": [frechet.exact_p_values(inner, n) for n in (2, 3)],
        "frechet p mirrored": frechet.exact_p_values(inner[:, :6, :6], 3),
        "couplings": [sliced_wasserstein.coupling(n, m) for n, m in ((2, 3), (3, 3), (1, 4))],
        **{
            f"sliced {p}": sliced_wasserstein.compare_samples(sliced_wasserstein.project_vectors(vectors, 4, 1), 3, p)
            for p in (1.0, 2.0, 3.5)
        },
        **{f"smoother {ridge}": twosample.smoother(inner, ridge) for ridge in (0.1, 4.0)},
        **{f"accuracy {ridge}": twosample.accuracy(twosample.smoother(inner, ridge), labels) for ridge in (0.1, 4.0)},
        **{f"kernels {shape}": twosample.kernels(inner, shape, 3) for shape in ("both", "gaussian", "laplace")},
        "relabelings": [len(twosample.relabelings(n, m, 3)) for n, m in ((3, 4), (10, 10), (8, 8))],
        "drawn relabelings": twosample.relabelings(10, 10, 3)[:3],
        "smallest p": twosample.smallest_p(twosample.kernels(inner), 3, labels, twosample.relabelings(3, 4, 0)),
        "equal": twosample.kernels(geometry.gram(np.ones((1, 4, 2))), "both", 2),
        "vendi": [spectrum.vendi(spectrum.unit_kernels(vectors, np.arange(21).reshape(3, 7)), q) for q in (0.0, 0.5, 1.0, 2.0, math.inf)],
        "spread": spectrum.singular_spread(inner),
        "chunks": list(symmetric_relabelings.chunks(3, 3, 4)),
        "random features": corpus_metrics.feature_sums(vectors, corpus_metrics.frequencies(4, 3, 2.0, 5), 3),
        "median distance": [corpus_metrics.median_distance(vectors[0]), corpus_metrics.median_distance(np.ones((3, 2)))],
    }
    assert_pinned("metrics/functions/vectors.txt", as_text(reports.as_json(out)))


def test_mauve() -> None:
    vectors = whole_numbers(60, 5, seed=1)
    vectors[40:44] = vectors[3]
    sets = whole_numbers(4, 8, 3, seed=5)
    histograms = np.array([[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]])
    out = {
        "area": [frontier.area(p, q, scaling, points) for p in histograms for q in histograms for scaling, points in ((5.0, 25), (1.0, 4))],
        "mixtures": frontier.mixtures(4),
        "reduced": abs(quantise.reduce_dimensions(vectors, 0.6).astype(np.float64)).sum(axis=0).round(4),
        "automatic": [mauve.automatic_buckets(n, m) for n, m in ((3, 100), (45, 55), (300, 90), (9000, 9000))],
        "buckets": [quantise.buckets(vectors, k, seed=seed, redo=redo) for k, seed, redo in ((2, 25, 5), (5, 3, 1), (7, 3, 3))],
        "few steps": quantise.buckets(vectors, 6, seed=1, redo=2, max_iter=2, explained=0.5),
        "many": [quantise.many_buckets(sets, k, seed=seed, redo=redo) for k, seed, redo in ((2, 25, 5), (3, 3, 1), (12, 0, 2))],
        "spread": mauve.spread(vectors[:25], vectors[25:], 4, seeds=range(3, 6), redo=2),
        "relabelled": mauve.relabel(
            sets, np.array([[k in (0, 1, 5) for k in range(8)], [k > 4 for k in range(8)]]), 3, seed=1, redo=2, scaling=2.0
        ),
    }
    assert_pinned("metrics/functions/mauve.txt", as_text(reports.as_json(out)))


def test_neighbours() -> None:
    points = whole_numbers(5, 9, 2, seed=3)
    distances = np.sqrt(geometry.squared_distances(geometry.gram(points)))
    labels = np.array([[k in chosen for k in range(9)] for chosen in ((0, 1, 2, 3), (0, 4, 5, 8), (5, 6, 7, 8))])
    kinds: tuple[Any, ...] = ("precision", "recall", "density", "coverage")
    first, second = whole_numbers(30, 3, seed=8), whole_numbers(26, 3, seed=9)
    first_sample, second_sample = (neighbour_groups.Sample(side, np.arange(len(side)) % 5) for side in (first, second))
    without = neighbour_groups.without_groups
    out: dict[str, Any] = {
        **{f"{kind} {k}": neighbours.of_distances(distances, labels, k, kind) for kind in kinds for k in (1, 2, 3)},
        **{f"without groups {kind} {k}": without(first_sample, second_sample, k, kind, 5) for kind in kinds for k in (1, 4)},
        "credits": [neighbours.coverage_credits(distances, 4, k) for k in (1, 2)],
        "smallest": [neighbours.kth_smallest(whole_numbers(3, width, seed=6, width=997), k) for width in (9, 700) for k in (1, 4)],
        "wasserstein": [variability_metric.wasserstein(distances, labels, compare) for compare in ("within", "cross")],
    }  # fmt: skip
    assert_pinned("metrics/functions/neighbours.txt", as_text(reports.as_json(out)))


def test_curves_of_quality_and_diversity() -> None:
    quality, diversity = (1.0, 0.7, 0.45, 0.2), (-0.5, -0.3, -0.2, -0.1)
    points = ((0.6, -0.3), (0.9, -0.25), (0.1, -0.5), (0.2, -0.1), (0.5, -0.6), (0.5, 0.0))
    rng = np.random.default_rng(4)
    vocabulary, sentences = Vocabulary(), [text.split() for text in inputs.SENTENCES[:12]]
    lengths: tuple[Any, ...] = (3, "same")
    out = {
        "discrepancies": [reports.attempt(curve_discrepancy, quality, diversity, *point) for point in points],
        "refused": [
            reports.attempt(curve_discrepancy, *given, 0.5, -0.2)
            for given in (((1.0, 0.5), (-0.5,)), ((1.0,), (-0.5,)), ([[1.0, 0.5]], [[-0.5, -0.1]]))
        ],
        "points": [
            [point(pair, words_of(side, vocabulary), words_of(other, vocabulary), n) for n in (1, 2, 4)]
            + [largest_quality(pair, words_of(side, vocabulary), 2)]
            for pair in PAIRS
            for side, other in ((sentences[:6], sentences[6:]), (sentences[:3], [[]]), ([["a"], ["b"]], [["a"]]), (sentences, sentences))
        ],
        "flat": reports.attempt(curve_discrepancy, (0.5, 0.5), (-0.5, -0.1), 0.0, -0.2),
        "draws": [
            draw([["a", "b"], ["c"], ["d", "e", "f"]], "uvwxyz", eps, size, rng)
            for eps in (0.0, 0.5, 1.0)
            for size in lengths
            for _ in range(4)
        ],
        "sums": [
            reports.attempt(from_sums, 2, Sums(*values)) for values in ((4, 5, 6, 9, 3, 5, 6), (1, 1, 1, 1, 0, 1, 1), (0, 3, 0, 3, 0, 0, 0))
        ],
    }
    assert_pinned("metrics/functions/curves.txt", as_text(reports.as_json(out)))


def test_triangles() -> None:
    distances = np.abs(whole_numbers(4, 7, 7, seed=4))
    distances[:, np.arange(7), np.arange(7)] = 0.0
    distances[3] = 1.0
    labels = np.array([[k in chosen for k in range(7)] for chosen in ((0, 1, 2), (0, 3, 6), (4, 5, 6))])
    poolings: tuple[Any, ...] = ("pooled", "per-direction")
    out = {
        pooling: {
            "values": [triangles.triangle_rank(distances, n, pooling) for n in (1, 3, 6)],
            "relabelled": triangles.relabel(distances, 3, labels, pooling),
            "p": [triangles.exact_p_values(distances, n, pooling) for n in (1, 2, 3)],
            "p mirrored": triangles.exact_p_values(distances[:, :6, :6], 3, pooling),
            "credits": triangles.leave_one_out_credits(distances, 3, pooling),
            "sampled": [trm.sampled_triangle_rank(matrix, 3, pooling, 60, np.random.default_rng(7)) for matrix in distances],
            "sampled small": [trm.sampled_triangle_rank(distances[0, :3, :3], n, pooling, 5, np.random.default_rng(7)) for n in (1, 2)],
            "nothing to draw": trm.sampled_triangle_rank(distances[0, :2, :2], 1, pooling, 5, np.random.default_rng(7)),
        }
        for pooling in poolings
    }
    heaviest = [trm.heaviest_triangle(matrix, n) for matrix in distances for n in (1, 2, 3)]
    assert_pinned("metrics/functions/triangles.txt", as_text(reports.as_json({**out, "heaviest": heaviest})))


def forgotten() -> Any:
    """Return the scores of CIDEr-D before and after the texts of the run are forgotten, and after another process has read the state."""
    features = FeatureCache([item.references for item in inputs.EVEN])
    batch, metric = features.batch(inputs.EVEN), reports.create("ciderd", {})
    state = metric.fit(features.references, features)
    before = metric.candidate_scores(batch, features, state)
    copy = pickle.loads(pickle.dumps(state))
    state.forget_texts()
    others = FeatureCache([item.references for item in inputs.MIRRORED])
    sizes = [len(state.counts), state.stage, len(copy.counts), copy.stage, copy.frequencies.documents]
    return [before, sizes, [metric.candidate_scores(others.batch(inputs.MIRRORED), others, each) for each in (state, copy)]]


def test_tables_of_document_frequencies(tmp_path: Path) -> None:
    corpus = [list(item.references) for item in inputs.EVEN]
    out: dict[str, Any] = {}
    for name, minimum, tokenizer in (("a.json", 1, "ptb"), ("b.npz", 2, "ptb"), ("c.json.gz", 2, "none")):
        out[name] = document_frequency.build_df_table(corpus, tmp_path / name, tokenizer=tokenizer, minimum=minimum)
        table = document_frequency.read(tmp_path / name, tokenizer)
        out[f"table {name}"] = [table.documents, dict(zip(table.grams, table.counts.tolist())) if minimum > 1 else len(table.grams)]
    joined = document_frequency.join_df_tables([tmp_path / "a.json", tmp_path / "b.npz"], tmp_path / "d.json", minimum=4)
    out["joined"] = [joined, document_frequency.read(tmp_path / "d.json", "ptb").counts]
    for table in ("a.json", "b.npz", "d.json"):
        for metric in (reports.create("cider", {"df": str(tmp_path / table)}), reports.create("cider-r", {"df": str(tmp_path / table)})):
            signature = metric.signature().replace("cider-", "")
            out[f"{table} {signature.partition('|')[0]}"] = [signature, reports.attempt(reports.report, metric, inputs.EVEN)]
    assert_pinned("metrics/functions/document_frequencies.txt", as_text(reports.as_json(out)))
    texts = [text for item in inputs.MIXED for text in item.candidates][:9]
    variants: tuple[Any, ...] = ("d", "plain")
    smoothings: tuple[Any, ...] = ((4, "toolkit", "ptb"), (4, "add-one", "ptb"), (2, "add-one", "none"))
    pairs = {
        **{
            f"bleu {n} {smoothing}": bleu.matrix(texts, n=n, smoothing=smoothing, tokenizer=tokenizer)
            for n, smoothing, tokenizer in smoothings
        },
        "rouge": rouge.matrix(texts),
        "rouge none": rouge.matrix(texts, tokenizer="none"),
        **{f"cider {variant}": cider.matrix(texts, variant=variant) for variant in variants},
        "cider given": cider.matrix(texts, df=corpus, tokenizer="none"),
        "forgotten": forgotten(),
        "meteor": meteor.matrix(texts),
        "meteor scores": meteor.scores([(texts[k], texts[:k]) for k in range(1, 9)]),
        "meteor statistics": meteor.statistics([(item.candidates[0], item.references) for item in inputs.MIXED]),
    }
    assert_pinned("metrics/functions/pairs_of_texts.txt", as_text(reports.as_json(pairs)))


def test_every_metric_has_a_pinned_file() -> None:
    files = {path.stem for path in (FOLDER / "metrics").glob("*.txt")}
    assert files == set(NAMES) - NOT_PINNED.keys()
