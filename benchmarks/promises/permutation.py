"""Permutation p-values keep their level: texts of one source on both sides, over every
embedding and distance that needs no further file.

The texts of an example are captions of the shipped sample, ten to an image, or random
words by Zipf's law; five of them, drawn at random, are the candidates and five the
references. Metrics without corpus state are tested in one data set. Those of document
frequencies are tested in data sets of :data:`DOCUMENTS` examples, each with frequencies
of its own references.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import harness_tasks
from benchmarks.promises.promise import Cell, Promise
from harness.contracts import CaptionSet, Metric
from harness.registry import current
from harness.testing.exchangeability import LEVEL, score_data_set

SAMPLE = Path(harness_tasks.__file__).parent / "sample" / "captions.json"
DOCUMENTS = 50
"""Examples of a data set of document frequencies: the fewest with p-values."""
EMBEDDINGS: Sequence[str] = ("bow", "glove", "minilm")
DISTANCES: Sequence[str | Mapping[str, Any]] = (
    "bleu",
    "meteor",
    "rouge",
    "wmd",
    "bert",
    {"bert": {"embedding": "bow"}},
    {"bert": {"embedding": "glove"}},
)
"""Distances without corpus state."""
QUICK = 400
FULL = 4000
"""Examples of a cell."""
Draw = Callable[[np.random.Generator, int], list[CaptionSet]]
"""Generator and number of examples -> examples of one source."""
CAPTIONS = "captions of the sample, 5 + 5"


def draw_captions(rng: np.random.Generator, count: int) -> list[CaptionSet]:
    """Return examples of the ten captions of an image, in random order; images are
    drawn with replacement beyond their number.
    """
    captions = captions_by_image()
    images = np.concatenate(
        [rng.permutation(len(captions)) for _ in range(-(-count // len(captions)))]
    )[:count]
    examples: list[CaptionSet] = []
    for number, image in enumerate(images.tolist()):
        texts = rng.permutation(np.array(captions[image], dtype=object)).tolist()
        examples.append(CaptionSet(f"{number}", tuple(texts[:5]), tuple(texts[5:])))
    return examples


def captions_by_image() -> list[list[str]]:
    """Return the captions of each image of the sample that has ten."""
    by_image: dict[Any, list[str]] = {}
    for row in json.loads(SAMPLE.read_text(encoding="utf-8"))["annotations"]:
        by_image.setdefault(row["image_id"], []).append(row["caption"])
    return [texts for texts in by_image.values() if len(texts) == 10]


def draw_words(
    words: int, length: int, candidates: int = 5, references: int = 5
) -> Draw:
    """Return a source of texts of ``length`` words,
    independent draws from so many words by Zipf's law.
    """
    share = np.cumsum(1.0 / np.arange(1, words + 1))

    def draw(rng: np.random.Generator, count: int) -> list[CaptionSet]:
        numbers = np.searchsorted(
            share / share[-1], rng.random((count, candidates + references, length))
        )
        texts = [
            [" ".join(f"w{k}" for k in text) for text in example]
            for example in numbers.tolist()
        ]
        return [
            CaptionSet(f"{k}", tuple(example[:candidates]), tuple(example[candidates:]))
            for k, example in enumerate(texts)
        ]

    return draw


WORDS: Mapping[str, Draw] = {
    "8 of 2,000 words, 5 + 5": draw_words(2000, 8),
    "8 of 50 words, 5 + 5": draw_words(50, 8),
    "15 of 300 words, 5 + 5": draw_words(300, 15),
    "8 of 2,000 words, 10 + 3": draw_words(2000, 8, 10, 3),
}
"""Sources of random words."""


def measure_cell(
    metric: Metric,
    source: str,
    draw: Draw,
    examples: int,
    size: int | None = None,
    seed: int = 0,
) -> Cell:
    """Return how many of ``examples`` tests have p of .05 or less, in data sets of
    ``size`` examples; None: one data set of all.
    """
    size = examples if size is None else size
    rng = np.random.default_rng([seed, size])
    p_values = [
        score_data_set(metric, draw(rng, size), tested=True).p_values
        for _ in range(examples // size)
    ]
    found = np.concatenate([part for part in p_values if part is not None])
    defined = found[~np.isnan(found)]
    return Cell(
        f"{metric.spec.name}, {source}",
        int(np.count_nonzero(defined <= LEVEL)),
        len(defined),
    )


def measure_vectors_and_distances(full: bool) -> list[Cell]:
    """Return the cells of all metrics without corpus state; those of word counts also
    on random words, in data sets of one example.
    """
    examples = FULL if full else QUICK
    cells: list[Cell] = []
    for name in ("mmd", "energy", "sliced-wasserstein"):
        for embedding in EMBEDDINGS:
            metric = current().create("metrics", name, {"embedding": embedding})
            cells.append(measure_cell(metric, CAPTIONS, draw_captions, examples))
    for distance in DISTANCES:
        metric = current().create("metrics", "trm", {"distance": distance})
        cells.append(measure_cell(metric, CAPTIONS, draw_captions, examples))
    for name in ("mmd", "energy", "sliced-wasserstein", "mauve-kde", "mmdagg", "c2st"):
        metric = current().create("metrics", name, {"embedding": "bow"})
        source, draw = next(iter(WORDS.items()))
        cells.append(
            measure_cell(metric, f"{source}, one example", draw, examples // 4, 1)
        )
    return cells


def measure_document_frequencies(full: bool) -> list[Cell]:
    """Return the cells of metrics of document frequencies, in data sets of
    :data:`DOCUMENTS` examples.
    """
    examples = FULL if full else QUICK
    forms: Sequence[tuple[str, dict[str, Any]]] = (
        ("cider", {}),
        ("cider-r", {}),
        *(
            (name, {"distance": "cider"})
            for name in (
                "trm",
                "pairwise",
                "production-variability",
                "coverage-example",
            )
        ),
    )
    cells: list[Cell] = []
    for name, values in forms:
        metric = current().create("metrics", name, values)
        for source, draw in {CAPTIONS: draw_captions, **WORDS}.items():
            cells.append(measure_cell(metric, source, draw, examples, DOCUMENTS))
    metric = current().create("metrics", "bertscore", {"model": "minilm", "idf": True})
    cells.append(
        measure_cell(metric, CAPTIONS, draw_captions, examples // 4, DOCUMENTS)
    )
    return cells


PROMISES = (
    Promise(
        "permutation",
        "Candidates and references of one source have a permutation p of .05 or less "
        "in 5 % of the examples",
        ("docs/metrics/embeddings.md", "docs/metrics/trm.md"),
        LEVEL,
        measure_vectors_and_distances,
    ),
    Promise(
        "permutation-document-frequencies",
        "Under document frequencies of 50 examples or more, "
        "one source has p of .05 or less in at most 6 % of the examples",
        ("docs/metrics/cider.md", "docs/metrics/bertscore.md"),
        0.06,
        measure_document_frequencies,
    ),
)
