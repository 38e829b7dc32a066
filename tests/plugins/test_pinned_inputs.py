"""All numbers of metrics that need more than captions, on stand-ins of models and small
files: nothing moves unseen.

Other tests compare with formulas, other implementations and published values; these
only notice that a number, note or signature changed. ``HARNESS_PIN=write`` writes the
files anew (:mod:`tests.support.pinned`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from harness.contracts import CaptionSet, Example, TokenScores
from harness_metrics.neural import bertscore
from harness_metrics.neural.clipscore import open_picture
from harness_metrics.neural.token_matching import Tokens
from harness_metrics.pragmatic import lexicon
from harness_metrics.pragmatic import scores as scores_of_games
from harness_metrics.pragmatic.parser import read
from harness_metrics.pragmatic.scores import evaluate
from harness_metrics.pragmatic.tagging import nouns_and_adjectives
from harness_metrics.pragmatic.word_order import size_first
from harness_metrics.pregen.functions import evaluate as evaluate_pregen
from harness_metrics.pregen.tokens import from_token_scores
from harness_tasks.a3ds.scene import FACTORS, PHRASES, indices
from tests.support import metric_inputs as inputs
from tests.support import metric_reports as reports
from tests.support.metric_forms import judging, name_of
from tests.support.pinned import as_text, assert_pinned

TARGETS = (0, 17, 4711, 123_456, 479_999, 250_000, 88_888, 31_415)
DISTRACTORS = (1, 479_999, 4712, 123_457, 0, 8, 88_903, 400_000)
PRAGMATIC = (
    "discriminativity",
    "contrastive-efficiency",
    "relevance",
    "optimal-discriminativity",
    "mentioned-features",
    "false-features",
    "redundant-mention",
    "listener-accuracy",
    "adjective-order",
)


@pytest.mark.parametrize("name", ["choice", "poll", "perplexity", "pregen"])
def test_metric_of_token_scores(name: str) -> None:
    twelve = inputs.likelihoods()
    kinds = [{"kind": "abca"[k % 4], "part": k // 4} for k in range(12)]
    single = [[option] for row in inputs.likelihoods(2, 12) for option in row]
    blind = [row for pair in zip(twelve, inputs.likelihoods(3, 15)[3:]) for row in pair]
    pairs = [
        row for pair in zip(inputs.groups(2), inputs.groups(2, 5)[2:]) for row in pair
    ]
    poll = inputs.polls()
    unread = inputs.polls(unread=True)
    tiers = {
        "captions": ["geomean", "join", "median"],
        "score": "*",
        "tokens": ["none", "filter0_kept"],
    }
    outer = {
        "images": "*",
        "captions": ["mean", "join"],
        "score": ["pplx", "normcount"],
        "tokens": "filter0",
    }
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
            (
                {"blind": True, "by": "part"},
                blind,
                [{"part": k // 6} for k in range(24)],
            ),
            ({"group": 2}, inputs.groups(2), ()),
            ({"group": 3, "score": "mean"}, inputs.groups(3), ()),
            ({"group": 2, "blind": True}, pairs, ()),
            (
                {"group": 2, "by": "part"},
                inputs.groups(2),
                [{"part": k // 4} for k in range(8)],
            ),
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
        "perplexity": [
            ({}, twelve, ()),
            ({}, [row[: 1 + k % 3] for k, row in enumerate(twelve)], ()),
            ({}, unread, ()),
        ],
        "pregen": [
            ({}, twelve, ()),
            *(
                (
                    {"tiers": given},
                    [row[: 1 + k % 3] for k, row in enumerate(twelve)],
                    (),
                )
                for given in (tiers, outer)
            ),
            ({"name": "median_max_pplx_prefix0"}, twelve, ()),
            (
                {
                    "names": [
                        "max_mean_prob_none",
                        "sum_join_count_filter0",
                        "mean_geomean_count_none",
                    ]
                },
                twelve[:7],
                (),
            ),
            ({"tiers": ["geomean", "*", "pplx", "none"]}, twelve[:8], ()),
            ({"name": "mean_sum_prob_none"}, unread, ()),
        ],
    }
    out: dict[str, Any] = {}
    for number, (form, *rest) in enumerate(cases[name]):
        out[str(number)] = {
            "form": name_of(form),
            **reports.report_scores(reports.create(name, form), *rest),
        }
    if name == "pregen":
        short = [row[: 1 + k % 3] for k, row in enumerate(inputs.likelihoods(3, 5))]
        out["all"] = reports.as_json(
            reports.create("pregen", {"all": True}).evaluate_scores(short)
        )
        out["spec of all"] = reports.as_json(
            reports.fields_of_spec(reports.create("pregen", {"all": True}).spec)
        )
        many = from_token_scores(
            [
                [inputs.likelihoods(1, 40)[k][0] for k in range(5, 5 + size)]
                for size in (1, 17, 18, 2, 30)
            ]
        )
        names = [
            f"{a}_{b}_{c}_prefix0"
            for a in ("median", "geomean", "min")
            for b in ("median", "min", "geomean")
            for c in ("count", "pplx")
        ]
        out["many captions"] = reports.as_json(
            dict(zip(names, evaluate_pregen(many, names)))
        )
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
    """Write a file of scores of the captions of ``MIXED`` and ``EVEN`` by example and
    caption.
    """
    rows = [
        {
            "id": item.id,
            "caption": text,
            "score": None if k == 3 else (k * 7 % 5) / 4 + len(text) / 100,
            "other": k,
        }
        for k, item in enumerate((*inputs.MIXED, *inputs.EVEN))
        for text in dict.fromkeys(item.candidates)
    ]
    (folder / "rated.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return str(folder / "rated.jsonl")


def vector_file(folder: Path) -> str:
    """Write word vectors of the words of ``EVEN``, some without."""
    words = sorted(
        {
            word
            for item in inputs.EVEN
            for text in (*item.candidates, *item.references)
            for word in text.replace(",", "").split()
        }
    )
    lines = [
        f"{word} {len(word) - 4} {ord(word[0]) % 7 - 3} {(ord(word[-1]) * k) % 5 - 2}"
        for k, word in enumerate(words)
        if k % 9 != 4
    ]
    (folder / "words.vec").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder / "words.vec")


def corpus_file(folder: Path) -> str:
    """Write training captions."""
    (folder / "corpus.txt").write_text(
        "A cat.\n\n  two boats \nlemon quantum zebra\nrice and beans on a plate",
        encoding="utf-8",
    )
    return str(folder / "corpus.txt")


def with_towers(metric: Any) -> Any:
    """Give a metric of images towers that need no weights."""
    towers = getattr(metric, "towers", metric)
    towers.clip.signature = lambda: "clip|letters"
    towers.clip.encode = lambda texts: unit(inputs.Letters().encode(texts))
    towers._encode = lambda names: unit(
        np.array(
            [
                np.resize(np.asarray(open_picture(name)).mean(axis=(0, 1)), 7) - 100.0
                for name in names
            ]
        )
    )
    return metric


class Answering:
    """A model that answers by the lengths of question and answer."""

    def fingerprint(self) -> str:
        """Return a text that identifies it."""
        return "answering"

    def prompt_length(self, example: Example) -> int:
        """Return the number of words of a question."""
        return len(example.meta["question"].split())

    def score_references(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        """Return the log-probability of the answer, and that of its end."""
        out: list[list[TokenScores]] = []
        for example in examples:
            size = len(example.meta["question"]) + 3 * len(example.references[0])
            log_probs = np.array([-0.125 * (size % 17), -1.0])
            out.append([TokenScores(log_probs, np.zeros(2, dtype=int))])
        return out


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors divided by their lengths, float32."""
    vectors = vectors.astype(np.float64)
    return (
        vectors / np.sqrt(np.maximum((vectors**2).sum(axis=1, keepdims=True), 1.0))
    ).astype(np.float32)


def illustrated(sets: Sequence[CaptionSet], folder: Path) -> list[CaptionSet]:
    """Return caption sets with images of one colour."""
    image = pytest.importorskip("PIL.Image")
    for number in range(5):
        image.new(
            "RGB", (4, 4), (number * 60, 255 - number * 50, (number * 100) % 256)
        ).save(folder / f"{number}.png")
    return [
        replace(item, media=str(folder / f"{number * 3 % 5}.png"))
        for number, item in enumerate(sets)
    ]


@pytest.mark.parametrize(
    "name",
    [
        "scores",
        "novelty",
        "wmd",
        "clipscore",
        "refclipscore",
        "pac-score",
        "ref-pac-score",
        "pac-score-plus",
        "ref-pac-score-plus",
        "clip-recall",
        "fleur",
        "ref-fleur",
        "vqascore",
    ],
)
def test_metric_of_files(name: str, tmp_path: Path) -> None:
    path = str(tmp_path)
    mixed: list[CaptionSet] = list(inputs.MIXED)
    even: list[CaptionSet] = list(inputs.EVEN)
    if name not in ("scores", "novelty", "wmd"):
        mixed = illustrated(inputs.MIXED, tmp_path)
        even = illustrated(inputs.EVEN, tmp_path)

    cases: dict[str, list[dict[str, Any]]] = {
        "scores": [
            {"column": "rating"},
            {"path": scores_file},
            {
                "path": scores_file,
                "column": "other",
                "name": "mine",
                "higher_is_better": False,
            },
        ],
        "novelty": [
            {},
            {"tokenizer": "none"},
            {"corpus": corpus_file},
            {"corpus": corpus_file, "tokenizer": "none"},
        ],
        "wmd": [
            {"path": vector_file},
            {"path": vector_file, "form": "similarity"},
            {"path": vector_file, "stopwords": True, "normalize": True},
            {"path": vector_file, "normalize": True, "form": "similarity"},
        ],
        "clip-recall": [
            {"weights": corpus_file, "model": "ViT-B-32"},
            {"weights": corpus_file, "model": "ViT-B-32", "k": 1},
            {"weights": corpus_file, "model": "ViT-L-14", "k": 2, "batch_size": 2},
        ],
        "fleur": [
            {"judge": judging(image=True)},
            {"judge": judging(image=True), "references": True, "unanswered": "lowest"},
        ],
        "ref-fleur": [
            {"judge": judging(image=True)},
            {"judge": judging(image=True), "unanswered": "lowest"},
        ],
        "vqascore": [
            {"model": "answering"},
            {"model": "answering", "question": "Is it {}?", "answer": "No"},
        ],
    }
    of_towers = [{"weights": "none"}]
    of_towers += [{"weights": "none", "images": path, "batch_size": 3}]

    out: dict[str, Any] = {}
    for form in cases.get(name, of_towers):
        given = {
            key: value(tmp_path) if callable(value) else value
            for key, value in form.items()
        }
        metric = reports.create(name, given)
        if "weights" in form:
            metric = with_towers(metric)
        if "model" in form and name == "vqascore":
            metric._loaded_model = Answering()

        shown = {
            key: getattr(value, "__name__", value)
            for key, value in form.items()
            if key not in ("judge", "images", "weights")
        }
        out[str(len(out))] = {
            "form": name_of(shown),
            **reports.report_all(metric, mixed, even, {}),
        }
    assert_pinned(f"metrics/{name}.txt", as_text(out).replace(path, "FOLDER"))


class Listening:
    """A listener that selects by the length of the caption."""

    def fingerprint(self) -> str:
        """Return a text that identifies it."""
        return "length"

    def listen(self, examples: Sequence[Any], captions: Sequence[str]) -> np.ndarray:
        """Return the selected image of each game, 0 for the target."""
        return np.array(
            [
                (len(text) + int(example.meta["target_id"])) % 3 // 2
                for example, text in zip(examples, captions)
            ]
        )


def described_scene(values: Sequence[int]) -> str:
    """Return a caption that says all six features of a scene."""
    floor, wall, hue, scale, shape, place = (
        PHRASES[factor][value] for factor, value in enumerate(values)
    )
    return f"{scale} {hue} {shape} {place} in front of a {wall} wall on {floor} floor"


def games(several: bool = False) -> list[CaptionSet]:
    """Return captions of scenes with distractors."""
    out: list[CaptionSet] = []
    for k, (target, distractor) in enumerate(zip(TARGETS, DISTRACTORS)):
        described = [
            described_scene(values) for values in indices([target, distractor]).tolist()
        ]
        other = inputs.PHRASES[(3 * k) % len(inputs.PHRASES)]
        texts = (
            described[0],
            described[1],
            f"{PHRASES[4][indices([target])[0][4]]} {other}",
        )
        beside = (
            {"distractor_ids": [distractor, DISTRACTORS[k - 1]]}
            if several
            else {"distractor_id": distractor}
        )
        out.append(
            CaptionSet(
                f"game-{k}",
                texts,
                (other,),
                None,
                None,
                {
                    "target_id": target,
                    **beside,
                    "category": "abc"[k % 3],
                    "group": k % 2,
                },
            )
        )
    return out


@pytest.mark.parametrize("name", PRAGMATIC)
def test_metric_of_reference_games(name: str) -> None:
    cases: dict[str, list[dict[str, Any]]] = {
        "redundant-mention": [{"feature": factor} for factor in FACTORS]
        + [{"feature": "shape", "category": "b"}],
        "listener-accuracy": [
            {"listener": Listening()},
            {"listener": Listening(), "category": "a", "tag": "mine"},
        ],
        "adjective-order": [{}],
        "optimal-discriminativity": [{}, {"category": "b"}],
    }
    out: dict[str, Any] = {}
    for form in cases.get(
        name,
        [
            {},
            {"mode": "authors-script"},
            {"category": "a"},
            {"mode": "authors-script", "category": "b"},
        ],
    ):
        shown = {key: value for key, value in form.items() if key != "listener"}
        metric = reports.create(name, form)
        out[str(len(out))] = {
            "form": name_of(shown),
            **reports.report_all(
                metric, games(), games(), {"several": games(several=True)}
            ),
        }
    assert_pinned(f"metrics/{name}.txt", as_text(out))


class TokenVectors:
    """An encoder of words by their letters, in place of a language model."""

    fingerprint = "letters"
    layer = 2
    path = Path("letters")
    home = "cpu"

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return unit vectors along the axes or halves, exact on every processor."""
        out: list[Tokens] = []
        for text in texts:
            ids = np.array(self.token_ids([text])[0], dtype=np.int64)
            signs = np.where((ids[:, None] >> np.arange(4)) & 1, 0.5, -0.5).astype(
                np.float32
            )
            counted = np.ones(len(ids), dtype=bool)
            counted[[0, -1]] = False
            out.append(Tokens(signs, counted, ids))
        return out

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return numbers of words between those of two special tokens."""
        return [
            [1, *(sum(map(ord, word)) % 61 + 3 for word in text.split()), 2]
            for text in texts
        ]


def test_bertscore(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 2}')
    (tmp_path / "vocab.txt").write_text("[PAD]")
    (tmp_path / "baseline.tsv").write_text(
        "LAYER,P,R,F\n1,0.1,0.2,0.3\n2,0.4,0.35,0.45\n"
    )
    out: dict[str, Any] = {}
    for form in (
        {},
        {"kind": "precision"},
        {"kind": "recall", "idf": True},
        {"idf": True, "baseline": str(tmp_path / "baseline.tsv")},
    ):
        metric = bertscore.BertScore(path=str(tmp_path), **cast("dict[str, Any]", form))
        metric.encoder = cast("Any", TokenVectors())
        metric.model = "letters"
        shown = {key: Path(str(value)).name for key, value in form.items()}
        out[str(len(out))] = {
            "form": name_of(shown),
            **reports.report_all(metric, inputs.MIXED, inputs.EVEN, {}),
        }
    out["baseline"] = [
        bertscore.read_baseline(tmp_path / "baseline.tsv", layer) for layer in (1, 2)
    ]
    out["layers"] = bertscore.LAYERS
    assert_pinned("metrics/bertscore.txt", as_text(out))


def test_reference_games() -> None:
    rows = [
        {
            "prediction": text,
            "target_id": TARGETS[k % 8],
            "distractor_id": DISTRACTORS[(k * 3) % 8],
        }
        for k, text in enumerate(inputs.PHRASES)
    ]
    rows += [
        {"prediction": text, **item.meta}
        for item in games()
        for text in item.candidates
    ]
    # scenes of which one part is red, and no part or two parts
    for orientation in (0, 3, 7, 9, 14):
        for first, second, third in (
            (0, 3, 5),
            (4, 0, 5),
            (2, 3, 0),
            (2, 3, 4),
            (0, 0, 6),
        ):
            target = (
                ((first * 10 + second) * 10 + third) * 32 + orientation
            ) * 15 + orientation
            words = [
                PHRASES[5][orientation],
                PHRASES[0][first],
                f"{PHRASES[1][second]} wall",
                f"{PHRASES[2][third]} {PHRASES[4][orientation % 4]}",
            ]
            text = " ".join(words[(orientation + first) % 2 :]).replace(
                *(("in the ", "") if orientation % 3 else ("on the ", ""))
            )
            rows.append(
                {
                    "prediction": text,
                    "target_id": target,
                    "distractor_id": target + (second + 1) * 15 + first % 2,
                }
            )
    # a bare colour whose number is that of the size, too
    for hues in ((2, 3, 4), (3, 2, 4), (3, 4, 2), (3, 4, 5)):
        target = (((hues[0] * 10 + hues[1]) * 10 + hues[2]) * 32 + 2 * 4 + 2) * 15
        rows.append(
            {"prediction": "yellow", "target_id": target, "distractor_id": target + 15}
        )
    several = [
        {
            **row,
            "distractor_ids": [
                str(row["distractor_id"]),
                *DISTRACTORS[k % 5 : k % 5 + k % 3],
            ],
        }
        for k, row in enumerate(rows)
    ]
    several = [
        {key: value for key, value in row.items() if key != "distractor_id"}
        for row in several
    ]
    out: dict[str, Any] = {}
    for name, given in {
        "labels": evaluate(rows),
        "words": evaluate(rows, differences="words"),
        "script": evaluate(rows, "authors-script"),
        "script in order": evaluate(rows, "authors-script", order_dependent=True),
        "several": evaluate(several),
        "several words": evaluate(several, differences="words"),
    }.items():
        columns = {
            key: value
            for key, value in given.columns.items()
            if key not in ("prediction", "target_id", "distractor_id")
        }
        out[name] = {"summary": given.summary(), "unread": given.unread, **columns}
    out["first"] = evaluate(rows)[0]
    out["last"] = evaluate(rows)[-2:]
    readings = read(inputs.PHRASES)
    out["readings"] = {
        "masks": readings.masks,
        "bare": readings.bare,
        "contradictions": readings.contradictions,
        "unread": readings.unread,
    }
    tables = (lexicon.HUES, lexicon.SCALES, lexicon.SHAPES, lexicon.NOUNS)
    out["words"] = [
        " ".join(f"{word}={value}" for word, value in sorted(table.items()))
        for table in tables
    ]
    out["places"] = {
        text: lexicon.orientations_of([*text.split()])
        for text in (
            "in the middle",
            "middle",
            "near the middle",
            "nearly in the center",
            "left",
            "in the left corner",
            "close to the right corner",
            "right corner",
            "nearly left",
            "left right",
            "on the right side",
            "almost right",
            "middle sized",
            "at the centre",
        )
    }
    out["tagged"] = nouns_and_adjectives(inputs.PHRASES)
    out["order"] = {
        text: size_first(text)
        for text in (
            *inputs.PHRASES,
            "the tiny red ball",
            "a red tiny ball",
            "a ball tiny red",
        )
    }
    for wrong in (
        {"prediction": 3},
        {"prediction": "a"},
        {"prediction": "a", "target_id": 480_000, "distractor_id": 1},
        [1],
    ):
        out[f"refused {wrong}"] = reports.attempt(
            evaluate, [rows[0], cast("Any", wrong)]
        )
    counts = np.array([0, 1, 2, 3, 4, 5, 6])
    out["efficiency"] = [
        scores_of_games.contrastive_efficiency(
            counts[[0, *range(needed, k + 1)]], np.full(k + 2 - needed, k), needed
        )
        for k in (2, 4, 6)
        for needed in (1, 2)
    ]
    out["optimal"] = [
        scores_of_games.optimal_discriminativity(counts, needed) for needed in (0, 1, 3)
    ]
    assert_pinned(
        "metrics/functions/reference_games.txt", as_text(reports.as_json(out))
    )
