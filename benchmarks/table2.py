"""Items per second of every metric in the setting of Table 2 of Chan et al. (2022): 5
references, 10 candidates.

    python -m benchmarks.table2 [--limit 500] [--output FOLDER]

Candidates are ten captioners of the COCO Karpathy test split (HARNESS_DATA), or else
captions of the shipped sample (five of the scene, five of the next one). Each metric is
timed twice: ``cold`` with new features (tokens, embeddings and distance matrices
included), ``warm`` with features that are complete. Compiled kernels are loaded before,
on four items. The paper's column was measured by its authors on their machine; it
serves to compare the order of the metrics. Writes docs/studies/results/table2.json,
which depends on the machine.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.captions import captioner_sets, find_data_folder, shipped_sets
from benchmarks.papers_results import write_results
from benchmarks.papers_rule import RESULTS
from benchmarks.timing import timed
from harness.contracts import CaptionSet, Features
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import caption_plans, metric_plans

PAPER = {
    "meteor": 298,
    "trm(meteor)": 161,
    "cider": 131,
    "trm(cider)": 98,
    "mmd(minilm)": 54,
    "frechet(minilm)": 17,
    "mauve-example(minilm)": 2.29,
}
METRICS = [
    "bleu",
    "rouge",
    "cider",
    "meteor",
    {"trm": {"distance": ["cider", "bleu", "rouge", "meteor", "bert"]}},
    "mmd",
    "frechet",
    "mauve-example",
]


def features_of(sets: Sequence[CaptionSet]) -> FeatureCache:
    """Return new features with the references of the sets."""
    return FeatureCache([item.references for item in sets])


def seconds(metric: Any, sets: Sequence[CaptionSet], features: Features) -> float:
    """Return the wall time of one metric on all sets."""
    return timed(
        lambda: scoring.score(
            metric, scoring.batches(sets, features), features, None, 0
        )
    )[0]


def main() -> None:
    """Measure, print the rows and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--limit", type=int, default=500, help="number of items (default 500)"
    )
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the file"
    )
    args = parser.parse_args()

    sets = (
        captioner_sets(args.limit) if find_data_folder() else shipped_sets(args.limit)
    )
    size = (
        f"{len(sets)} items, {len(sets[0].candidates)} + {len(sets[0].references)} "
        f"captions, {os.cpu_count()} cores"
    )

    heads = [
        f"items per second: {size}",
        "new features",
        "complete features",
        "published",
    ]
    print("  ".join(heads))

    rows: list[list[str]] = []
    shared = features_of(sets)
    for plan in caption_plans(metric_plans(METRICS)):
        # The first call loads kernels and models, which is not counted.
        seconds(plan.metric, sets[:4], features_of(sets[:4]))
        cold = seconds(plan.metric, sets, features_of(sets))
        seconds(plan.metric, sets, shared)
        warm = seconds(plan.metric, sets, shared)

        rows.append(
            [
                plan.label,
                f"{len(sets) / cold:.1f}",
                f"{len(sets) / warm:.1f}",
                str(PAPER.get(plan.label, "")),
            ]
        )
        print("  ".join(rows[-1]), flush=True)

    tables = {"table2": {"headers": heads, "rows": rows}}
    write_results(
        args.output / "table2.json",
        {"command": "python -m benchmarks.table2", "tables": tables},
    )


if __name__ == "__main__":
    main()
