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
import itertools
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.options import (
    add_common,
    add_count,
    add_flag,
    add_list,
    add_overwrite,
    print_json,
)
from harness.errors import HarnessError
from harness.files.outputs import check_output
from harness.reporting.folding import print_folded

if TYPE_CHECKING:
    from harness.decisions.same.same import SourceComparison
    from harness.decisions.same.sources import Source
    from harness.decisions.same.statistics import Settings

UNDECIDED = 4
"""Exit code where nothing is shown and the power is low."""
ENOUGH = 0.8
"""Power from which a difference that is not shown is an answer."""


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
    from harness.decisions.same.answer_kernels import KERNELS
    from harness.decisions.same.level import NightSeries
    from harness.decisions.same.metric_kernels import metric_kernel
    from harness.decisions.same.same import compare_all
    from harness.decisions.same.sources import smallest_p_of
    from harness.decisions.same.statistics import Settings

    kernels = tuple(dict.fromkeys(args.kernel)) or KERNELS
    for name in kernels:
        # An unknown metric is refused here, before anything is read.
        if name not in KERNELS and metric_kernel(name) and args.until:
            raise HarnessError(
                f"same: --until follows {', '.join(KERNELS)}; "
                f"found the metric '{name}'",
                value=name,
            )
    _verify_numbers(args)
    if args.output:
        check_output(Path(args.output), overwrite=args.overwrite)
    series = NightSeries(args.night, args.nights)
    series.check()
    settings = Settings(
        kernels, args.draws, args.seed, series.level(args.alpha), margin=args.margin
    )

    sources = read_sources(args)
    if args.plan:
        return _plan(sources, settings, args)
    if len(sources) < 2:
        raise HarnessError(
            "same: one source; expected at least two: harness same A.jsonl B.jsonl"
        )
    if args.until:
        return _until(sources, settings, args)
    if args.night or args.nights:
        pairs = list(itertools.combinations(sources, 2))
        smallest = max(smallest_p_of(a, b) for a, b in pairs)
        series.check_level(args.alpha, smallest, kernels, len(pairs))

    results = compare_all(sources, settings)
    if args.output:
        from harness.decisions.same.page import write_page

        write_page(results, settings, Path(args.output), overwrite=args.overwrite)
    if args.json:
        print_json([asdict(result) for result in results])
    else:
        from harness.decisions.same.tables import matrix_table, report_lines

        if len(results) > 1:
            from harness.reporting.formats.terminal import print_table

            print_table(matrix_table(results))
        prompts = args.prompts if len(results) == 1 else 0
        for result in results:
            for line in report_lines(result, settings, prompts):
                print_folded(line)
        if args.output:
            print(f"wrote {args.output}")
    return exit_code(results)


def _verify_numbers(args: argparse.Namespace) -> None:
    """Raise :class:`HarnessError` for a count below 1, or a level that is none."""
    for name in ("night", "nights", "until", "draws"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise HarnessError(
                f"same: --{name} is {value}; expected at least 1", value=value
            )
    if not 0 < args.alpha < 1:
        raise HarnessError(
            f"same: --alpha is {args.alpha:g}; expected a number between 0 and 1",
            value=args.alpha,
        )


def exit_code(results: Sequence[SourceComparison]) -> int:
    """Return the exit code of some comparisons."""
    if any(result.verdict == "different" for result in results):
        return 1
    is_open = any(
        result.verdict == "not shown" and (result.power or 0) < ENOUGH
        for result in results
    )
    return UNDECIDED if is_open else 0


def read_sources(args: argparse.Namespace) -> list[Source]:
    """Return the sources of files and runs; a run directory has all its models."""
    from harness.decisions.same.run import sources_of_run
    from harness.decisions.same.sources import Source
    from harness.results import ComparedRun
    from harness.run.captions_by_id import read_answers, read_prompts
    from harness.run.file_labels import file_labels
    from harness.run.file_options import FileOptions
    from harness.run.metric_plan import unique

    ids = None if args.id == "null" else args.id
    options = FileOptions(ids, (args.column,) if args.column else ())
    files = [
        text for text in args.sources if not Path(text.partition("::")[0]).is_dir()
    ]
    names = iter(file_labels(files) if files else ())
    sources: list[Source] = []
    for text in args.sources:
        if text not in files:
            sources += sources_of_run(ComparedRun.open(text))
            continue
        answers = read_answers(text, options)
        prompts = read_prompts(text, options)
        sources.append(Source(next(names), answers, prompts, kind="file"))

    labels = args.label or unique([source.label for source in sources])
    if len(labels) != len(sources):
        raise HarnessError(
            f"same: {len(labels)} labels for {len(sources)} sources; expected one each"
        )
    return [replace(source, label=label) for label, source in zip(labels, sources)]


def _plan(
    sources: Sequence[Source], settings: Settings, args: argparse.Namespace
) -> int:
    """Print the smallest checks that find each change;
    a second source is a change itself.
    """
    from harness.decisions.same.plan import plan
    from harness.decisions.same.tables import plan_table
    from harness.reporting.formats.terminal import print_table

    other = sources[1] if len(sources) > 1 else None
    designs = list(plan(sources[0], settings, other, ENOUGH))
    if args.json:
        print_json([asdict(design) for design in designs])
    else:
        print_table(plan_table(designs, ENOUGH))
    return 0


def _until(
    sources: Sequence[Source], settings: Settings, args: argparse.Namespace
) -> int:
    """Print the evidence after each batch of two sources; return 1 for a difference, 4
    where the answers do not suffice.
    """
    from harness.decisions.same.sources import common_prompts
    from harness.decisions.same.until import follow

    if len(sources) != 2:
        raise HarnessError(f"same: --until follows two sources; found {len(sources)}")
    prompts, notes = common_prompts(sources[0], sources[1], settings.seed)
    batches = list(follow(prompts, args.until, settings))
    different = batches[-1].e >= 1 / settings.alpha
    if args.json:
        print_json(
            {
                "different": different,
                "batches": [asdict(batch) for batch in batches],
                "notes": notes,
            }
        )
    else:
        for number, batch in enumerate(batches, 1):
            print(f"batch {number}: {batch.answers:,} answers, e {batch.e:.3g}")
        verdict = "different" if different else "a difference is not shown"
        needed = 1 / settings.alpha
        print_folded(
            f"{sources[0].label} and {sources[1].label}: {verdict} "
            f"at level {settings.alpha:.3g} (e of {needed:.3g} needed)"
        )
        for note in notes:
            print_folded(f"  note: {note}")
    return 1 if different else UNDECIDED
