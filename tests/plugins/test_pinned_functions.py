"""Numbers of functions that no metric reaches at little cost: nothing moves unseen.

Other tests compare with formulas, other implementations and published values; these
only notice that a number, note or signature changed. ``HARNESS_PIN=write`` writes the
files anew (:mod:`tests.support.pinned`).
"""

from __future__ import annotations

import math
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from harness.run.features import FeatureCache
from harness_metrics.composed.fluency import is_broken
from harness_metrics.crnrr.ngrams import Sums, from_sums
from harness_metrics.discrepancy.mixing import draw
from harness_metrics.discrepancy.qdisc import curve_discrepancy
from harness_metrics.discrepancy.quality_diversity import PAIRS, largest_quality, point
from harness_metrics.hallucination import fact_words
from harness_metrics.hallucination.facts import parse
from harness_metrics.hallucination.matching import NO_SYNONYMS
from harness_metrics.hallucination.nouns import singular
from harness_metrics.hallucination.objects import ObjectTable, object_table
from harness_metrics.judges import answers
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.tournament import arena
from harness_metrics.kernel import (
    frechet,
    geometry,
    mmd,
    sliced_wasserstein,
    symmetric_relabelings,
)
from harness_metrics.mauve import components, frontier, quantise, small_sets
from harness_metrics.mauve import metric as mauve
from harness_metrics.meteor import engine as meteor
from harness_metrics.ngram import bleu, cider, df_table, document_frequency, rouge
from harness_metrics.sets import (
    corpus_neighbours,
    neighbour_groups,
    neighbours,
    random_features,
    spectrum,
    variability,
)
from harness_metrics.tokenisers.plain_words import plain_words
from harness_metrics.tokenisers.tokens import tokenize
from harness_metrics.trm import drawn_triangles, heaviest_triangle
from harness_metrics.trm import statistic as triangles
from harness_metrics.twosample import c2st, mmdagg
from harness_metrics.words.grams import words_of
from harness_metrics.words.keys import Vocabulary
from tests.support import metric_inputs as inputs
from tests.support import metric_reports as reports
from tests.support.metric_forms import judging
from tests.support.pinned import as_text, assert_pinned

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


def test_tokenisers_and_word_lists() -> None:
    out: dict[str, Any] = {
        "ptb": tokenize(inputs.ODD_TEXTS),
        "none": tokenize(inputs.ODD_TEXTS, "none"),
        **{
            f"plain {joiners} {marks}": [
                plain_words(text, joiners=joiners, marks=marks)
                for text in inputs.ODD_TEXTS
            ]
            for joiners in ("", "'", "'’-")
            for marks in (False, True)
        },
        "broken": {
            text: is_broken(text)
            for text in (
                *inputs.ODD_TEXTS,
                *inputs.SENTENCES,
                "a b c d a b c d",
                "a b c d e a b c d e",
                "a dog of",
            )
        },
    }
    assert_pinned("metrics/functions/tokenisers.txt", as_text(reports.as_json(out)))


def broken_table(folder: Path, text: str) -> Any:
    """Return what a table of objects with this content has,
    or the message that refuses it.
    """
    path = folder / f"{zlib.crc32(text.encode())}.yaml"
    path.write_text(text, encoding="utf-8")
    found = reports.attempt(lambda: object_table(str(path)).objects)
    return found.replace(str(path), "FILE") if isinstance(found, str) else found


def test_facts_and_objects(tmp_path: Path) -> None:
    table = object_table("coco")
    nouns = (
        "dogs buses knives geese men women children glasses sheep leaves boxes "
        "babies potatoes news grass is people series oxen feet teeth"
    )
    own = ObjectTable(
        {"dog": ["hot", "puppy"], "food": ["hot dog", "orange"], "cat": []},
        none=["toy dog"],
        modifiers=["orange"],
        name="mine",
    )
    (tmp_path / "table.yaml").write_text(
        "objects:\n  dog: [puppy, hound]\n  animal: [dog, cat]\nnone: [hot dog]\n"
        "modifiers: [cat]\n",
        encoding="utf-8",
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
            for text in (
                "hot dogs and an orange cat",
                "a toy dog, puppies",
                "orange",
                "cat hound",
                "the cat dog",
            )
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
        "tables": [
            reports.attempt(lambda table: ObjectTable(table).objects, t) for t in tables
        ],
        "facts": {text: parse(text, table) for text in inputs.SENTENCES},
        "facts without table": {
            text: parse(text, NO_SYNONYMS) for text in inputs.SENTENCES
        },
        "objects": {text: table.mentions(text) for text in inputs.SENTENCES},
        "singular": {word: singular(word) for word in nouns.split()},
        "verbs": " ".join(
            f"{form}={verb}"
            for form, verb in sorted(fact_words.VERBS.items())
            if form[0] in "abcs" or form[-1] == "d"
        ),
        "signature": table.signature(),
        "of labels": [
            table.object_of(label, "here")
            for label in ("Puppy", "hot dogs", "cell phone")
        ],
        "contains": [
            table.contains(word) for word in ("dogs", "toilet paper", "zebra", "xyz")
        ],
        "unknown": reports.attempt(table.object_of, "xyz", "here"),
    }
    assert_pinned("metrics/functions/facts.txt", as_text(reports.as_json(out)))


def test_answers_of_judges() -> None:
    readers: dict[str, Any] = {
        "number": answers.read_number("score", 0, 100),
        "numbers": answers.read_numbers(("correctness", "fluency"), 1, 5),
        "choice": answers.read_choice("better", ("A", "B", "tie")),
    }
    out: dict[str, Any] = {
        "objects": {text: answers.find_object(text) for text in ANSWERS}
    }
    verdicts: list[Any] = []
    for number, text in enumerate(ANSWERS):
        finish: Any = ("stop", "stop", "length", "refused", "rejected")[number % 5]
        for ending in ("stop", finish):
            reply = Reply(text, ending, 3 * number, number % 7)
            for name, reader in readers.items():
                verdicts.append(answers.verdict_of(reply, reader))
                out[f"{number} {name} {ending}"] = verdicts[-1]
            out[f"{number} text {ending}"] = answers.verdict_of_text(reply)
    counts = np.stack(
        [
            answers.count_answers(verdicts[start : start + 9])
            for start in range(0, len(verdicts), 9)
        ]
    )
    out["counts"] = counts
    prices: list[Any] = [None, {"input": 2.5, "output": 10.0}, {"input": 1.0}]
    out["described"] = [answers.describe_counts(counts, price) for price in prices]
    assert_pinned("metrics/functions/answers.txt", as_text(reports.as_json(out)))


def test_tournaments() -> None:
    systems = {
        "short": [f"a {k}" for k in range(9)],
        "long": [f"a brown dog number {'x' * k} runs" for k in range(9)],
        "middle": [f"dog {'y' * (k % 4)}" for k in range(9)],
    }
    references = [[f"dog {k}", "a dog"] for k in range(9)]
    sources = [f"source {k}" for k in range(9)]
    media = [None] * 9
    two = {name: systems[name][:3] for name in ("short", "long")}
    out = {
        "plain": reports.attempt(arena, judging(), systems, samples=60, seed=2),
        "context": reports.attempt(
            arena,
            judging(),
            systems,
            references,
            sources=sources,
            media=media,
            samples=30,
            prior=0.5,
            criterion="longer",
        ),
        "no samples": reports.attempt(arena, judging(), two, samples=0),
        "ties": reports.attempt(arena, judging(), {"a": ["x"] * 3, "b": ["x"] * 3}),
        "one": reports.attempt(arena, judging(), {"a": ["x"]}),
        "unequal": reports.attempt(arena, judging(), {"a": ["x"], "b": []}),
    }
    assert_pinned("metrics/functions/tournaments.txt", as_text(reports.as_json(out)))


def whole_numbers(*shape: int, seed: int = 0, width: int = 9) -> np.ndarray:
    """Return whole numbers of both signs as float64,
    the same ones on every platform.
    """
    size = math.prod(shape)
    return np.array(
        [
            ((k * 7919 + seed * 104_729 + k * k * 31) % 10_007) % width - width // 2
            for k in range(size)
        ],
        dtype=np.float64,
    ).reshape(shape)


def test_vectors() -> None:
    vectors = whole_numbers(3, 7, 4)
    sides = (0, 1, 2), (0, 3, 6), (4, 5, 6)
    labels = np.array([[k in side for k in range(7)] for side in sides])
    inner = geometry.gram(vectors)

    out: dict[str, Any] = {
        "gram": geometry.centre(inner),
        "squared": geometry.squared_distances(inner),
        "mmd kernel": mmd.mmd_kernel(inner),
        **{
            f"two-sample {estimator}": geometry.two_sample(
                mmd.mmd_kernel(inner), 3, estimator
            )
            for estimator in ("biased", "unbiased")
        },
        "frechet": frechet.from_gram(inner, 3),
        "frechet of vectors": [frechet.of_vectors(vectors, n) for n in (1, 3, 6)],
        "frechet wide": frechet.of_vectors(whole_numbers(2, 40, 3, seed=2), 17),
        "frechet relabelled": frechet.relabel(inner, labels),
        "frechet p": [frechet.exact_p_values(inner, n) for n in (2, 3)],
        "frechet p mirrored": frechet.exact_p_values(inner[:, :6, :6], 3),
        "couplings": [
            sliced_wasserstein.coupling(n, m) for n, m in ((2, 3), (3, 3), (1, 4))
        ],
        **{
            f"sliced {p}": sliced_wasserstein.compare_samples(
                sliced_wasserstein.project_vectors(vectors, 4, 1), 3, p
            )
            for p in (1.0, 2.0, 3.5)
        },
        **{f"smoother {ridge}": c2st.smoother(inner, ridge) for ridge in (0.1, 4.0)},
        **{
            f"accuracy {ridge}": c2st.accuracy(c2st.smoother(inner, ridge), labels)
            for ridge in (0.1, 4.0)
        },
        **{
            f"kernels {shape}": mmdagg.kernels(inner, shape, 3)
            for shape in ("both", "gaussian", "laplace")
        },
        "relabelings": [
            len(mmdagg.relabelings(n, m, 3)) for n, m in ((3, 4), (10, 10), (8, 8))
        ],
        "drawn relabelings": mmdagg.relabelings(10, 10, 3)[:3],
        "smallest p": mmdagg.smallest_p(
            mmdagg.kernels(inner), 3, labels, mmdagg.relabelings(3, 4, 0)
        ),
        "equal": mmdagg.kernels(geometry.gram(np.ones((1, 4, 2))), "both", 2),
        "vendi": [
            spectrum.vendi(
                spectrum.unit_kernels(vectors, np.arange(21).reshape(3, 7)), q
            )
            for q in (0.0, 0.5, 1.0, 2.0, math.inf)
        ],
        "spread": spectrum.singular_spread(geometry.centre(inner)),
        "chunks": list(symmetric_relabelings.chunks(3, 3, 4)),
        "random features": random_features.feature_sums(
            vectors, random_features.frequencies(4, 3, 2.0, 5), 3
        ),
        "median distance": [
            random_features.median_distance(vectors[0]),
            random_features.median_distance(np.ones((3, 2))),
        ],
    }
    assert_pinned("metrics/functions/vectors.txt", as_text(reports.as_json(out)))


def test_mauve() -> None:
    vectors = whole_numbers(60, 5, seed=1)
    vectors[40:44] = vectors[3]
    sets = whole_numbers(4, 8, 3, seed=5)
    histograms = np.array(
        [[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]]
    )

    out = {
        "area": [
            frontier.area(p, q, scaling, points)
            for p in histograms
            for q in histograms
            for scaling, points in ((5.0, 25), (1.0, 4))
        ],
        "mixtures": frontier.mixtures(4),
        "reduced": abs(components.reduce_dimensions(vectors, 0.6).coordinates)
        .sum(axis=0)
        .round(4),
        "automatic": [
            mauve.automatic_buckets(n, m)
            for n, m in ((3, 100), (45, 55), (300, 90), (9000, 9000))
        ],
        "buckets": [
            quantise.buckets(vectors, k, seed=seed, redo=redo)
            for k, seed, redo in ((2, 25, 5), (5, 3, 1), (7, 3, 3))
        ],
        "few steps": quantise.buckets(
            vectors, 6, seed=1, redo=2, max_iter=2, explained=0.5
        ),
        "many": [
            small_sets.many_buckets(sets, k, seed=seed, redo=redo)
            for k, seed, redo in ((2, 25, 5), (3, 3, 1), (12, 0, 2))
        ],
        "spread": mauve.spread(
            vectors[:25], vectors[25:], 4, seeds=range(3, 6), redo=2
        ),
        "relabelled": mauve.relabel(
            sets,
            np.array([[k in (0, 1, 5) for k in range(8)], [k > 4 for k in range(8)]]),
            3,
            seed=1,
            redo=2,
            scaling=2.0,
        ),
    }
    assert_pinned("metrics/functions/mauve.txt", as_text(reports.as_json(out)))


def test_neighbours() -> None:
    points = whole_numbers(5, 9, 2, seed=3)
    distances = np.sqrt(geometry.squared_distances(geometry.gram(points)))
    sides = (0, 1, 2, 3), (0, 4, 5, 8), (5, 6, 7, 8)
    labels = np.array([[k in side for k in range(9)] for side in sides])
    kinds: tuple[Any, ...] = ("precision", "recall", "density", "coverage")
    first = whole_numbers(30, 3, seed=8)
    second = whole_numbers(26, 3, seed=9)
    first_sample, second_sample = (
        neighbour_groups.Sample(side, np.arange(len(side)) % 5)
        for side in (first, second)
    )
    without = neighbour_groups.without_groups

    out: dict[str, Any] = {
        **{
            f"{kind} {k}": neighbours.of_distances(distances, labels, k, kind)
            for kind in kinds
            for k in (1, 2, 3)
        },
        **{
            f"without groups {kind} {k}": without(
                first_sample, second_sample, k, kind, 5
            )
            for kind in kinds
            for k in (1, 4)
        },
        "credits": [neighbours.coverage_credits(distances, 4, k) for k in (1, 2)],
        "smallest": [
            corpus_neighbours.kth_smallest(
                whole_numbers(3, width, seed=6, width=997), k
            )
            for width in (9, 700)
            for k in (1, 4)
        ],
        "wasserstein": [
            variability.wasserstein(distances, labels, compare)
            for compare in ("within", "cross")
        ],
    }
    assert_pinned("metrics/functions/neighbours.txt", as_text(reports.as_json(out)))


def test_curves_of_quality_and_diversity() -> None:
    quality = (1.0, 0.7, 0.45, 0.2)
    diversity = (-0.5, -0.3, -0.2, -0.1)
    points = (
        (0.6, -0.3),
        (0.9, -0.25),
        (0.1, -0.5),
        (0.2, -0.1),
        (0.5, -0.6),
        (0.5, 0.0),
    )
    rng = np.random.default_rng(4)
    vocabulary = Vocabulary()
    sentences = [text.split() for text in inputs.SENTENCES[:12]]
    lengths: tuple[Any, ...] = (3, "same")
    out = {
        "discrepancies": [
            reports.attempt(curve_discrepancy, quality, diversity, *ends)
            for ends in points
        ],
        "refused": [
            reports.attempt(curve_discrepancy, *given, 0.5, -0.2)
            for given in (
                ((1.0, 0.5), (-0.5,)),
                ((1.0,), (-0.5,)),
                ([[1.0, 0.5]], [[-0.5, -0.1]]),
            )
        ],
        "points": [
            [
                point(pair, words_of(side, vocabulary), words_of(other, vocabulary), n)
                for n in (1, 2, 4)
            ]
            + [largest_quality(pair, words_of(side, vocabulary), 2)]
            for pair in PAIRS
            for side, other in (
                (sentences[:6], sentences[6:]),
                (sentences[:3], [[]]),
                ([["a"], ["b"]], [["a"]]),
                (sentences, sentences),
            )
        ],
        "flat": reports.attempt(curve_discrepancy, (0.5, 0.5), (-0.5, -0.1), 0.0, -0.2),
        "draws": [
            draw([["a", "b"], ["c"], ["d", "e", "f"]], "uvwxyz", eps, size, rng)
            for eps in (0.0, 0.5, 1.0)
            for size in lengths
            for _ in range(4)
        ],
        "sums": [
            reports.attempt(from_sums, 2, Sums(*values))
            for values in (
                (4, 5, 6, 9, 3, 5, 6),
                (1, 1, 1, 1, 0, 1, 1),
                (0, 3, 0, 3, 0, 0, 0),
            )
        ],
    }
    assert_pinned("metrics/functions/curves.txt", as_text(reports.as_json(out)))


def test_triangles() -> None:
    distances = np.abs(whole_numbers(4, 7, 7, seed=4))
    distances[:, np.arange(7), np.arange(7)] = 0.0
    distances[3] = 1.0
    sides = (0, 1, 2), (0, 3, 6), (4, 5, 6)
    labels = np.array([[k in side for k in range(7)] for side in sides])

    poolings: tuple[Any, ...] = ("pooled", "per-direction")
    out = {
        pooling: {
            "values": [
                triangles.triangle_rank(distances, n, pooling) for n in (1, 3, 6)
            ],
            "relabelled": triangles.relabel(distances, 3, labels, pooling),
            "p": [triangles.exact_p_values(distances, n, pooling) for n in (1, 2, 3)],
            "p mirrored": triangles.exact_p_values(distances[:, :6, :6], 3, pooling),
            "credits": triangles.leave_one_out_credits(distances, 3, pooling),
            "sampled": [
                drawn_triangles.sampled_triangle_rank(
                    matrix, 3, pooling, 60, np.random.default_rng(7)
                )
                for matrix in distances
            ],
            "sampled small": [
                drawn_triangles.sampled_triangle_rank(
                    distances[0, :3, :3], n, pooling, 5, np.random.default_rng(7)
                )
                for n in (1, 2)
            ],
            "nothing to draw": drawn_triangles.sampled_triangle_rank(
                distances[0, :2, :2], 1, pooling, 5, np.random.default_rng(7)
            ),
        }
        for pooling in poolings
    }

    heaviest = [
        heaviest_triangle.heaviest_triangle(matrix, n)
        for matrix in distances
        for n in (1, 2, 3)
    ]
    assert_pinned(
        "metrics/functions/triangles.txt",
        as_text(reports.as_json({**out, "heaviest": heaviest})),
    )


def forgotten() -> Any:
    """Return the scores of CIDEr-D before and after the texts of the run are forgotten,
    and after another process has read the state.
    """
    features = FeatureCache([item.references for item in inputs.EVEN])
    batch = features.batch(inputs.EVEN)
    metric = reports.create("ciderd", {})
    state = metric.fit(features.references, features)
    before = metric.candidate_scores(batch, features, state)
    copy = pickle.loads(pickle.dumps(state))
    state.forget_texts()

    others = FeatureCache([item.references for item in inputs.MIRRORED])
    sizes = [
        len(state.counts),
        state.stage,
        len(copy.counts),
        copy.stage,
        copy.frequencies.documents,
    ]
    return [
        before,
        sizes,
        [
            metric.candidate_scores(others.batch(inputs.MIRRORED), others, each)
            for each in (state, copy)
        ],
    ]


def test_tables_of_document_frequencies(tmp_path: Path) -> None:
    corpus = [list(item.references) for item in inputs.EVEN]
    out: dict[str, Any] = {}
    for name, minimum, tokenizer in (
        ("a.json", 1, "ptb"),
        ("b.npz", 2, "ptb"),
        ("c.json.gz", 2, "none"),
    ):
        out[name] = document_frequency.build_df_table(
            corpus, tmp_path / name, tokenizer=tokenizer, minimum=minimum
        )
        table = df_table.read(tmp_path / name, tokenizer)
        out[f"table {name}"] = [
            table.documents,
            dict(zip(table.grams, table.counts.tolist()))
            if minimum > 1
            else len(table.grams),
        ]

    joined = document_frequency.join_df_tables(
        [tmp_path / "a.json", tmp_path / "b.npz"], tmp_path / "d.json", minimum=4
    )
    out["joined"] = [joined, df_table.read(tmp_path / "d.json", "ptb").counts]

    for table in ("a.json", "b.npz", "d.json"):
        for metric in (
            reports.create("cider", {"df": str(tmp_path / table)}),
            reports.create("cider-r", {"df": str(tmp_path / table)}),
        ):
            signature = metric.signature().replace("cider-", "")
            out[f"{table} {signature.partition('|')[0]}"] = [
                signature,
                reports.attempt(reports.report, metric, inputs.EVEN),
            ]
    assert_pinned(
        "metrics/functions/document_frequencies.txt", as_text(reports.as_json(out))
    )

    texts = [text for item in inputs.MIXED for text in item.candidates][:9]
    variants: tuple[Any, ...] = ("d", "plain")
    smoothings: tuple[Any, ...] = (
        (4, "toolkit", "ptb"),
        (4, "add-one", "ptb"),
        (2, "add-one", "none"),
    )

    pairs = {
        **{
            f"bleu {n} {smoothing}": bleu.matrix(
                texts, n=n, smoothing=smoothing, tokenizer=tokenizer
            )
            for n, smoothing, tokenizer in smoothings
        },
        "rouge": rouge.matrix(texts),
        "rouge none": rouge.matrix(texts, tokenizer="none"),
        **{
            f"cider {variant}": cider.matrix(texts, variant=variant)
            for variant in variants
        },
        "cider given": cider.matrix(texts, df=corpus, tokenizer="none"),
        "forgotten": forgotten(),
        "meteor": meteor.matrix(texts),
        "meteor scores": meteor.scores([(texts[k], texts[:k]) for k in range(1, 9)]),
        "meteor statistics": meteor.statistics(
            [(item.candidates[0], item.references) for item in inputs.MIXED]
        ),
    }
    assert_pinned(
        "metrics/functions/pairs_of_texts.txt", as_text(reports.as_json(pairs))
    )
