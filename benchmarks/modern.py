"""Times of the metrics of sets and corpora, of the two-sample tests (5000 examples of
10 candidates and 5 references), and of a judge.

    python -m benchmarks.modern [--examples 5000] [--p-values] [--only NAME ...]

Captions are random: words of a Zipf distribution, half of them from the topic of the
example. Their vectors (384 numbers, the mean of random word vectors) are computed
before the metrics are timed; the first metric over distances computes those. ``number``
is the time of statistics and value, ``cpu`` the processor time of it, ``p`` the time of
the exact permutation p-values of all examples. The goal is 60 seconds for each number
with 5000 examples on 2 cores, in proportion for fewer; the exit status is 1 when one is
missed. On a machine that does other work the time is longer than on an idle one: the
goal is also met where the processor time is below it. ``judge`` is the section
:mod:`benchmarks.sections.judge_requests`: 300 examples at 16 simultaneous requests
beside the time that the server itself needs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.sections import judge_requests
from harness.contracts import CaptionSet, Permutes, is_defined
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.stats.significance import metric_p_values
from harness_metrics.composed.pairwise import Pairwise
from harness_metrics.kernel.distance import CosineDistance
from harness_metrics.mauve import shares_metric
from harness_metrics.ngram.cider_r import CiderR
from harness_metrics.sets import (
    corpus_metrics,
    meaning_metrics,
    neighbour_metrics,
    redundancy_metrics,
    spectrum_metrics,
)
from harness_metrics.sets.variability_metric import ProductionVariability
from harness_metrics.twosample.c2st import ClassifierTest
from harness_metrics.twosample.mmdagg import MmdAgg

GOAL = 60.0
"""Seconds for the number of a metric with 5000 examples."""
WORDS = 8000
WIDTH = 384


class MeanOfWords:
    """Embedding by the mean of random word vectors."""

    name = "words"

    def __init__(self) -> None:
        self.table = (
            np.random.default_rng(0).standard_normal((WORDS, WIDTH)).astype(np.float32)
        )

    def signature(self) -> str:
        """Return the name."""
        return "words"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors, float32, shape (T, 384)."""
        vectors = np.stack(
            [
                self.table[[int(word[1:]) for word in text.split()]].mean(axis=0)
                for text in texts
            ]
        )
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def caption_sets(number: int, n: int = 10, m: int = 5) -> list[CaptionSet]:
    """Return random captions, n + m of each example."""
    rng = np.random.default_rng(1)
    sets = []
    for k in range(number):
        topic = rng.integers(0, WORDS, 12)
        texts = []
        for length in rng.integers(6, 14, n + m).tolist():
            common = np.minimum(rng.zipf(1.3, length), WORDS) - 1
            words = np.where(
                rng.random(length) < 0.5, rng.choice(topic, length), common
            )
            texts.append(" ".join(f"w{word}" for word in words.tolist()))
        sets.append(CaptionSet(str(k), tuple(texts[:n]), tuple(texts[n:])))
    return sets


def metrics(embedding: Any) -> dict[str, Any]:
    """Return the metrics by their registered names."""
    distance = CosineDistance(embedding=embedding)
    over_distance = {
        "precision-example": neighbour_metrics.PrecisionPerExample,
        "recall-example": neighbour_metrics.RecallPerExample,
        "density-example": neighbour_metrics.DensityPerExample,
        "coverage-example": neighbour_metrics.CoveragePerExample,
        "reference-coverage": meaning_metrics.ReferenceCoverage,
        "production-variability": ProductionVariability,
        "semantic-entropy": meaning_metrics.SemanticEntropy,
        "pairwise": Pairwise,
    }
    over_embedding = {
        "mmdagg": MmdAgg,
        "c2st": ClassifierTest,
        "mauve-knn": shares_metric.MauveNeighbours,
        "mauve-kde": shares_metric.MauveKernel,
        "vendi": spectrum_metrics.Vendi,
        "corpus-vendi": spectrum_metrics.CorpusVendi,
        "precision": neighbour_metrics.Precision,
        "recall": neighbour_metrics.Recall,
        "density": neighbour_metrics.Density,
        "coverage": neighbour_metrics.Coverage,
        "corpus-frechet": corpus_metrics.CorpusFrechet,
        "corpus-mmd": corpus_metrics.CorpusMmd,
    }
    return {
        **{name: cls(distance=distance) for name, cls in over_distance.items()},
        **{name: cls(embedding=embedding) for name, cls in over_embedding.items()},
        "self-cider": spectrum_metrics.SelfCider(tokenizer="none"),
        "cider-r": CiderR(tokenizer="none"),
        "mbleu": redundancy_metrics.MBleu(tokenizer="none"),
        "compression-ratio": redundancy_metrics.CompressionRatio(),
        "ms-jaccard": redundancy_metrics.MsJaccard(tokenizer="none"),
    }


def number(
    metric: Any, sets: Sequence[CaptionSet], features: FeatureCache
) -> tuple[float, float, float]:
    """Return the seconds and the processor seconds of one metric on all sets,
    and its value.
    """
    start = time.perf_counter()
    processor = time.process_time()
    stats = scoring.score(
        metric, scoring.batches(sets, features), features, None, 0
    ).stats
    value = float(metric.reduce(stats[is_defined(stats)]))
    return time.perf_counter() - start, time.process_time() - processor, value


def p_values(metric: Any, sets: Sequence[CaptionSet], features: FeatureCache) -> float:
    """Return the seconds of the exact p-values of all sets."""
    start = time.perf_counter()
    state = scoring.fit_once(metric, features)
    for part in scoring.batches(sets, features):
        scores = metric.per_example(metric.stats(part.batch, features, state))
        metric_p_values(metric, part.batch, features, state, scores, method="exact")
    return time.perf_counter() - start


def main() -> int:
    """Print the table; return 1 when a number takes longer than the goal."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--examples", type=int, default=5000, help="number of examples (default 5000)"
    )
    parser.add_argument(
        "--p-values", action="store_true", help="time the exact p-values too"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="metrics by name (default: all)"
    )
    args = parser.parse_args()
    embedding = MeanOfWords()
    chosen = metrics(embedding)
    if unknown := sorted(set(args.only or ()) - {*chosen, "judge"}):
        raise SystemExit(
            f"no metric {', '.join(unknown)}; metrics are {', '.join(chosen)}, judge"
        )
    judge_missed = (
        not args.only or "judge" in args.only
    ) and not judge_requests.report(judge_requests.measure())
    timed = [name for name in args.only or chosen if name != "judge"]
    if not timed:
        return int(judge_missed)
    sets = caption_sets(args.examples)
    features = FeatureCache([item.references for item in sets])
    for part in scoring.batches(sets, features):
        features.vectors(embedding, part.batch.text_ids)
    goal = GOAL * args.examples / 5000
    print(
        f"{len(sets)} examples of 10 + 5 texts; {os.cpu_count()} cores; "
        f"goal {goal:.1f} s for each number"
    )
    print(f"{'metric':<24}{'number, s':>12}{'cpu, s':>10}{'p, s':>10}{'value':>12}")
    missed = []
    for name in timed:
        metric = chosen[name]
        # loads compiled kernels
        number(metric, sets[:4], FeatureCache([item.references for item in sets[:4]]))
        seconds, processor, value = number(metric, sets, features)
        tested = (
            f"{p_values(metric, sets, features):.1f}"
            if args.p_values and isinstance(metric, Permutes)
            else ""
        )
        late = min(seconds, processor) > goal
        missed += [name] if late else []
        print(
            f"{name:<24}{seconds:>12.1f}{processor:>10.1f}{tested:>10}{value:>12.4f}"
            f"{'  goal missed' * late}",
            flush=True,
        )
    return 1 if missed or judge_missed else 0


if __name__ == "__main__":
    sys.exit(main())
