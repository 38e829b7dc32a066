"""People against people: a sound choice of references does not separate them.

    python -m benchmarks.people [--repetitions 1000] [--examples 40] [--output FOLDER]

Held-out references are scored against n of the others (``human: {held_out: k}``,
``references: n``). First the experiment on MSR-VTT, 400 videos, 5 + 5, at five seeds:
combined p by ROUGE-L, BLEU-4 and CIDEr, with drawn references and with the first ones
(``references: {first: 5}``), which shows what the order of the data set does. Then
repetitions on random examples of COCO, Abstract-50S and MSR-VTT, each with its own
seed: the share of p <= .05. Goals: every p of drawn references above .05, and every
share at most .07. The exit status is 1 when one is missed. Writes
docs/studies/results/people.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import harness
from benchmarks.captions import VIDEOS, data_folder, read_json_lines
from benchmarks.papers_results import write_results
from benchmarks.papers_rule import RESULTS

METRICS = ("rouge", "bleu4", "cider")
SETS = {
    "COCO": ("coco_karpathy_test/references.jsonl.gz", 2, 2),
    "Abstract-50S": ("abstract50s/references.jsonl.gz", 5, 5),
    "MSR-VTT": (VIDEOS, 5, 5),
}
"""Name -> file below the data folder, number of people and number of references."""
SEEDS = range(5)
LARGE = 400
ALPHA = 0.05
GOAL = 0.07


def combined_p(path: Path, people: int, references: object, seed: int) -> list[float]:
    """Return the combined p-values of people against people by :data:`METRICS`."""
    spec = {
        "task": "people",
        "dataset": {"reader": "jsonl", "path": str(path)},
        "models": [{"human": {"held_out": people}}],
        "references": references,
        "metrics": list(METRICS),
        "significance": "exact",
        "bootstrap": {"samples": 0},
        "seed": seed,
    }
    found = {record.metric: record.p_value for record in harness.evaluate(spec).records}
    return [float(found[name] or np.nan) for name in METRICS]


def write_examples(path: Path, rows: Sequence[object]) -> Path:
    """Write examples as JSON Lines and return the file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def large_runs(path: Path) -> dict[str, list[list[float]]]:
    """Return combined p-values of 400 videos, 5 + 5, at each seed: with drawn
    references and with the first ones.
    """
    kinds = {"drawn references": 5, "the first references": {"first": 5}}
    return {
        name: [combined_p(path, 5, references, seed) for seed in SEEDS]
        for name, references in kinds.items()
    }


def repeated_runs(
    name: str, rows: Sequence[object], folder: Path, repetitions: int, examples: int
) -> np.ndarray:
    """Return combined p-values on random examples of a data set,
    shape (repetitions, metrics).
    """
    _, people, count = SETS[name]
    p_values = np.empty((repetitions, len(METRICS)))
    for seed in range(repetitions):
        chosen = np.random.default_rng(seed).choice(len(rows), examples, replace=False)
        path = write_examples(folder / "chosen.jsonl", [rows[i] for i in chosen])
        p_values[seed] = combined_p(path, people, count, seed)
    return p_values


def main() -> int:
    """Run the benchmark, write its file and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--repetitions", type=int, default=1000, help="runs per data set"
    )
    parser.add_argument("--examples", type=int, default=40, help="examples per run")
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the file"
    )
    options = parser.parse_args()

    rows = {
        name: read_json_lines(data_folder() / file) for name, (file, *_) in SETS.items()
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = large_runs(
            write_examples(folder / "videos.jsonl", rows["MSR-VTT"][:LARGE])
        )
        found = {
            name: repeated_runs(
                name, rows[name], folder, options.repetitions, options.examples
            )
            for name in SETS
        }

    shares = {
        name: (p_values <= ALPHA).mean(axis=0) for name, p_values in found.items()
    }
    sizes = {
        name: f"{name}, {people} + {count}" for name, (_, people, count) in SETS.items()
    }
    seeds = [
        [f"{kind}, seed {seed}", *(f"{p:.2g}" for p in row)]
        for kind, each in large.items()
        for seed, row in zip(SEEDS, each)
    ]

    tables = {
        "people-shares": {
            "headers": [
                f"share of combined p ≤ {ALPHA}, {options.repetitions:,} runs of "
                f"{options.examples} examples",
                *METRICS,
            ],
            "rows": [
                [sizes[name], *(f"{share:.3f}" for share in row)]
                for name, row in shares.items()
            ],
        },
        "people-seeds": {
            "headers": [f"MSR-VTT, {LARGE} videos, 5 + 5, combined p", *METRICS],
            "rows": seeds,
        },
    }

    write_results(
        options.output / "people.json",
        {"command": "python -m benchmarks.people", "tables": tables},
    )
    print(
        *(
            " ".join(row)
            for table in tables.values()
            for row in (table["headers"], *table["rows"])
        ),
        sep="\n",
    )

    return int(
        np.min(large["drawn references"]) <= ALPHA
        or max(map(np.max, shares.values())) > GOAL
    )


if __name__ == "__main__":
    sys.exit(main())
