"""Populations and metrics of the coverage simulation (:mod:`benchmarks.coverage`)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks import captions
from harness.contracts import CaptionSet, Example
from harness_metrics.pregen.tokens import FlatTokens

GOLDEN_DATA = captions.GOLDEN / "data"
"""Data of the golden values: 5000 COCO images with references and the captions of
twelve captioners.
"""
PER_SET = 400
"""Reference games of each A3DS test set."""
IMAGES = 4000
"""Images of the simulated token scores."""
PREGEN = (
    "mean_max_normcount_prefix0",
    "mean_mean_pplx_none",
    "sum_mean_count_prefix0",
    "median_mean_prob_none",
    "geomean_geomean_pplx_none",
    "mean_join_normcount_filter0",
    "median_join_prob_none",
    "max_mean_prob_none",
)
"""Pre-gen metrics, one or two of each aggregation of images."""
FREQUENCIES = "document frequencies of the population"
LIKE_ROUGE = "the mean of scores per example, as rouge"
NOT_RUN: Mapping[str, str] = {
    "bleu": "as bleu4",
    "spice": f"needs SPICE's Java program; {LIKE_ROUGE}",
    "bertscore": f"needs the weights of a language model; {LIKE_ROUGE}",
    "clipscore": f"needs the weights of CLIP and images; {LIKE_ROUGE}",
    "refclipscore": f"needs the weights of CLIP and images; {LIKE_ROUGE}",
    "pac-score": f"needs the weights of CLIP and images; {LIKE_ROUGE}",
    "ref-pac-score": f"needs the weights of CLIP and images; {LIKE_ROUGE}",
    "pac-score-plus": f"needs the weights of CLIP and images; {LIKE_ROUGE}",
    "ref-pac-score-plus": f"needs the weights of CLIP and images; {LIKE_ROUGE}",
    "vqascore": f"needs a model that sees images; {LIKE_ROUGE}",
    "object-match": f"needs the weights of an embedding of words; {LIKE_ROUGE}",
    "spider": f"needs SPICE's Java program; {LIKE_ROUGE}",
    "spider-max": f"needs SPICE's Java program; {LIKE_ROUGE}",
    "spider-fl": f"needs SPICE's Java program; {LIKE_ROUGE}",
    "sari": f"needs sources; {LIKE_ROUGE}",
    "clair": f"needs a judge; {LIKE_ROUGE}",
    "rubric": f"needs a judge; {LIKE_ROUGE}",
    "fleur": f"needs a judge; {LIKE_ROUGE}",
    "ref-fleur": f"needs a judge; {LIKE_ROUGE}",
    "win-rate": f"needs a judge; {LIKE_ROUGE}",
    "perplexity": "one of its columns is a metric of pregen, "
    "the other a ratio of sums of token scores",
    "choice": "needs scores of options; a share with Wilson's interval, as novelty",
    "poll": "needs scores of answers; shares with Wilson's interval, as novelty, "
    "and ratios of counts, as distinct",
    "text-space": "prints no interval: its number is exact",
    "text-space-qdisc": "prints no interval: its number is exact",
}
"""Metrics that are not simulated: registered name -> reason."""


class Keywords:
    """Listener that chooses the first scene with the most phrases in the caption."""

    def fingerprint(self) -> str:
        """Return the name."""
        return "keywords"

    def listen(
        self, examples: Sequence[Example], captions: Sequence[str]
    ) -> np.ndarray:
        """Return choices (B,), int: 0 for the target."""
        from harness_tasks.a3ds.scene import phrases

        choices: list[int] = []
        for item, caption in zip(examples, captions):
            scenes = [item.meta["target_id"], item.meta["distractor_id"]]
            matches = [
                sum(phrase in caption for phrase in phrases(scene).values())
                for scene in scenes
            ]
            choices.append(int(np.argmax(matches)))
        return np.array(choices)


class WordSums:
    """Embedding of 24 dimensions: the sum of random vectors of the words, divided by
    the root of their number.
    """

    name = "word-sums"
    width = 24

    def __init__(self) -> None:
        self.vectors: dict[str, np.ndarray] = {}

    def signature(self) -> str:
        """Return the name."""
        return self.name

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return vectors, float32, shape (T, 24)."""
        return np.array(
            [self._vector(text.lower().split()) for text in texts], dtype=np.float32
        )

    def _vector(self, words: Sequence[str]) -> np.ndarray:
        for word in words:
            if word not in self.vectors:
                self.vectors[word] = np.random.default_rng(
                    list(word.encode())
                ).standard_normal(self.width)
        return (
            np.sum(
                [self.vectors[word] for word in words] or [np.zeros(self.width)], axis=0
            )
            / max(1, len(words)) ** 0.5
        )


class Case(NamedTuple):
    """A metric and the population that it is simulated on."""

    name: str
    """Registered name."""
    population: str
    """``single`` (one candidate), ``several`` (five),
    ``games`` (A3DS) or ``tokens`` (token scores).
    """
    params: Mapping[str, Any] = {}
    held_fixed: str = ""
    """State that all samples share, because the intervals hold it fixed."""
    of_size: bool = False
    """True for numbers whose expected value depends on the number of examples: the
    truth is that of the same number.
    """


WORDS = WordSums()
CASES: tuple[Case, ...] = (
    *(
        Case(name, "single")
        for name in (
            "bleu1",
            "bleu2",
            "bleu3",
            "bleu4",
            "meteor",
            "rouge",
            "chrf",
            "ter",
            "wmd",
            "novelty",
        )
    ),
    Case("cider", "single", {}, FREQUENCIES),
    Case("cider", "single", {"variant": "plain"}, FREQUENCIES),
    Case("ciderd", "single", {}, FREQUENCIES),
    Case("cider", "single", {"df": "resampled"}, of_size=True),
    Case("cr", "single", {}, of_size=True),
    Case("nrr", "single", {}, of_size=True),
    Case("nrr", "single", {"form": "unbiased"}, of_size=True),
    Case("nrr", "single", {"form": "cross-sentence"}, of_size=True),
    Case("cnd", "single", {}, of_size=True),
    Case("cnd", "single", {"form": "unbiased"}, of_size=True),
    Case("cnd", "several", {"conditional": True}),
    Case("trm", "several", {"distance": "meteor"}),
    Case("trm", "several", {"distance": "cider"}, FREQUENCIES),
    *(
        Case(name, "several", {"embedding": "bow"})
        for name in ("mmd", "frechet", "energy", "sliced-wasserstein")
    ),
    Case("mauve-example", "several", {"embedding": "bow", "k": 2}),
    Case("best", "several", {"metric": "rouge"}),
    Case("pairwise-bleu", "several"),
    Case("self-bleu", "several", {"conditional": True}),
    *(
        Case(name, "games")
        for name in (
            "discriminativity",
            "contrastive-efficiency",
            "relevance",
            "optimal-discriminativity",
            "mentioned-features",
            "false-features",
        )
    ),
    Case("redundant-mention", "games", {"feature": "floor_hue"}),
    Case("listener-accuracy", "games", {"listener": Keywords()}),
    Case("pregen", "tokens", {"names": PREGEN}),
    Case("cider-r", "single", {}, FREQUENCIES),
    Case("length", "single"),
    Case("entropy", "several", of_size=True),
    Case("adjective-order", "games"),
    *(
        Case(name, "single")
        for name in (
            "chair-i",
            "chair-s",
            "object-recall",
            "fact-precision",
            "fact-recall",
            "fact-f1",
        )
    ),
    Case("mbleu", "several"),
    Case("pairwise", "several", {"distance": "rouge"}),
    Case("self-cider", "several", {}, FREQUENCIES),
    *(
        Case(name, "several", {"embedding": WORDS})
        for name in ("vendi", "mmdagg", "c2st", "mauve-knn", "mauve-kde", "fense")
    ),
    *(
        Case(name, "several", {"distance": {"bert": {"embedding": WORDS}}})
        for name in (
            "precision-example",
            "recall-example",
            "density-example",
            "coverage-example",
            "reference-coverage",
            "production-variability",
            "semantic-entropy",
        )
    ),
    Case("corpus-mmd", "several", {"embedding": WORDS, "sigma": 3.0}, of_size=True),
    *(
        Case(name, "several", {"embedding": WORDS}, of_size=True)
        for name in (
            "corpus-vendi",
            "corpus-frechet",
            "precision",
            "recall",
            "density",
            "coverage",
        )
    ),
    Case("compression-ratio", "several", of_size=True),
    Case("ms-jaccard", "several", of_size=True),
    Case("self-bleu", "several"),
    Case("distinct", "several"),
    Case("vocabulary", "several"),
    Case("corpus-bleu", "several"),
    Case("mauve", "several", {"embedding": "bow"}),
    Case("qdisc", "single"),
)
"""All simulated metrics; the last ones print no interval."""


@functools.cache
def caption_population(candidates: int) -> list[CaptionSet]:
    """Return 5000 COCO images with five references and the captions of one captioner,
    or of the first five.
    """
    by_image = {
        row["image_id"]: row["references"]
        for row in captions.read_json_lines(GOLDEN_DATA / captions.REFERENCES)
    }
    sets: list[CaptionSet] = []
    for row in captions.read_json_lines(GOLDEN_DATA / captions.CAPTIONERS):
        texts = [text for name, text in row["candidates"].items() if name != "human_1"]
        part = texts[3:4] if candidates == 1 else texts[:candidates]
        sets.append(
            CaptionSet(
                str(row["image_id"]), tuple(part), tuple(by_image[row["image_id"]][:5])
            )
        )
    return sets


@functools.cache
def game_population() -> list[CaptionSet]:
    """Return A3DS reference games of all test sets; the speaker describes the target,
    briefly or in full, or the distractor.
    """
    from harness_tasks.a3ds.grammar import captions as scene_captions
    from harness_tasks.readers.generated import ReferenceGames

    rng = np.random.default_rng(0)
    sets: list[CaptionSet] = []
    for item in ReferenceGames(pairs=PER_SET):
        draw = rng.random()
        scene = item.meta["distractor_id" if draw < 0.1 else "target_id"]
        texts = scene_captions(scene, "exhaustive" if draw > 0.7 else "short")
        sets.append(
            CaptionSet(
                item.id,
                (texts[rng.integers(len(texts))],),
                item.references[:5],
                meta=item.meta,
            )
        )
    return sets


def population(name: str) -> list[CaptionSet]:
    """Return a population of captions by its name in :class:`Case`."""
    return (
        game_population()
        if name == "games"
        else caption_population(1 if name == "single" else 5)
    )


@functools.cache
def token_population() -> FlatTokens:
    """Return simulated token scores of :data:`IMAGES` images with five captions, whose
    difficulty differs between images.
    """
    rng = np.random.default_rng(0)
    lengths = rng.integers(6, 15, size=5 * IMAGES)
    ease = np.repeat(np.repeat(rng.beta(4, 3, IMAGES), 5), lengths)
    probabilities = rng.beta(6 * ease + 0.5, 6 * (1 - ease) + 0.5)
    top = rng.random(len(ease)) < 0.2 + 0.8 * probabilities
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return FlatTokens(
        probabilities, np.log2(probabilities), top, offsets, np.arange(IMAGES + 1) * 5
    )
