"""Human scores from few labels: width of the intervals beside those of the labels
alone, and coverage.

    python -m benchmarks.estimate [--repetitions 1000] [--metrics cider meteor rouge]

Flickr8k-Expert (5664 judged captions of 1000 images) and THumB (500 images, five
systems: each system, and each pair of them). A repetition draws as many examples as the
set has with replacement, and labels 10, 20 or 50 % of them; the truth is the mean of
the set. Designs: a simple random sample; five strata of the metric's scores, with equal
shares (as ``harness label-plan --by``); probabilities that rise with the score, from
half to one and a half times the share; images drawn and labelled as a whole (clusters);
and a finite population: all examples of the set once, whose mean is the truth too.

*Width* is the mean width of the interval over that of the interval of as many random
labels alone. Goal: coverage of .93 to .97 in every row, within two Monte Carlo standard
errors; exit status 1 when it is missed. Repetitions without an interval are left out
and counted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from benchmarks.captions import data_folder, read_json_lines
from harness.contracts import CaptionSet
from harness.decisions.statistics.prediction_powered import powered_mean
from harness.registry import current
from harness.run.score import score_sets

SHARES = (0.1, 0.2, 0.5)
DESIGNS = ("random", "strata", "weights", "clusters", "finite")


class Population(NamedTuple):
    """Human scores and predictions of the examples of a set."""

    name: str
    human: np.ndarray
    predictions: np.ndarray
    """Scores of the metrics, shape (N, metrics)."""
    clusters: np.ndarray


def score(sets: list[CaptionSet], metrics: list[str]) -> np.ndarray:
    """Return the scores of metrics (N, metrics)."""
    components = [current().create("metrics", name) for name in metrics]
    scored = score_sets(components, sets)
    return np.stack(
        [item.per_example(metric) for item, metric in zip(scored, components)], axis=1
    )


def populations(metrics: list[str]) -> Iterator[Population]:
    """Yield Flickr8k-Expert, the systems of THumB,
    and the differences of their pairs.
    """
    rows = read_json_lines(data_folder() / "flickr8k_expert/judgments.jsonl.gz")
    references = [
        [
            text
            for text in row["references"]
            if not (row["is_own_reference"] and text == row["caption"])
        ]
        for row in rows
    ]

    sets = [
        CaptionSet(str(k), (row["caption"],), tuple(own))
        for k, (row, own) in enumerate(zip(rows, references))
    ]
    images = np.unique([row["file_name"] for row in rows], return_inverse=True)[1]

    yield Population(
        "Flickr8k-Expert",
        np.array([row["human_mean"] for row in rows]),
        score(sets, metrics),
        images,
    )

    rows = read_json_lines(data_folder() / "thumb_mscoco/judgments.jsonl.gz")
    scored: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name in rows[0]["systems"]:
        captions = [row["systems"][name] for row in rows]
        sets = [
            CaptionSet(str(k), (own["caption"],), tuple(row["references"]))
            for k, (row, own) in enumerate(zip(rows, captions))
        ]
        scored[name] = (
            np.array([own["human_score"] for own in captions]),
            score(sets, metrics),
        )
        yield Population(f"THumB {name}", *scored[name], np.arange(len(rows)))

    for a, b in combinations(scored, 2):
        yield Population(
            f"THumB {a} - {b}",
            scored[a][0] - scored[b][0],
            scored[a][1] - scored[b][1],
            np.arange(len(rows)),
        )


class Sample(NamedTuple):
    """Examples of one repetition with their labels."""

    rows: np.ndarray
    labelled: np.ndarray
    probabilities: np.ndarray | None = None
    strata: np.ndarray | None = None
    clusters: np.ndarray | None = None


def draw(
    population: Population,
    prediction: np.ndarray,
    design: str,
    share: float,
    rng: np.random.Generator,
) -> Sample:
    """Return a sample of as many examples as the population has."""
    size = len(population.human)
    if design == "clusters":
        members = np.split(
            np.argsort(population.clusters, kind="stable"),
            np.cumsum(np.bincount(population.clusters))[:-1],
        )
        chosen = rng.integers(0, len(members), len(members))
        clusters = np.repeat(np.arange(len(chosen)), [len(members[k]) for k in chosen])
        picked = rng.permutation(len(chosen))[: round(share * len(chosen))]
        return Sample(
            np.concatenate([members[k] for k in chosen]),
            np.isin(clusters, picked),
            clusters=clusters,
        )
    rows = np.arange(size) if design == "finite" else rng.integers(0, size, size)
    if design == "weights":
        rank = np.argsort(np.argsort(prediction[rows])) / size
        probabilities = np.minimum(share * (0.5 + rank), 1.0)
        return Sample(rows, rng.random(size) < probabilities, probabilities)
    if design == "strata":
        bounds = np.unique(
            np.quantile(prediction[rows], np.arange(5) / 5, method="inverted_cdf")
        )
        strata = np.searchsorted(bounds, prediction[rows], side="right") - 1
        order = np.argsort(rng.permuted(np.arange(size)))
        labelled = np.zeros(size, dtype=bool)
        for k in range(len(bounds)):
            members = np.flatnonzero(strata == k)
            labelled[
                members[np.argsort(order[members])][: round(share * len(members))]
            ] = True
        return Sample(rows, labelled, strata=strata)
    return Sample(rows, rng.permutation(size) < round(share * size))


def simulate(
    population: Population,
    columns: list[int],
    design: str,
    share: float,
    repetitions: int,
) -> tuple[float, float, float]:
    """Return coverage, mean width over that of the interval of as many labels drawn at
    random, alone, and the share with intervals.
    """
    rng = np.random.default_rng([7, DESIGNS.index(design), round(100 * share)])
    truth = population.human.mean()
    predictions = population.predictions[:, columns]
    inside = printed = 0
    widths = widths_alone = 0.0

    for _ in range(repetitions):
        sample = draw(population, predictions[:, 0], design, share, rng)
        scores = population.human[sample.rows]
        finite = design == "finite"
        labels = np.where(sample.labelled, scores, np.nan)

        found = powered_mean(
            labels,
            predictions[sample.rows],
            finite=finite,
            probabilities=sample.probabilities,
            strata=sample.strata,
            clusters=sample.clusters,
        )

        # The labels alone are compared at random: a plan by strata or weights needs the
        # predictor.
        random = (
            np.where(
                rng.permutation(len(scores)) < sample.labelled.sum(), scores, np.nan
            )
            if design in ("strata", "weights")
            else labels
        )

        alone = powered_mean(
            random,
            predictions[sample.rows],
            finite=finite,
            clusters=sample.clusters,
            tuning=np.zeros(len(columns)),
        )
        if found.ci95 is None or alone.ci95 is None:
            continue

        printed += 1
        inside += found.ci95[0] <= truth <= found.ci95[1]
        widths += found.ci95[1] - found.ci95[0]
        widths_alone += alone.ci95[1] - alone.ci95[0]
    return inside / printed, widths / widths_alone, printed / repetitions


def main() -> int:
    """Print a row per population, predictor and design;
    return 1 when a goal is missed.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--metrics", nargs="+", default=["cider", "meteor", "rouge"])
    options = parser.parse_args()

    missed = 0
    outside = 0
    rows = 0
    error = 2 * np.sqrt(0.95 * 0.05 / options.repetitions)
    print(
        f"{'set':34} {'by':10} {'design':9} "
        + " ".join(f"width {share:4.0%}  cov." for share in SHARES),
        flush=True,
    )

    for population in populations(options.metrics):
        whole = population.name == "Flickr8k-Expert"
        predictors = {
            **{name: [k] for k, name in enumerate(options.metrics)},
            "all": list(range(len(options.metrics))),
        }
        if " - " in population.name and not whole:
            predictors = {"all": predictors["all"]}
        for name, columns in predictors.items():
            designs = DESIGNS if whole and name == options.metrics[0] else DESIGNS[:1]
            for design in designs:
                cells = [
                    simulate(population, columns, design, share, options.repetitions)
                    for share in SHARES
                ]
                rows += len(cells)
                outside += sum(not 0.93 <= coverage <= 0.97 for coverage, _, _ in cells)
                missed += sum(
                    not 0.93 - error <= coverage <= 0.97 + error
                    for coverage, _, _ in cells
                )

                text = "  ".join(
                    f"{width:10.3f} {coverage:5.3f}" for coverage, width, _ in cells
                )
                if min(printed for *_, printed in cells) < 1:
                    text += (
                        "  (an interval in "
                        f"{', '.join(f'{printed:.1%}' for *_, printed in cells)})"
                    )
                print(f"{population.name:34} {name:10} {design:9} {text}", flush=True)

    print(
        f"{rows} cells, {outside} with a coverage outside .93 to .97, "
        f"{missed} beyond two standard errors"
    )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
