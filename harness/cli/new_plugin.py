"""Write a plugin as a package of its own: entry point, registry.yaml, a small component, a test that checks its contract, a card.

harness new-plugin my-words --kind metric
cd my-words && python -m pytest && harness check my_words.metric:MyWords
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="name of the plugin: lower-case letters, digits and hyphens")
    parser.add_argument("--kind", default="metric", metavar="KIND", help="metric (default), adapter or task")
    parser.add_argument("--output", metavar="DIR", help="folder to write to (default: ./NAME)")


def run(args: argparse.Namespace) -> int:
    from harness.testing.scaffold import new_plugin

    for path in new_plugin(args.name, args.kind, args.output):
        print(path)
    print(f"\ncd {args.output or args.name} && python -m pytest, then: pip install .")
    return 0
