"""Check a component against the contract of its kind: a class, a task file, or a registered component.

harness check my_metrics:Words
harness check trm --kind metrics --set distance=cider
harness check my_task.yaml
harness check my_metrics:Words --calibrate

Exit codes: 0 all checks pass, 1 some checks fail, 2 there is no such component.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from typing import Any

from harness.cli.options import add_common, add_flag, add_list, print_json
from harness.contracts import Values
from harness.errors import HarnessError, InputError

SIGNS = {"pass": "ok", "fail": "FAIL", "not applicable": "-", "expected failure": "expected"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness check``."""
    parser.add_argument("target", nargs="?", help="package.module:Class, a task file, or a name of 'harness list'")
    add_flag(parser, "--all-builtins", "check every built-in metric, distance and embedding that can be created here")
    parser.add_argument("--kind", metavar="KIND", help="metrics, distances, embeddings, adapters, readers or tasks")
    add_list(parser, "--set", "KEY=VALUE", "a constructor parameter (may be repeated)")
    add_flag(
        parser,
        "--calibrate",
        "simulate the coverage of a metric's interval and the size of its paired test instead (--json: calibration.json)",
    )
    add_list(parser, "--skip", "CHECK", "leave a check out")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the checks and print their outcomes; return 1 when a check fails."""
    if args.all_builtins:
        return _check_builtins(args.json)
    if args.target is None:
        raise HarnessError("name a component to check, or give --all-builtins")
    from harness.testing.targets import checks_of, subject_of, targets

    if args.calibrate:
        return _calibrate(args)
    components = targets(args.target, args.kind, _params(args.set))
    rows: list[Values] = []
    for target in components:
        checks = checks_of(target.kind)
        skip = args.skip if len(components) == 1 else [name for name in args.skip if name in checks.names]
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # a check reports what a component prints
                outcomes = checks.run(subject_of(target.kind, target.component), skip=skip)
        except HarnessError as error:
            if len(components) == 1:
                raise
            print(f"{target.label} ({target.kind}): not checked: {error}", file=sys.stderr)  # other kinds have the name too
            continue
        if not args.json:
            _print(target.label, target.kind, outcomes)
        rows.extend(
            {"kind": target.kind, "target": target.label, "check": o.check, "status": o.status, "reason": o.reason} for o in outcomes
        )
    if not rows:
        raise HarnessError(f"no component '{args.target}' can be created: choose one with --kind and set its parameters with --set")
    failed = sum(row["status"] == "fail" for row in rows)
    if args.json:
        print_json({"passed": not failed, "checks": rows})
    return 1 if failed else 0


def _calibrate(args: argparse.Namespace) -> int:
    """Print the measured coverage and size of one metric; return 0."""
    from harness.run.measured_coverage import LOWEST
    from harness.testing.calibration import DISTRIBUTIONS, calibrate
    from harness.testing.targets import subject_of, targets

    components = targets(args.target, args.kind or "metrics", _params(args.set))
    if len(components) > 1 or components[0].kind != "metrics":
        raise HarnessError(f"--calibrate takes one metric; '{args.target}' is {len(components)} {components[0].kind}")
    with contextlib.redirect_stdout(io.StringIO()):
        table = calibrate(subject_of("metrics", components[0].component).component)
    if args.json:
        print_json({"metrics": {table.name: table.to_dict()}})
        return 0
    names = "  ".join(f"{name:>9}" for name in DISTRIBUTIONS)
    print(f"{table.name}: coverage of the 95 % interval, size of the paired test at .05; {table.repetitions:,} runs each")
    print(f"{'n':>5}  {names}    {names}")
    for n, cell in table.sizes.items():
        shares = ["  ".join(f"{_share(share):>9}" for share in part) for part in (cell.coverage, cell.size)]
        low = any(share is not None and share < LOWEST for share in cell.coverage)
        print(f"{n:>5}  {shares[0]}    {shares[1]}{'    below .90: no interval' if low else ''}")
    return 0


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def _check_builtins(as_json: bool) -> int:
    """Check the built-in components with their default parameters; print one line each and return 1 when a check fails."""
    from harness.registry import current
    from harness.registry.component_kinds import SINGULAR
    from harness.registry.manifest_files import BUILT_IN
    from harness.testing.targets import checks_of, subject_of

    rows: list[Values] = []
    for kind in ("metrics", "distances", "embeddings"):
        for entry in current().entries(kind):
            if entry.provider != BUILT_IN:
                continue
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    subject = subject_of(kind, entry.name)
                    outcomes = checks_of(kind).run(subject)
                problem = getattr(subject, "first_error", None)
            except HarnessError as error:
                outcomes, problem = [], error
            if isinstance(problem, HarnessError):
                rows.append({"kind": kind, "name": entry.name, "status": "not checked", "reason": str(problem)})
            else:
                rows.append(_builtin_row(kind, entry.name, outcomes, getattr(subject, "component", None)))
            if not as_json:
                row = rows[-1]
                print(f"{row['status']:<12} {SINGULAR[kind]:<10} {entry.name:<26} {row['reason']}".rstrip(), flush=True)
    failed = [row for row in rows if row["status"] == "FAIL"]
    if as_json:
        print_json({"passed": not failed, "components": rows})
    else:
        counts = {status: sum(row["status"] == status for row in rows) for status in ("ok", "FAIL", "not checked")}
        print(", ".join(f"{number} {status}" for status, number in counts.items()))
    return 1 if failed else 0


def _builtin_row(kind: str, name: str, outcomes: list[Any], component: object) -> Values:
    """Return the summary of one component; failures that its class declares as expected do not count."""
    expected = getattr(component, "expected_check_failures", {})
    failures = [o for o in outcomes if o.failed and o.check not in expected]
    passed = sum(o.status == "pass" for o in outcomes)
    reason = "; ".join(f"{o.check}: {o.reason}" for o in failures) or f"{passed} checks passed"
    reason += "".join(f"; expected to fail: {check} ({why})" for check, why in expected.items())
    return {"kind": kind, "name": name, "status": "FAIL" if failures else "ok", "reason": reason}


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


def _print(label: str, kind: str, outcomes: list[Any]) -> None:
    print(f"{label} ({kind})")
    width = max(len(outcome.check) for outcome in outcomes)
    for outcome in outcomes:
        print(f"  {SIGNS[outcome.status]:<8}  {outcome.check:<{width}}  {outcome.reason}".rstrip())
    counts = {status: sum(o.status == status for o in outcomes) for status in SIGNS}
    counted = [f"{number} {_status(status)}" for status, number in counts.items() if number]
    print(f"  {', '.join(counted)}\n")


def _status(status: str) -> str:
    return {"pass": "passed", "fail": "failed"}.get(status, status)
