"""Tuning on pre-gen functions: which architecture is chosen at each stage of training,
and what its captions are worth.

    python -m benchmarks.pregen_choice RUN

RUN is a finished run of studies/pregen-captioner: four architectures at eight stages.
At each stage one architecture is chosen by a score that needs no caption; the table has
the CIDEr of the chosen one beside that of the best one and of the mean of all, averaged
over the stages. This is the future work of Tanti et al. (2018), section 5, as a choice
between trained models.
"""

from __future__ import annotations

import argparse

import numpy as np

from harness.run.finished import Run

CHOICES = {
    "pregen(mean_max_normcount_prefix0)": 1.0,
    "pregen(geomean_join_pplx_none)": -1.0,
    "pregen(mean_mean_prob_none)": 1.0,
    "pregen(mean_mean_count_prefix0)": 1.0,
}
"""Score -> 1 where higher is better, else -1."""


def table(run: Run, metric: str) -> np.ndarray:
    """Return the values of a metric, shape (stages, architectures),
    for models named ``ARCHITECTURE STAGE``.
    """
    values = {
        record.model: record.value for record in run.records if record.metric == metric
    }
    names = sorted({label.split()[0] for label in values})
    stages = sorted({int(label.split()[1]) for label in values})
    return np.array([[values[f"{name} {stage}"] for name in names] for stage in stages])


def choices(run: Run) -> list[list[str]]:
    """Return the rows of the table: choice, mean CIDEr of the chosen architecture, its
    share of the best, stages with the best.
    """
    cider = table(run, "cider")
    best = cider.max(axis=1).mean()
    rows = [["CIDEr itself", f"{best:.3f}", "1.000", f"{len(cider)} of {len(cider)}"]]
    for name, sign in CHOICES.items():
        picked = (sign * table(run, name)).argmax(axis=1)
        value = cider[np.arange(len(cider)), picked].mean()
        hits = int((picked == cider.argmax(axis=1)).sum())
        rows.append(
            [name, f"{value:.3f}", f"{value / best:.3f}", f"{hits} of {len(cider)}"]
        )
    return [
        *rows,
        ["at random", f"{cider.mean():.3f}", f"{cider.mean() / best:.3f}", ""],
    ]


def main() -> None:
    """Print the mean CIDEr of the architecture that each score chooses."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", metavar="RUN")
    print(
        "| chosen by | mean CIDEr | share of the best | stages with the best |\n"
        "| --- | --- | --- | --- |"
    )
    for row in choices(Run.open(parser.parse_args().run)):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
