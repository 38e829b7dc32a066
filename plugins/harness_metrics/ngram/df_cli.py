"""Command ``harness df``: write the document frequencies of a file of references, for
CIDEr's parameter ``df``.

  harness df --references captions_val2014.json --output coco-val.npz
  harness score ... -m cider:df=coco-val.npz

References in several files are counted one by one, on several machines if there are
many; the tables are joined.

  harness df --join part-1.npz part-2.npz --output all.npz

Each example is one document, all its references together, as in the COCO caption
toolkit.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``harness df`` to a parser."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--references",
        metavar="FILE",
        help="references, in any format that 'harness score' reads",
    )
    source.add_argument(
        "--join",
        nargs="+",
        type=Path,
        metavar="TABLE",
        help="tables of parts of the references",
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="table to write; ends in .npz, .parquet, .json or .json.gz",
    )
    parser.add_argument(
        "--tokenizer",
        default="ptb",
        help="tokeniser of the metric, such as zh; default: ptb",
    )
    parser.add_argument(
        "--minimum",
        type=int,
        default=1,
        metavar="N",
        help="omit n-grams that occur in fewer than N documents",
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace a file that the harness did not write, "
        "or that people have changed",
    )


def run(args: argparse.Namespace) -> int:
    """Write the table, print its size, and return 0."""
    from harness.errors import counted
    from harness.files.outputs import check_output
    from harness.registry import current
    from harness_metrics.ngram.document_frequency import build_df_table, join_df_tables

    check_output(Path(args.output), overwrite=args.overwrite)
    options = {
        "tokenizer": args.tokenizer,
        "minimum": args.minimum,
        "overwrite": args.overwrite,
    }

    if args.join:
        count, documents = join_df_tables(args.join, Path(args.output), **options)
    else:
        examples = list(current().create("readers", "auto", {"path": args.references}))
        corpus = [list(example.references) for example in examples]
        count = build_df_table(corpus, Path(args.output), **options)
        documents = len(examples)

    size = f"{counted(count, 'n-gram')} of {counted(documents, 'document')}"
    print(f"{args.output}: {size}")
    return 0
