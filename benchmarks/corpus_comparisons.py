"""Comparisons of captioners in corpus metrics: seconds of all pairs, and the
jackknife's p-values beside those of exchanges.

    python -m benchmarks.corpus_comparisons [--systems 13] [--pairs 8]

Needs the captions of 12 captioners and a person on 5,000 COCO images (see
:mod:`benchmarks.captions`).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from unittest import mock

from benchmarks.captions import CAPTIONERS, REFERENCES, data_folder, read_json_lines
from harness import api
from harness.analysis import paired_family
from harness.analysis.compare import compare_pairs
from harness.analysis.pairs import ComparedRun, pairs

METRICS = (
    "bleu4",
    "rouge",
    "cider",
    "meteor",
    "caption-length",
    "novelty",
    "bleu1",
    "ciderd",
    "distinct",
    "vocabulary",
    "cnd",
    "nrr",
    "cr",
    "compression-ratio",
    "ms-jaccard",
)
JACKKNIFED = ("distinct2", "vocabulary", "cnd2", "nrr2", "cr2")
SIMILAR = (
    ("init_1", "init_2"),
    ("init_1", "init_3"),
    ("init_1", "merge_1"),
    ("pre_1", "pre_2"),
    ("pre_1", "par_1"),
    ("par_1", "par_2"),
    ("merge_1", "merge_2"),
    ("merge_1", "merge_3"),
)
"""Pairs whose differences are small."""


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--systems", type=int, default=13, help="number of captioners (default: 13)"
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=len(SIMILAR),
        help="pairs whose p-values are compared (default: 8)",
    )
    args = parser.parse_args()

    rows = read_json_lines(data_folder() / CAPTIONERS)
    references = read_json_lines(data_folder() / REFERENCES)
    with tempfile.TemporaryDirectory() as temporary:
        names = list(rows[0]["candidates"])[: args.systems]
        files = [Path(temporary, f"{name}.json") for name in names]
        for name, file in zip(names, files):
            file.write_text(
                json.dumps(
                    {str(row["image_id"]): row["candidates"][name] for row in rows}
                )
            )
        # The person's caption is the first reference, which scores none of the systems.
        Path(temporary, "references.json").write_text(
            json.dumps(
                {str(row["image_id"]): row["references"][1:] for row in references}
            )
        )

        run = api.score_files(
            [str(file) for file in files],
            f"{temporary}/references.json",
            METRICS,
            show=True,
        )

        side = ComparedRun(run, name="run")
        compared = pairs([side])
        start = time.perf_counter()
        cpu = time.process_time()
        compare_pairs(compared, show=True)
        print(
            f"{len(compared)} pairs, {len(METRICS)} metrics, {len(rows):,} images: "
            f"{time.perf_counter() - start:.0f} s, "
            f"{time.process_time() - cpu:.0f} CPU s"
        )

        print(f"{'metric':12}{'pair':24}{'jackknife p':>12}{'exchange p':>12}")
        same = 0
        chosen = [
            pair
            for pair in compared
            if (pair.a.model, pair.b.model) in SIMILAR[: args.pairs]
        ]

        # A limit above the number of images makes all comparisons exchanges.
        jackknife = compare_pairs(chosen, metrics=JACKKNIFED)
        with mock.patch.object(paired_family, "JACKKNIFED", len(rows) + 1):
            exchange = compare_pairs(chosen, metrics=JACKKNIFED)

        for one, other in zip(jackknife, exchange):
            assert one.p_value is not None and other.p_value is not None
            same += (one.p_value <= 0.05) == (other.p_value <= 0.05)
            pair = f"{one.system_a} {one.system_b}"
            print(f"{one.metric:12}{pair:24}{one.p_value:12.4f}{other.p_value:12.4f}")
        print(f"{same} of {len(jackknife)} verdicts at level .05 are the same")


if __name__ == "__main__":
    main()
