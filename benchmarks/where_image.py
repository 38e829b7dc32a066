"""What people say of the four architectures of Tanti et al., beside metrics of their
captions and pre-gen scores: 120 COCO images with the votes of five people.

    HARNESS_DATA=data python -m benchmarks.where_image [--output FOLDER]

Five tables. Agreement of metrics with people on single captions, as ``harness run
judgments/where-image`` prints it. The same on the captions of the architectures under
other rules for references: with the person's caption among them, and with the document
frequencies of CIDEr-D of one call of the COCO toolkit on these captions, which counts
an image once for each of them. The four architectures by people's accuracy and fluency
(intervals: images are drawn again, with all votes), by CIDEr and METEOR on the whole
test set and by two pre-gen functions (three trainings of each, pregen/data.txt.gz). And
whether these scores order the architectures as people do: Kendall's tau of four
systems, its interval over images and trainings, and the pairs of architectures whose
order agrees. The judged captions are of other trainings of the same architectures than
the scores; the table has the largest number of captions that agree.
Writes docs/studies/results/where-image.json.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.captions import data_folder, read_json_lines
from benchmarks.papers_results import write_results
from benchmarks.papers_rule import RESULTS
from harness import api

JUDGED = "tanti_where_image/judgments.jsonl.gz"
CAPTIONS = "coco_karpathy_test/candidates_where_image.jsonl.gz"
PREGEN = "pregen/data.txt.gz"
ARCHITECTURES = ("init", "pre", "par", "merge")
ASPECTS = ("accuracy", "fluency")
SCORES = {
    "CIDEr": ("CIDEr", 1),
    "METEOR": ("METEOR", 1),
    "SPICE": ("SPICE", 1),
    "mean_max_normcount_prefix0": ("best of the paper", 1),
    "geomean_join_pplx_none": ("perplexity", -1),
}
"""Column of the published table -> its name here, and the sign with which a higher
value is better.
"""
RUNS = 3
DRAWS = 10_000
Table = dict[str, Any]


def votes(rows: Sequence[Mapping[str, Any]], system: str, aspect: str) -> np.ndarray:
    """Return the share of yes of the five people for each image, shape (images,)."""
    return np.array([np.mean(row["systems"][system][aspect]) for row in rows])


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95 % percentile interval of draws."""
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def read_trainings(path: Path) -> dict[str, np.ndarray]:
    """Return the scores of the whole COCO test set, name -> (architectures, runs)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["dataset"] == "mscoco" and row["num_strata"] == "1"
        ]
    found = {(row["architecture"], int(row["run"])): row for row in rows}
    return {
        column: np.array(
            [
                [float(found[architecture, run][column]) for run in range(1, RUNS + 1)]
                for architecture in ARCHITECTURES
            ]
        )
        for column in SCORES
    }


def kendall_of_four(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-a of systems, shape (...) for scores (..., systems)."""
    pairs = list(itertools.combinations(range(a.shape[-1]), 2))
    agreement = [
        np.sign(a[..., i] - a[..., j]) * np.sign(b[..., i] - b[..., j])
        for i, j in pairs
    ]
    return np.mean(agreement, axis=0)


def agreement_table() -> Table:
    """Return the agreement of metrics with people on captions of all five systems and
    of the four architectures, with intervals over images.
    """
    runs = api.evaluate_all("judgments/where-image")
    cells: dict[tuple[str, str], str] = {}
    for run in runs:
        aspect = run.provenance.task.rpartition("-")[2]
        for record in run.records:
            group = str(record.group)
            if record.statistic == "kendall_b" and group in GROUPS:
                low, high = record.ci95 or (np.nan, np.nan)
                text = f"{record.value:.3f} ({low:.3f} … {high:.3f})"
                cells[record.metric, f"{aspect}, {GROUPS[group]}"] = text
    heads = [f"{aspect}, {name}" for aspect in ASPECTS for name in GROUPS.values()]
    metrics = list(dict.fromkeys(metric for metric, _ in cells))
    rows = [[m, *(cells.get((m, head), "") for head in heads)] for m in metrics]
    return {"headers": ["tau-b with the share of yes", *heads], "rows": rows}


GROUPS = {"all": "600 captions", "four architectures": "480 of the architectures"}
"""Group of the task -> its name in the table."""
METRICS = ("bleu1", "bleu4", "rouge", "meteor", "cider")
RULES = {
    "four, without the person's": ("item", "items"),
    "all five": ("keep", "items"),
    "all five, an image counts once a caption": ("keep", "sets"),
}
"""Name of a rule -> ``own`` and ``corpus`` of its references."""


def rules_table() -> Table:
    """Return the agreement of metrics with accuracy on the captions of the
    architectures for each rule of references.
    """
    columns: list[dict[str, str]] = []
    for own, corpus in RULES.values():
        overrides = [
            f"references.own={own}",
            f"references.corpus={corpus}",
            "statistics=[kendall_b]",
            "tests.draws=0",
            "bootstrap.samples=0",
        ]
        if own == "keep":
            # one call of the toolkit has the captions of the architectures alone
            overrides += ["judgments.without={system: [human]}", "groups=null"]
        group = "four architectures" if own == "item" else "all"
        run = api.evaluate_all("judgments/where-image", overrides=overrides)[0]
        columns.append(
            {
                record.metric: f"{record.value:.3f}"
                for record in run.records
                if str(record.group) == group
            }
        )
    rows = [
        [metric, *(column[metric] for column in columns)]
        for metric in columns[0]
        if metric in METRICS
    ]
    return {"headers": ["accuracy, 480 captions; references", *RULES], "rows": rows}


def systems_table(
    rows: Sequence[Mapping[str, Any]],
    trainings: Mapping[str, np.ndarray],
    draws: np.ndarray,
) -> Table:
    """Return each system by people, and each architecture by scores of the whole test
    set (range over three trainings).
    """
    lines: list[list[str]] = []
    for system in ("human", *ARCHITECTURES):
        cells = [system]
        for aspect in ASPECTS:
            shares = votes(rows, system, aspect)
            low, high = interval(shares[draws].mean(axis=1))
            cells.append(f"{shares.mean():.3f} ({low:.3f} … {high:.3f})")
        for column in SCORES:
            if system in ARCHITECTURES:
                runs = trainings[column][ARCHITECTURES.index(system)]
                cells.append(f"{runs.mean():.4g} ({runs.min():.4g} … {runs.max():.4g})")
            else:
                cells.append("")
        lines.append(cells)
    names = [name for name, _ in SCORES.values()]
    return {"headers": ["120 images", *ASPECTS, *names], "rows": lines}


def order_table(
    rows: Sequence[Mapping[str, Any]],
    trainings: Mapping[str, np.ndarray],
    draws: np.ndarray,
    rng: np.random.Generator,
) -> Table:
    """Return Kendall's tau of each score with people's accuracy and fluency over the
    four architectures, with its interval over images and trainings.
    """
    people = {
        aspect: np.stack([votes(rows, a, aspect) for a in ARCHITECTURES], axis=1)
        for aspect in ASPECTS
    }
    lines: list[list[str]] = []
    for column, (name, sign) in SCORES.items():
        runs = sign * trainings[column]
        drawn = rng.integers(0, RUNS, (DRAWS, len(ARCHITECTURES), RUNS))
        means = np.take_along_axis(runs[None], drawn, axis=2).mean(axis=2)
        cells = [name]
        for shares in people.values():
            tau = float(kendall_of_four(shares.mean(axis=0), runs.mean(axis=1)))
            low, high = interval(kendall_of_four(shares[draws].mean(axis=1), means))
            cells.append(f"{tau:+.2f} ({low:+.2f} … {high:+.2f})")
        lines.append(cells)
    return {"headers": ["tau over four architectures", *ASPECTS], "rows": lines}


def pairs_table(rows: Sequence[Mapping[str, Any]], draws: np.ndarray) -> Table:
    """Return the difference of people's shares for each pair of architectures, with its
    interval over images.
    """
    lines: list[list[str]] = []
    for first, second in itertools.combinations(ARCHITECTURES, 2):
        cells = [f"{first} less {second}"]
        for aspect in ASPECTS:
            difference = votes(rows, first, aspect) - votes(rows, second, aspect)
            low, high = interval(difference[draws].mean(axis=1))
            cells.append(f"{difference.mean():+.3f} ({low:+.3f} … {high:+.3f})")
        lines.append(cells)
    return {"headers": ["120 images", *ASPECTS], "rows": lines}


def captions_in_common(
    rows: Sequence[Mapping[str, Any]], generated: Path
) -> dict[str, int]:
    """Return training -> number of judged captions that it gives too."""
    candidates = {
        row["image_id"]: row["candidates"] for row in read_json_lines(generated)
    }
    return {
        f"{architecture}_{run}": sum(
            candidates[row["image_id"]][f"{architecture}_{run}"]
            == row["systems"][architecture]["caption"]
            for row in rows
        )
        for architecture in ARCHITECTURES
        for run in range(1, RUNS + 1)
    }


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the file"
    )
    options = parser.parse_args()

    data = data_folder()
    rows = read_json_lines(data / JUDGED)
    trainings = read_trainings(data / PREGEN)
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(rows), (DRAWS, len(rows)))

    tables = {
        "where-image-agreement": agreement_table(),
        "where-image-rules": rules_table(),
        "where-image-systems": systems_table(rows, trainings, draws),
        "where-image-pairs": pairs_table(rows, draws),
        "where-image-order": order_table(rows, trainings, draws, rng),
    }
    write_results(
        options.output / "where-image.json",
        {
            "command": "python -m benchmarks.where_image",
            "captions_in_common": captions_in_common(rows, data / CAPTIONS),
            "tables": tables,
        },
    )


if __name__ == "__main__":
    main()
