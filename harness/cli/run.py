"""Run a spec and print the table of results.

harness run tasks/coco.yaml --limit 200 --output runs/first
harness run coco --verify runs/coco/results.json  are the numbers equal to the last
                                                  bit? 1 where not
harness run coco --page                           follow the run in a browser; its
                                                  report at the end
harness run coco --set metrics='[cider, {trm: {distance: cider}}]'
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.options import (
    add_all_results,
    add_common,
    add_count,
    add_flag,
    add_list,
    add_permissions,
    add_scale,
    print_json,
    scale_options,
)
from harness.contracts import Values
from harness.errors import HarnessError, InputError, escape_controls

if TYPE_CHECKING:
    from harness.run.execution import Options
    from harness.run.finished import Run
    from harness.rundir.directory_check import Mode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness run``."""
    parser.add_argument(
        "spec", help="a YAML file, or the name of a shipped task ('harness list tasks')"
    )
    parser.add_argument(
        "--output", metavar="DIR", help="run directory (default: runs/TASK)"
    )

    # changes of the spec
    add_count(parser, "--limit", "use only the first N examples")
    add_count(parser, "--seed", "seed of the run")
    add_list(parser, "--set", "KEY=VALUE", "override a key: decoding.temperature=0.7")

    # the output directory
    group = parser.add_mutually_exclusive_group()
    add_flag(
        group,
        "--resume",
        "continue the run in the output directory; an error if there is none",
    )
    add_flag(group, "--fresh", "replace the run in the output directory")
    add_flag(
        group,
        "--extend",
        "change the run in the output directory into this one and compute only what "
        "it lacks",
    )

    # while it runs
    add_flag(
        parser,
        "--page",
        "serve a page of the run on this machine while it goes on, "
        "and write its report at the end",
    )
    add_list(
        parser,
        "--until",
        "CONDITION",
        "stop when decided: 'CIDEr-D: ours > theirs' or 'CIDEr-D ± 0.01' (may be "
        "repeated)",
    )
    add_flag(
        parser,
        "--population",
        "the claims of --until are about the mean of this data set alone",
    )

    parser.add_argument(
        "--verify",
        metavar="RESULTS",
        type=Path,
        help="compare every number with those of a run directory or results.json",
    )

    add_scale(parser)
    add_all_results(parser)
    add_common(parser)
    add_permissions(parser)


def run(args: argparse.Namespace) -> int:
    """Run the spec; return 1 when examples failed or numbers differ from those of
    ``--verify``, 2 when a set could not be read.
    """
    if args.population and not args.until:
        raise HarnessError("--population belongs to --until CONDITION")
    if args.verify and (args.output or args.page or args.shard):
        raise HarnessError(
            "--verify computes the run anew and keeps nothing: leave out --output, "
            "--page and --shard"
        )
    if not args.page:
        return _run(args, scale_options(args))
    if args.shard:
        raise HarnessError(
            "--page shows a whole run, --shard computes a part; leave one of them out"
        )
    from harness.registry import current
    from harness.run.estimates import Watch

    watch = Watch()
    with current().load("live_views", "page")(watch) as live:
        print(f"page: {live.url}", file=sys.stderr, flush=True)
        paths: list[Path] = []
        code = _run(args, replace(scale_options(args), watch=watch), paths)
        report = _write_report(paths)
        print(f"report: {report}", file=sys.stderr, flush=True)
        live.finish(report)
    return code


def _write_report(paths: Sequence[Path]) -> Path:
    """Write the report of finished runs and return its path."""
    import harness

    try:
        return harness.report(*paths)[0]
    except InputError as error:
        command = f"harness report {' '.join(map(str, paths))} -o FILE"
        raise InputError(
            "the run is finished, its report is not written: "
            f"{error.message} ({command})",
            error.where,
        ) from error


def _run(
    args: argparse.Namespace, options: Options, paths: list[Path] | None = None
) -> int:
    """Run the spec and print its table; add the run directories to ``paths``."""
    from harness import api
    from harness.rundir import verify

    # before the run, which may take long
    stored = verify.stored_numbers(args.verify) if args.verify else None
    skipped_are_absent: list[bool] = []

    def report_skipped_set(line: str, absent: bool) -> None:
        print(escape_controls(line), file=sys.stderr, flush=True)
        skipped_are_absent.append(absent)

    until: Values = {}
    if args.until:
        until["until"] = {"conditions": args.until, "population": args.population}
    runs = api.evaluate_all(
        args.spec,
        output=Path(args.output) if args.output else None,
        default_output=None if args.verify else Path("runs"),
        mode=_mode(args),
        options=options,
        overrides=args.set,
        show=not args.json,
        on_notice=None if args.json else _print_notice,
        on_absent=report_skipped_set,
        limit=args.limit,
        seed=args.seed,
        **until,
    )
    if paths is not None:
        paths += [item.path for item in runs if item.path is not None]

    if args.json:
        _print_json(runs)
    elif args.shard:
        print(f"part {args.shard}: {runs[0].path}  (harness merge joins the parts)")
    else:
        from harness.reporting.console import print_runs

        print_runs(runs, all_results=args.all)
    is_failure = any(item.failed for item in runs)
    if stored is not None:
        numbers = verify.numbers_by_name(
            record for item in runs for record in (*item.records, *item.slices)
        )
        lines = list(verify.describe_differences(stored, numbers))
        is_failure = is_failure or bool(lines)
        if lines:
            lines.append(f"{len(lines)} numbers differ from {args.verify}")
        else:
            lines.append(f"identical: {len(stored)} numbers of {args.verify}")
        print(
            escape_controls("\n".join(lines)),
            file=sys.stderr if args.json else sys.stdout,
        )
    return int(is_failure) if all(skipped_are_absent) else 2


def _mode(args: argparse.Namespace) -> Mode:
    """Return the way in which a run in the output directory is treated."""
    if args.fresh:
        return "fresh"
    if args.resume:
        return "resume"
    return "extend" if args.extend else "auto"


def _print_json(runs: Sequence[Run]) -> None:
    """Print the results of runs, with the sections and the slices of those that have
    some.
    """
    from harness.reporting.sections import sections_of

    values: Values = {
        "runs": [str(item.path) for item in runs],
        "results": [result for item in runs for result in item.results],
        "failed": {
            name: reason for item in runs for name, reason in item.failed.items()
        },
    }
    own_keys = {*values, "slices"}
    for item in runs:
        for name, section in sections_of(item).items():
            if name in own_keys:
                raise HarnessError(
                    f"the report section '{name}' has the name of a key of the output"
                )
            # a section that has nothing to say of a run has no key
            if content := list(section.values(item)):
                values.setdefault(name, []).extend(content)
    slices = [record.to_dict() for item in runs for record in item.slices]
    if slices:
        values["slices"] = slices
    print_json(values)


def _print_notice(notice: str, variant: str) -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    console = Console(file=getattr(sys.stderr, "terminal", None), stderr=True)
    title, text = (
        Text(escape_controls(" ".join(words.split())))
        for words in (variant or "notice", notice)
    )
    console.print(Panel(text, title=title, style="bold yellow", expand=False))
    sys.stderr.flush()
