"""Test whether two sources write the same distribution: two endpoints,
quantisations, versions, prompts.

  harness same A.jsonl B.jsonl            files of answers, several per prompt, in every
                                          form that harness score reads
  harness same RUN::MODEL_A RUN::MODEL_B  two models of finished runs
  harness same A.jsonl B.jsonl C.jsonl    every pair, adjusted by Holm
  harness same A.jsonl B.jsonl --until    batch by batch of one answer per prompt, until
                                          the evidence is enough
  harness same A.jsonl --plan             numbers of prompts and answers for a power of
                                          .8, from one source

Labels of the answers are permuted within each prompt. The test assumes that the answers
to a prompt are independent and that both sources were asked in turn. Exit codes: 1
different; 4 not shown, with a power below .8 against one answer in ten replaced; 2
wrong input, and a night that no number of relabelings serves; 0 otherwise.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import harness
from harness.cli.options import (
    add_common,
    add_count,
    add_flag,
    add_list,
    add_overwrite,
    print_json,
    print_verb_result,
)
from harness.files.outputs import check_output

if TYPE_CHECKING:
    from harness.decisions.same.same import SourceComparison

UNDECIDED = 4
"""Exit code where nothing is shown and the power is low."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness same``."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="FILE",
        help="files of answers, run directories, or RUN::MODEL",
    )

    _add_columns(parser)
    _add_test(parser)
    _add_series(parser)
    _add_other_modes(parser)

    add_count(parser, "--draws", "random relabelings (%(default)s)", 1000)
    add_count(parser, "--seed", "seed of the random relabelings", 0)
    add_count(
        parser, "--prompts", "print the N prompts that differ most (%(default)s)", 2
    )

    parser.add_argument("--output", metavar="FILE", help="also write an HTML page")
    add_overwrite(parser)
    add_common(parser)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the files are read and named."""
    parser.add_argument(
        "--id",
        default="",
        metavar="COLUMN",
        help="column of the ids of prompts; null: match records by position",
    )
    parser.add_argument(
        "--column", default="", metavar="COLUMN", help="column of the answers"
    )
    add_list(
        parser, "--label", "NAME", "name of a source; one per file, in their order"
    )


def _add_test(parser: argparse.ArgumentParser) -> None:
    """Add the kernels and the level of the test."""
    add_list(
        parser,
        "--kernel",
        "NAME",
        "compare with this kernel or METRIC:PARAMETER=VALUE and shifts; "
        "may be repeated (default: strings)",
    )
    parser.add_argument(
        "--margin",
        type=float,
        metavar="X",
        help="largest MMD² that counts as equivalent",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="P",
        help="level of the test (%(default)s)",
    )


def _add_series(parser: argparse.ArgumentParser) -> None:
    """Add the options of a series of checks."""
    add_count(
        parser,
        "--nights",
        "the series has N checks, which spend the level in equal parts: P / N each",
    )
    add_count(
        parser,
        "--night",
        "number of this check in its series; without --nights it has no end, "
        "and the level is P 6 / (π² N²)",
    )


def _add_other_modes(parser: argparse.ArgumentParser) -> None:
    """Add the options of a check in batches, and of the plan of checks."""
    parser.add_argument(
        "--until",
        type=int,
        nargs="?",
        const=1,
        metavar="N",
        help="read the answers in batches of N per prompt (default 1) "
        "and stop as soon as a difference is shown",
    )
    add_flag(
        parser,
        "--plan",
        "print the power of checks by numbers of prompts and answers, "
        "from the answers of one source",
    )


def run(args: argparse.Namespace) -> int:
    """Print the result; return 1 for a difference,
    4 where nothing is shown and the power is low.
    """
    from harness.decisions.same.verb import FollowedSources, SourceComparisons
    from harness.reporting.blocks import print_blocks

    if args.output:
        check_output(Path(args.output), overwrite=args.overwrite)
    result = harness.same(
        *args.sources,
        id=None if args.id == "null" else args.id,
        column=args.column,
        labels=args.label,
        kernels=args.kernel,
        margin=args.margin,
        alpha=args.alpha,
        nights=args.nights,
        night=args.night,
        until=args.until,
        plan=args.plan,
        draws=args.draws,
        seed=args.seed,
    )
    if not isinstance(result, SourceComparisons):
        print_verb_result(result, as_json=args.json)
        if isinstance(result, FollowedSources):
            return 1 if result.different else UNDECIDED
        return 0

    if args.output:
        from harness.decisions.same.page import write_page

        output = Path(args.output)
        write_page(result, result.settings, output, overwrite=args.overwrite)
    if args.json:
        print_json(result.to_dict())
    else:
        print_blocks(result.blocks(args.prompts))
        if args.output:
            print(f"wrote {args.output}")
    return exit_code(result)


def exit_code(results: Sequence[SourceComparison]) -> int:
    """Return the exit code of some comparisons."""
    from harness.decisions.same.verb import ENOUGH

    if any(result.verdict == "different" for result in results):
        return 1
    is_open = any(
        result.verdict == "not shown" and (result.power or 0) < ENOUGH
        for result in results
    )
    return UNDECIDED if is_open else 0
