"""Build a table of document frequencies from a corpus of references, for CIDEr's 'df: path'.

  harness df --references captions_val2014.json --output coco-val.npz
  harness score ... -m cider:df=coco-val.npz

One document per example (all its references together), as in the COCO toolkit.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--references", required=True, metavar="FILE", help="any file of references that 'harness score' takes"
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="ending in .npz, .parquet, .json or .json.gz")
    parser.add_argument("--tokenizer", default="ptb", help="as in the metric: ptb (default), none, java-ptb")
    parser.add_argument("--minimum", type=int, default=1, metavar="N", help="leave out n-grams of fewer documents")


def run(args: argparse.Namespace) -> int:
    from harness.plugins.ngram.document_frequency import build_df_table
    from harness.registry import current

    examples = list(current().create("readers", "auto", {"path": args.references}))
    documents = [list(example.references) for example in examples]
    count = build_df_table(documents, Path(args.output), tokenizer=args.tokenizer, minimum=args.minimum)
    print(f"{args.output}: {count} n-grams of {len(documents)} documents")
    return 0
