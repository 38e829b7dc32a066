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
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.contracts import Values, VerbResult
from harness.errors import HarnessError, counted


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
    table = df(
        args.output,
        references=args.references,
        join=args.join or (),
        tokenizer=args.tokenizer,
        minimum=args.minimum,
        overwrite=args.overwrite,
    )
    print("\n".join(table.blocks()))
    return 0


@dataclass(frozen=True)
class WrittenTable(VerbResult):
    """A table of document frequencies that was written."""

    output: str
    ngrams: int
    """Number of n-grams of the table."""
    documents: int
    """Number of documents that were counted."""

    def to_dict(self) -> list[Values]:
        """Return the fields."""
        return [asdict(self)]

    def blocks(self) -> Iterator[str]:
        """Yield the path and the size."""
        ngrams = counted(self.ngrams, "n-gram")
        yield f"{self.output}: {ngrams} of {counted(self.documents, 'document')}"


def df(
    output: str | Path,
    *,
    references: str | None = None,
    join: Sequence[str | Path] = (),
    tokenizer: str = "ptb",
    minimum: int = 1,
    overwrite: bool = False,
) -> WrittenTable:
    """Write the document frequencies of a file of references, for CIDEr's parameter
    ``df``, or join tables of parts of the references.

    Parameters
    ----------
    output : str or Path
        Table to write; ends in .npz, .parquet, .json or .json.gz.
    references : str, optional
        References, in any format that ``harness score`` reads.
    join : sequence of str or Path
        Tables of parts of the references, in place of ``references``.
    tokenizer : str
        Tokeniser of the metric, such as ``zh``.
    minimum : int
        Omit n-grams that occur in fewer documents.
    overwrite : bool
        Replace a file that the harness did not write, or that people have changed.

    Raises
    ------
    HarnessError
        There are neither references nor tables, or both; the file cannot be read or
        replaced.
    """
    from harness.files.outputs import check_output
    from harness.registry import current
    from harness_metrics.ngram.document_frequency import build_df_table, join_df_tables

    if bool(references) == bool(join):
        raise HarnessError("df counts references, or joins tables: give one of both")
    target = Path(output)
    check_output(target, overwrite=overwrite)
    options: Values = {
        "tokenizer": tokenizer,
        "minimum": minimum,
        "overwrite": overwrite,
    }
    if join:
        count, documents = join_df_tables(list(map(Path, join)), target, **options)
        return WrittenTable(str(output), count, documents)
    examples = list(current().create("readers", "auto", {"path": references}))
    corpus = [list(example.references) for example in examples]
    count = build_df_table(corpus, target, **options)
    return WrittenTable(str(output), count, len(examples))
