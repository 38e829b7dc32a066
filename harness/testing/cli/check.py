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

import harness
from harness.cli.options import add_common, add_flag, add_list, print_verb_result
from harness.contracts import Values
from harness.errors import HarnessError, InputError


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
    from harness.testing.verb import CheckedComponents

    result = harness.check(
        args.target,
        kind=args.kind,
        params=_params(args.set),
        skip=args.skip,
        all_builtins=args.all_builtins,
        calibrate=args.calibrate,
    )
    print_verb_result(result, as_json=args.json)
    return 1 if isinstance(result, CheckedComponents) and not result.passed else 0


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
