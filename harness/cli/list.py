"""List the registered components of one kind or of all kinds; no component is imported.

harness list
harness list metrics --json
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from harness.cli.options import add_json, add_registry, print_json, use_registry

if TYPE_CHECKING:
    from harness.registry.manifest_files import PluginFailure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness list``."""
    parser.add_argument("kind", nargs="?", help="adapters, tasks, readers, metrics, distances or embeddings")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the names by which components are used, with their summaries, and the plugins that cannot be read."""
    use_registry(args)
    from harness.registry import current
    from harness.registry.component_kinds import KINDS

    registry = current()
    entries = [entry for entry in registry.entries(args.kind) if args.kind or entry.kind in KINDS]
    if args.json:
        rows = [
            {
                "kind": e.kind, "name": registry.bare_name(e), "full_name": e.full_name, "provider": e.provider,
                "summary": e.summary, "extra": e.extra, "level": e.level, "higher_is_better": e.higher_is_better,
                "aliases": e.aliases, "target": e.target or e.path,
            }
            for e in entries
        ]  # fmt: skip
        print_json({"entries": rows, "failures": [_fields(f) for f in registry.failures]})
        return 0
    labels = [registry.bare_name(entry) for entry in entries]
    width = max(map(len, labels), default=0)
    kind = None
    for entry, label in zip(entries, labels):
        if entry.kind != kind:
            print(("\n" if kind else "") + entry.kind)
            kind = entry.kind
        note = "" if label == entry.name else f"  ('{entry.name}' has another owner: use this name)"
        print(f"  {label:<{width}}  {entry.summary}{note}")
    for failure in registry.failures:
        print(f"\nbroken: {failure.provider} ({failure.phase}): {failure.reason}")
    return 0


def _fields(failure: PluginFailure) -> dict[str, str]:
    return {"provider": failure.provider, "phase": failure.phase, "reason": failure.reason}
