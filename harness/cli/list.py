"""List what there is, of one kind or all; nothing is imported for it."""

from __future__ import annotations

import argparse

from harness.cli.options import add_json, add_registry, print_json, use_registry

ARROWS = {True: "higher is better", False: "lower is better", None: ""}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", nargs="?", help="adapters, tasks, readers, metrics, distances or embeddings")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    use_registry(args)
    from harness.registry import current
    from harness.registry.component_kinds import KINDS

    registry = current()
    entries = [entry for entry in registry.entries(args.kind) if args.kind or entry.kind in KINDS]
    if args.json:
        rows = [
            {
                "kind": e.kind, "name": e.name, "full_name": e.full_name, "provider": e.provider, "summary": e.summary, "extra": e.extra,
                "level": e.level, "higher_is_better": e.higher_is_better, "aliases": e.aliases, "target": e.target or e.path,
            }
            for e in entries
        ]  # fmt: skip
        print_json({"entries": rows, "failures": [vars_of(f) for f in registry.failures]})
        return 0
    names = [(entry.kind, entry.name) for entry in entries]
    width = max((len(e.full_name if e.provider != "harness" else e.name) for e in entries), default=0)
    kind = None
    for entry in entries:
        if entry.kind != kind:
            print(("\n" if kind else "") + entry.kind)
            kind = entry.kind
        shown = (
            entry.name
            if entry.provider == "harness" and names.count((entry.kind, entry.name)) == 1
            else entry.full_name
        )
        note = "  (name has two owners: use the full name)" if names.count((entry.kind, entry.name)) > 1 else ""
        print(f"  {shown:<{width}}  {entry.summary}{note}")
    for failure in registry.failures:
        print(f"\nbroken: {failure.provider} ({failure.phase}): {failure.reason}")
    return 0


def vars_of(failure: object) -> dict[str, str]:
    return {name: str(getattr(failure, name)) for name in ("provider", "phase", "reason")}
