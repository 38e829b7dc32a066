"""Power of the test of two systems, predicted from pilots and achieved:
``harness power --compare``.

    python -m benchmarks.difference_power [--pilots 8] [--runs 800]

Nine metrics and six pairs of captioners on the 5000 images of COCO's Karpathy test
split. The difference in question is that of the whole set. Of each pair and metric, the
number of examples is that of 200 to 1600 whose power is nearest to .3, .5, .7 or .9, in
turn. *Predicted* is the power from pilots of 200, 500 and 1000 images, drawn with
replacement; *achieved* is the share of runs of that number of images, drawn with
replacement, whose p-value by approximate randomisation (399 assignments) is at most
.05.

Printed for each metric and size of the pilot: the mean absolute error of the predicted
power, and the shares of 95 % intervals of the power that contain the achieved one
(widened by the Monte Carlo error of the runs), and of intervals of the smallest
detectable difference that contain the one of the whole set's standard error. Goals,
over all metrics: error at most .05, both coverages .90 to .98. Exit status 1 when one
is missed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

import numpy as np

from benchmarks.captions import CAPTIONERS, REFERENCES, data_folder, read_json_lines
from harness.analysis.paired_family import PairedMetric, SystemData, paired_tests
from harness.contracts import CaptionSet, Metric
from harness.decisions.power.difference_power import Pilot, relative_error
from harness.registry import current
from harness.run.score import score_sets
from harness.stats.draws import DrawFamily

METRICS = (
    "bleu1",
    "bleu4",
    "rouge",
    "meteor",
    "cider",
    "ciderd",
    "chrf",
    "caption-length",
    "novelty",
)
PAIRS = (
    ("init_1", "merge_3"),
    ("pre_2", "par_1"),
    ("init_3", "init_1"),
    ("merge_2", "pre_1"),
    ("par_3", "init_2"),
    ("merge_1", "par_2"),
)
SIZES = (200, 400, 800, 1600)
PILOTS = (200, 500, 1000)
TARGETS = (0.3, 0.5, 0.7, 0.9)
DRAWS = 4000
ASSIGNMENTS = 399


@dataclass
class Cell:
    """One metric of one pair."""

    metric: str
    item: PairedMetric
    difference: float
    whole: Pilot
    """The whole set as a pilot."""
    examples: int = 0
    significant: list[bool] = field(default_factory=list)
    predicted: dict[int, list[Pilot]] = field(default_factory=dict)

    def drawn(self, rows: np.ndarray) -> PairedMetric:
        """Return the data of some examples."""
        sides = [
            SystemData(side.stats[rows], side.scores[rows])
            for side in (self.item.a, self.item.b)
            if side.stats is not None
        ]
        return PairedMetric(self.item.metric, *sides)


def cells() -> list[Cell]:
    """Return all metrics of all pairs on the whole set, with the number of examples
    that is nearest to a power.
    """
    references = {
        row["image_id"]: tuple(row["references"][:5])
        for row in read_json_lines(data_folder() / REFERENCES)
    }
    rows = read_json_lines(data_folder() / CAPTIONERS)
    metrics: dict[str, Metric] = {
        name: current().create("metrics", name) for name in METRICS
    }

    data: dict[tuple[str, str], SystemData] = {}
    for system in sorted({name for pair in PAIRS for name in pair}):
        sets = [
            CaptionSet(
                str(row["image_id"]),
                (row["candidates"][system],),
                references[row["image_id"]],
            )
            for row in rows
        ]
        for scored, (name, metric) in zip(
            score_sets(list(metrics.values()), sets), metrics.items()
        ):
            data[name, system] = SystemData(scored.stats, scored.per_example(metric))

    items = [
        (name, PairedMetric(metrics[name], data[name, a], data[name, b]))
        for name in METRICS
        for a, b in PAIRS
    ]
    tests = paired_tests([item for _, item in items], DrawFamily(len(rows), DRAWS, 0))

    found: list[Cell] = []
    for k, ((name, item), outcome) in enumerate(zip(items, tests)):
        assert outcome.reported is not None and outcome.reported.ci95 is not None
        cell = Cell(
            name,
            item,
            outcome.reported.difference,
            pilot_of(name, item, outcome.reported.ci95),
        )

        # Each cell has the number of images at which its power is nearest to a target.
        powers = [
            (cell.whole.difference_power(cell.difference, size).power or (0.0,))[0]
            for size in SIZES
        ]
        cell.examples = SIZES[
            int(np.argmin(np.abs(np.array(powers) - TARGETS[k % len(TARGETS)])))
        ]

        found.append(cell)
    return found


def pilot_of(metric: str, item: PairedMetric, ci95: tuple[float, float]) -> Pilot:
    """Return the pilot of two systems as
    :func:`harness.decisions.power.difference_power.pilots` does.
    """
    gaps = item.a.scores - item.b.scores
    return Pilot(
        metric,
        len(gaps),
        (ci95[1] - ci95[0]) / 3.92,
        relative_error(gaps, np.arange(len(gaps))),
    )


def main() -> int:
    """Print a row per metric and size of the pilot; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--pilots", type=int, default=8)
    parser.add_argument("--runs", type=int, default=800)
    options = parser.parse_args()

    table = cells()
    rng = np.random.default_rng(11)
    images = len(table[0].item.a.scores)

    for size in SIZES:
        members = [cell for cell in table if cell.examples == size]
        for seed in range(options.runs if members else 0):
            rows = rng.integers(0, images, size)
            tests = paired_tests(
                [cell.drawn(rows) for cell in members],
                DrawFamily(size, ASSIGNMENTS, seed),
            )
            for cell, outcome in zip(members, tests):
                assert outcome.reported is not None
                cell.significant.append(outcome.reported.p_value <= 0.05)

    for size in PILOTS:
        for seed in range(options.pilots):
            items = [
                cell.drawn(rows)
                for rows in [rng.integers(0, images, size)]
                for cell in table
            ]
            for cell, item, outcome in zip(
                table, items, paired_tests(items, DrawFamily(size, DRAWS, seed))
            ):
                assert (
                    outcome.reported is not None and outcome.reported.ci95 is not None
                )
                cell.predicted.setdefault(size, []).append(
                    pilot_of(cell.metric, item, outcome.reported.ci95)
                )

    achieved = [float(np.mean(cell.significant)) for cell in table]
    print(
        f"{len(table)} cells, achieved power "
        f"{np.quantile(achieved, [0, 0.25, 0.5, 0.75, 1]).round(2).tolist()} "
        "(quartiles)"
    )
    print(
        f"{'metric':16} "
        + " ".join(f"{size:6} images: error power detect." for size in PILOTS),
        flush=True,
    )

    missed = False
    for name in (*METRICS, "all"):
        text: list[str] = []
        for size in PILOTS:
            errors, inside, detected = np.concatenate(
                [outcomes(cell, size) for cell in table if name in (cell.metric, "all")]
            ).T
            text.append(
                f"{errors.mean():20.3f} {inside.mean():5.3f} {detected.mean():7.3f}"
            )
            missed |= name == "all" and not (
                errors.mean() <= 0.05
                and 0.9 <= inside.mean() <= 0.98
                and 0.9 <= detected.mean() <= 0.98
            )
        print(f"{name:16} " + " ".join(text), flush=True)
    return int(missed)


def outcomes(cell: Cell, size: int) -> np.ndarray:
    """Return the error of the power of each pilot, and whether its intervals hold the
    achieved power and difference, shape (pilots, 3).
    """
    achieved = float(np.mean(cell.significant))
    chance = 1.96 * np.sqrt(
        max(achieved * (1 - achieved), 0.01) / len(cell.significant)
    )
    (detectable, *_) = cell.whole.difference_power(None, cell.examples).detectable
    rows: list[tuple[float, bool, bool]] = []
    for pilot in cell.predicted[size]:
        row = pilot.difference_power(cell.difference, cell.examples)
        assert row.power is not None
        power, *ends = row.power
        low = power - np.hypot(power - ends[0], chance)
        high = power + np.hypot(ends[1] - power, chance)
        rows.append(
            (
                abs(power - achieved),
                low <= achieved <= high,
                row.detectable[1] <= detectable <= row.detectable[2],
            )
        )
    return np.array(rows, dtype=np.float64)


if __name__ == "__main__":
    sys.exit(main())
