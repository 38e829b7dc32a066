"""Quality and diversity under a condition (Li et al. 2020, section 7): where the
optimum of each metric is, which pairs are compatible with a divergence, and whether the
order of people is.

    python -m benchmarks.conditional_frontier [--limit 100] [--output FOLDER]

Runs studies/conditional-frontier, whose sets of captions trade diversity and quality
against those of people who are no references. *Optimum*: the system with the best value
of a metric beside people, with a paired test over the scenes; p by Holm over the other
systems. *Compatible*: a pair of a quality U and a diversity V is one with a divergence
where nothing is gained over people at their diversity, QDisc = max U(Q) - U(P) over the
systems Q with V(Q) >= V(P), P itself among them; with the interval of a bootstrap over
scenes, in which V and the maximum are drawn anew. The pair is contradicted where one
system Q has U(Q) > U(P) and V(Q) > V(P), both beyond chance: p is the larger one of two
one-sided bootstrap tests, times the number of systems. QDisc is a lower bound: other
systems may gain more. *Votes*: Kendall's tau of systems between people's
judgments (``judgments/where-image``, ``judgments/thumb``) and metrics of single
captions as sets of one. Writes docs/studies/results/conditional-frontier.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.captions import data_folder
from benchmarks.papers_results import write_results
from benchmarks.papers_rule import RESULTS
from harness import api
from harness.analysis.compare import compare
from harness.run.finished import Run
from harness.stats.multiplicity import holm

PEOPLE = "people"
QUALITY = ("meteor", "cider", "rouge")
DIVERSITY = {"pairwise-bleu2": -1, "self-cider": 1, "vendi(minilm)": 1}
"""Metric of diversity -> the sign with which a higher value is more diverse."""
DRAWS = 10_000
LEVEL = 0.05
JUDGED = ("judgments/where-image", "judgments/thumb")
SINGLE = "[meteor, cider, {trm: {distance: [meteor, cider, bert]}}, mmd, energy]"
Table = dict[str, Any]


def scores_of(run: Run, metric: str) -> dict[str, np.ndarray]:
    """Return the values of the scenes by system, shape (scenes,) each."""
    numbers = run.samples.numbers(metric)
    return {system.model: numbers[system.rows] for system in run.samples.systems}


def optimum_rows(run: Run) -> list[list[str]]:
    """Return for each metric the value of people, the best other system and its
    difference, with the adjusted p, and whether the optimum is at people.
    """
    values = {(r.model, r.metric): r for r in run.records}
    metrics = list(dict.fromkeys(record.metric for record in run.records))
    rows: list[list[str]] = []
    for metric in metrics:
        own = values[PEOPLE, metric]
        sign = 1 if own.higher_is_better else -1
        tests = compare(run, baseline=PEOPLE, metrics=[metric])
        others = {
            row.system_a if row.system_a != PEOPLE else row.system_b: row
            for row in tests
        }
        adjusted = dict(
            zip(others, holm([row.p_value or 1.0 for row in others.values()]))
        )
        best = max(others, key=lambda name: sign * values[name, metric].value)
        gain = values[best, metric].value - own.value
        p = adjusted[best]
        if sign * gain <= 0:
            verdict = "people" if p < LEVEL else "people, not separated"
        else:
            verdict = best if p < LEVEL else "not separated"
        rows.append(
            [metric, f"{own.value:.3f}", best, f"{gain:+.3f}, {p:.2g}", verdict]
        )
    return rows


@dataclass(frozen=True)
class Gain:
    """What systems gain in quality over people at their diversity."""

    largest: float
    """QDisc of people."""
    interval: tuple[float, float]
    system: str
    """System that gains it; people: none."""
    contradicting: str
    """System with the least p."""
    p: float
    """p by Bonferroni that a system is above people by both metrics."""


def gain_at_diversity(
    quality: dict[str, np.ndarray], diversity: dict[str, np.ndarray], draws: np.ndarray
) -> Gain:
    """Return what is gained over people; ``draws`` are of scenes, (draws, scenes)."""
    names = [PEOPLE, *(name for name in quality if name != PEOPLE)]
    # of each scene, less people: [systems, scenes]
    u = np.stack([quality[name] - quality[PEOPLE] for name in names])
    v = np.stack([diversity[name] - diversity[PEOPLE] for name in names])
    found = np.where(v.mean(axis=1) >= 0, u.mean(axis=1), -np.inf)

    # [systems, draws]
    drawn_u = u[:, draws].mean(axis=2)
    drawn_v = v[:, draws].mean(axis=2)
    largest = np.where(drawn_v >= 0, drawn_u, -np.inf).max(axis=0)
    low, high = np.percentile(largest, [2.5, 97.5])

    # People are beaten where both differences are above 0, so that both must be shown.
    tails = np.maximum((drawn_u <= 0).sum(axis=1), (drawn_v <= 0).sum(axis=1))[1:]
    p = (tails + 1) / (draws.shape[0] + 1) * len(tails)
    return Gain(
        float(found.max()),
        (float(low), float(high)),
        names[int(found.argmax())],
        names[1 + int(p.argmin())],
        min(float(p.min()), 1.0),
    )


def pair_rows(run: Run) -> list[list[str]]:
    """Return QDisc of people for each pair of a quality and a diversity."""
    rng = np.random.default_rng(0)
    scenes = len(next(iter(scores_of(run, QUALITY[0]).values())))
    draws = rng.integers(0, scenes, (DRAWS, scenes))
    rows: list[list[str]] = []
    for u in QUALITY:
        quality = scores_of(run, u)
        for v, sign in DIVERSITY.items():
            diversity = {name: sign * x for name, x in scores_of(run, v).items()}
            gain = gain_at_diversity(quality, diversity, draws)
            low, high = gain.interval
            rows.append(
                [
                    f"{u}, {v}",
                    f"{gain.largest:.4f} ({low:.4f} … {high:.4f})",
                    gain.system if gain.largest > 0 else "none",
                    f"{gain.p:.2g}"
                    + (f", {gain.contradicting}" if gain.p < LEVEL else ""),
                ]
            )
    return rows


def vote_rows() -> list[list[str]]:
    """Return Kendall's tau of systems between people and metrics of single captions."""
    found: dict[str, dict[str, str]] = {}
    for task in JUDGED:
        overrides = [
            f"metrics={SINGLE}",
            "statistics=[kendall_system]",
            "tests.draws=0",
            "groups=null",
        ]
        for run in api.evaluate_all(task, overrides=overrides):
            name = run.provenance.task.removeprefix("judgments/")
            for record in run.records:
                low, high = record.ci95 or (np.nan, np.nan)
                text = f"{record.value:.2f} ({low:.2f} … {high:.2f})"
                found.setdefault(record.metric, {})[name] = text
    tasks = list(dict.fromkeys(task for cells in found.values() for task in cells))
    rows = [
        [metric, *(cells.get(task, "") for task in tasks)]
        for metric, cells in found.items()
    ]
    return [["", *tasks], *rows]


def by_set(runs: Sequence[Run], rows_of: Any) -> list[list[str]]:
    """Return the rows of every run below a line with its name."""
    out: list[list[str]] = []
    for run in runs:
        rows = rows_of(run)
        name = run.provenance.task.removeprefix("conditional-")
        title = f"**{name}, {run.records[0].n} scenes**"
        out += [[title, *[""] * (len(rows[0]) - 1)], *rows]
    return out


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, default=100, help="scenes of each set")
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the file"
    )
    options = parser.parse_args()

    data_folder()  # judgments are not among the samples that ship
    runs = list(
        api.evaluate_all(
            "studies/conditional-frontier",
            overrides=["bootstrap.samples=0"],
            limit=options.limit,
        )
    )
    votes = vote_rows()
    tables = {
        "conditional-optimum": {
            "headers": [
                "metric",
                "people",
                "best other",
                "its difference, p",
                "optimum",
            ],
            "rows": by_set(runs, optimum_rows),
        },
        "conditional-pairs": {
            "headers": [
                "quality, diversity",
                "QDisc of people",
                "gained by",
                "p that people are beaten by both",
            ],
            "rows": by_set(runs, pair_rows),
        },
        "conditional-votes": {
            "headers": ["tau of systems with people", *votes[0][1:]],
            "rows": votes[1:],
        },
    }
    command = "python -m benchmarks.conditional_frontier" + (
        f" --limit {options.limit}" if options.limit != 100 else ""
    )
    write_results(
        options.output / "conditional-frontier.json",
        {"command": command, "tables": tables},
    )


if __name__ == "__main__":
    main()
