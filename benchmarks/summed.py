"""Size and power of two combined p-values of a run on real captions: calibrated from
single p-values, and from summed statistics.

    python -m benchmarks.summed [--runs 400] [--null 2000] [--examples 50] [--sizes 5 5]

Each simulated run has videos of MSR-VTT with 5 + 5 of the captions that people wrote;
under the alternatives the candidates are changed. ``fisher-discrete`` is
:func:`harness.stats.combine.calibrated_p` of the exact p-values of the videos;
``summed`` adds up the statistics of the videos, each divided by its standard deviation
over relabelings, and compares the sum with those under 999 joint relabelings
(:func:`harness.stats.significance.sum_relabelings`, here with the relabelings drawn
from all of a video). The columns are the shares of runs with p <= .05, of TRM over
METEOR and MMD over bags of words. Exit status 1 where the size of ``summed`` is above
.057 (two standard errors of 4,000 runs) by more than its own standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.captions import VIDEOS, data_folder, read_json_lines
from harness.contracts import CaptionSet, Metric
from harness.registry import resolve
from harness.run.features import FeatureCache
from harness.stats import combine, permutation, permutation_p_values
from harness.stats.significance import extremeness
from harness.stats.stratified_test import rank_shares, standardise_values

ALPHA = 0.05
DRAWS = 999
METRICS = {
    "trm(meteor)": {"trm": {"distance": "meteor"}},
    "mmd(bow)": {"mmd": {"embedding": "bow"}},
}
Change = Callable[
    [list[list[str]], list[list[str]], np.random.Generator], list[list[str]]
]
"""Candidates of the videos, captions of other videos, generator -> changed candidates.
"""


def substitute(share: float) -> Change:
    """Return the change of some captions into those of another video."""
    return lambda own, others, rng: [
        [b if rng.random() < share else a for a, b in zip(x, y)]
        for x, y in zip(own, others)
    ]


def wrong_videos(share: float) -> Change:
    """Return the change of all captions of some videos into those of another one."""
    return lambda own, others, rng: [
        *others[: round(share * len(own))],
        *own[round(share * len(own)) :],
    ]


def change_words(change: Callable[[str, np.random.Generator], str]) -> Change:
    """Return the change of every caption."""
    return lambda own, others, rng: [
        [change(text, rng) for text in texts] for texts in own
    ]


def repeat_captions(
    own: list[list[str]], others: list[list[str]], rng: np.random.Generator
) -> list[list[str]]:
    """Return candidates of which one is another one repeated,
    as of a source with too little variety.
    """
    return [[*texts[:-1], texts[0]] for texts in own]


def shuffle_words(text: str, rng: np.random.Generator) -> str:
    """Return a caption of which two adjacent words are exchanged."""
    words = text.split()
    k = int(rng.integers(max(1, len(words) - 1)))
    words[k : k + 2] = words[k : k + 2][::-1]
    return " ".join(words)


CHANGES: dict[str, Change] = {
    "captions of another video, 1 of 4": substitute(0.25),
    "captions of another video, 2 of 5": substitute(0.4),
    "all captions of 1 video in 25": wrong_videos(0.04),
    "all captions of 1 video in 10": wrong_videos(0.1),
    "one candidate repeated": repeat_captions,
    "last word dropped": change_words(lambda text, rng: text.rsplit(" ", 1)[0]),
    "two adjacent words exchanged": change_words(shuffle_words),
    "cut after 6 words": change_words(lambda text, rng: " ".join(text.split()[:6])),
}


def p_values(
    metric: Metric, sets: Sequence[CaptionSet], rng: np.random.Generator
) -> tuple[float, float]:
    """Return the calibrated and the summed p-value of a metric on videos of one
    size.
    """
    # a vocabulary of all texts is exchangeable
    features = FeatureCache([(*item.candidates, *item.references) for item in sets])
    batch = features.batch(sets)
    values = extremeness(
        metric,
        batch,
        features,
        metric.fit(features.references, features),
        permutation.relabelings(batch.n, batch.m),
    )
    single = permutation_p_values.p_values(values[:, 0], [values], "upper", "exact")
    ranks = rng.integers(values.shape[1], size=(len(values), DRAWS + 1))
    ranks[:, 0] = 0
    drawn = np.take_along_axis(values, ranks, axis=1)
    sums = standardise_values(drawn[:, :, None])[0].sum(axis=0)
    return combine.calibrated_p(single, 1 / values.shape[1]), float(
        rank_shares(sums)[0, 0]
    )


def simulate(
    videos: Sequence[list[str]],
    change: Change | None,
    runs: int,
    examples: int,
    sizes: tuple[int, int],
) -> np.ndarray:
    """Return the shares of runs with p <= .05, calibrated and summed,
    shape (metrics, 2).
    """
    metrics: list[Metric] = [resolve("metrics", spec) for spec in METRICS.values()]
    found = np.zeros((len(metrics), 2))
    n, m = sizes
    for run in range(runs):
        rng = np.random.default_rng([run, n, m, 0 if change is None else 1])
        chosen = rng.choice(len(videos), 2 * examples, replace=False)
        texts = [
            [videos[k][j] for j in rng.choice(len(videos[k]), n + m, replace=False)]
            for k in chosen
        ]
        own = [row[:n] for row in texts[:examples]]
        others = [row[:n] for row in texts[examples:]]
        candidates = own if change is None else change(own, others, rng)
        sets = [
            CaptionSet(str(k), tuple(c), tuple(row[n:]))
            for k, (c, row) in enumerate(zip(candidates, texts))
        ]
        found += [
            [p <= ALPHA for p in p_values(metric, sets, rng)] for metric in metrics
        ]
    return found / runs


def main() -> int:
    """Print the table; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--null", type=int, default=2000)
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument(
        "--sizes", type=int, nargs=2, default=(5, 5), metavar=("N", "M")
    )
    args = parser.parse_args()

    videos: list[list[str]] = [
        row["references"] for row in read_json_lines(data_folder() / VIDEOS)
    ]
    videos = [texts for texts in videos if len(texts) >= sum(args.sizes)]

    print(
        f"{len(videos)} videos, {args.examples} a run, "
        f"{args.sizes[0]} + {args.sizes[1]} captions"
    )
    print(
        f"{'':36}"
        + "".join(
            f"{name + ' ' + p:>30}"
            for name in METRICS
            for p in ("fisher-discrete", "summed")
        )
    )

    cases: dict[str, Change | None] = {"people and people (size)": None, **CHANGES}
    size = np.zeros(2)

    for name, change in cases.items():
        runs = args.null if change is None else args.runs
        shares = simulate(videos, change, runs, args.examples, tuple(args.sizes))
        size = shares[:, 1] if change is None else size
        print(
            f"{name:36}" + "".join(f"{share:30.3f}" for share in shares.ravel()),
            f"  {runs} runs",
            flush=True,
        )
    return int(size.max() > 0.057 + np.sqrt(0.05 * 0.95 / args.null))


if __name__ == "__main__":
    sys.exit(main())
