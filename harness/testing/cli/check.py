"""Check a component against the contract of its kind: a class, a file, the folder of a
plugin, or a registered component.

  harness check my_metrics:Words
  harness check trm --kind metrics --set distance=cider
  harness check my_task.yaml
  harness check my_metrics.py    the components that it defines
  harness check ../my-words      those of a plugin, as 'harness new-plugin' writes it
  harness check my_metrics:Words --calibrate

Exit codes: 0 all checks pass, 1 some checks fail, 2 there is no such component.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from harness.cli.options import add_common, add_flag, add_list, print_json
from harness.contracts import Values
from harness.errors import HarnessError, InputError, counted
from harness.reporting.folding import print_folded

if TYPE_CHECKING:
    from harness.testing.results import Outcome
    from harness.testing.targets import Target

SIGNS = {
    "pass": "ok",
    "fail": "FAIL",
    "not applicable": "-",
    "expected failure": "expected",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness check``."""
    parser.add_argument(
        "target",
        nargs="?",
        help="package.module:Class, a .yaml or .py file, the folder of a plugin, "
        "or a name of 'harness list'",
    )
    add_flag(
        parser,
        "--all-builtins",
        "check every built-in metric, distance and embedding that can be created here",
    )

    parser.add_argument(
        "--kind",
        metavar="KIND",
        help="metrics, distances, embeddings, adapters, readers or tasks",
    )
    add_list(parser, "--set", "KEY=VALUE", "a constructor parameter (may be repeated)")

    add_flag(
        parser,
        "--calibrate",
        "simulate the coverage of a metric's interval and the size of its paired "
        "test instead (--json: calibration.json)",
    )
    add_list(parser, "--skip", "CHECK", "leave a check out")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the checks and print their outcomes; return 1 when a check fails."""
    if not args.target and not args.all_builtins:
        raise HarnessError("name a component to check, or give --all-builtins")
    from harness.testing.targets import builtins, checks_of, subject_of, targets

    if args.calibrate:
        return _calibrate(args)
    if args.all_builtins:
        components = builtins()
    else:
        components = targets(str(args.target), args.kind, _params(args.set))
    rows: list[Values] = []
    for target in components:
        checks = checks_of(target.kind)
        skip = args.skip
        if len(components) > 1:  # of which some kinds have no such check
            skip = [name for name in skip if name in checks.names]
        try:
            # a check reports what a component prints
            with contextlib.redirect_stdout(io.StringIO()):
                subject = subject_of(target.kind, target.component)
                outcomes = _mark_expected(subject, checks.run(subject, skip=skip))
            # needs a package or files that are not here
            if args.all_builtins and isinstance(subject.first_error, HarnessError):
                raise subject.first_error
        except HarnessError as error:
            if len(components) == 1:
                raise
            # other kinds have the name too
            print(
                f"{target.label} ({target.kind}): not checked: {error}", file=sys.stderr
            )
            continue

        if not args.json:
            printed = outcomes
            if args.all_builtins:
                printed = [outcome for outcome in outcomes if outcome.failed]
            _print(target, printed, outcomes)
        rows.extend(
            {
                "kind": target.kind,
                "target": target.label,
                "check": outcome.check,
                "status": outcome.status,
                "reason": outcome.reason,
            }
            for outcome in outcomes
        )

    if not rows:
        raise HarnessError(
            f"no component '{args.target}' can be created: "
            "choose one with --kind and set its parameters with --set"
        )
    failed = sum(row["status"] == "fail" for row in rows)
    if args.json:
        print_json({"passed": not failed, "checks": rows})
    return 1 if failed else 0


def _mark_expected(subject: Any, outcomes: list[Outcome]) -> list[Outcome]:
    """Return the outcomes; failures that the class of the component expects
    (``expected_check_failures``) are no failures.
    """
    from harness.testing.results import Outcome

    component = getattr(subject, "component", None)
    reasons = getattr(component, "expected_check_failures", {})
    out: list[Outcome] = []
    for outcome in outcomes:
        if outcome.failed and outcome.check in reasons:
            reason = reasons[outcome.check]
            outcome = Outcome(outcome.check, "expected failure", reason)
        out.append(outcome)
    return out


def _calibrate(args: argparse.Namespace) -> int:
    """Print the measured coverage and size of one metric; return 0."""
    from harness.registry.component_kinds import SINGULAR
    from harness.run.coverage_tables import LOWEST
    from harness.testing.calibration import DISTRIBUTIONS, calibrate
    from harness.testing.targets import subject_of, targets

    components = targets(args.target, args.kind or "metrics", _params(args.set))
    if len(components) > 1 or components[0].kind != "metrics":
        raise HarnessError(
            f"--calibrate takes one metric; '{args.target}' is "
            f"{counted(len(components), SINGULAR[components[0].kind])}"
        )
    with contextlib.redirect_stdout(io.StringIO()):
        table = calibrate(subject_of("metrics", components[0].component).component)
    if args.json:
        print_json({"metrics": {table.name: table.to_dict()}})
        return 0

    names = "  ".join(f"{name:>9}" for name in DISTRIBUTIONS)
    print_folded(
        f"{table.name}: coverage of the 95 % interval, "
        f"size of the paired test at .05; {table.repetitions:,} runs each"
    )
    print_folded(f"{'n':>5}  {names}    {names}")
    for n, cell in table.sizes.items():
        coverage = "  ".join(f"{_share(share):>9}" for share in cell.coverage)
        size = "  ".join(f"{_share(share):>9}" for share in cell.size)
        is_low = any(share is not None and share < LOWEST for share in cell.coverage)
        note = "    below .90: no interval" if is_low else ""
        print_folded(f"{n:>5}  {coverage}    {size}{note}")
    return 0


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def _params(texts: list[str]) -> Values:
    """Return ``KEY=VALUE`` texts as parameters; values are YAML."""
    from harness.files.yaml_source import parse_value

    params: Values = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise HarnessError(f"--set {text}: expected KEY=VALUE")
        try:
            params[key.strip()] = parse_value(value)
        except InputError as error:
            raise HarnessError(f"--set {text}: the value is not readable") from error
    return params


def _print(target: Target, printed: list[Outcome], outcomes: list[Outcome]) -> None:
    print_folded(f"{target.label} ({target.kind})")
    width = max((len(outcome.check) for outcome in printed), default=0)
    for outcome in printed:
        sign = SIGNS[outcome.status]
        line = f"  {sign:<8}  {outcome.check:<{width}}  {outcome.reason}"
        print_folded(line.rstrip())

    words = {"pass": "passed", "fail": "failed"}
    counts = Counter(words.get(outcome.status, outcome.status) for outcome in outcomes)
    summary = ", ".join(f"{number} {status}" for status, number in counts.items())
    print_folded(f"  {summary}\n")
