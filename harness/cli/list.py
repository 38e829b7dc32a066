"""List the registered components of one kind or of all kinds; no component is imported.

Metrics are grouped by their question.

harness list
harness list metrics --json
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from harness.cli.options import add_common, print_folded, print_json

if TYPE_CHECKING:
    from harness.registry.catalogue import Registry
    from harness.registry.manifest_schema import Entry, PluginFailure

OTHER = "Other"
"""Heading of the metrics without a question."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness list``."""
    parser.add_argument(
        "kind",
        nargs="?",
        help="adapters, tasks, readers, metrics, distances, "
        "embeddings or forms (of files)",
    )
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the names by which components are used, with their summaries, and the
    plugins that cannot be read.
    """
    from harness.registry import current
    from harness.registry.catalogue import INSTALL
    from harness.registry.component_kinds import KINDS

    registry = current()
    if args.kind == "forms":
        from harness.registry.file_forms import form_entries

        entries = form_entries()
    else:
        entries = [
            entry
            for entry in registry.entries(args.kind)
            if args.kind or entry.kind in KINDS
        ]
    if args.json:
        rows = [
            {
                "kind": entry.kind,
                "name": registry.bare_name(entry),
                "full_name": entry.full_name,
                "provider": entry.provider,
                "summary": entry.summary,
                "question": entry.question,
                "extra": entry.extra,
                "level": entry.level,
                "higher_is_better": entry.higher_is_better,
                "aliases": entry.aliases,
                "target": entry.target or entry.path,
            }
            for entry in entries
        ]
        failures = [_fields(failure) for failure in registry.failures]
        print_json({"entries": rows, "failures": failures})
        return 0

    if not registry.entries():
        print(f"no components are installed: {INSTALL}")
    elif not entries:
        print("no components of this kind")
    _print_groups(registry, entries)
    for failure in registry.failures:
        print_folded(
            f"\nbroken: {failure.provider} ({failure.phase}): {failure.reason}"
        )
    return 0


def _print_groups(registry: Registry, entries: list[Entry]) -> None:
    """Print names and summaries by kind, and by question where entries of the kind have
    one.
    """
    names = {entry: registry.bare_name(entry) for entry in entries}
    width = max(map(len, names.values()), default=0)
    for number, kind in enumerate(dict.fromkeys(entry.kind for entry in entries)):
        print(("\n" if number else "") + kind)
        of_kind = [entry for entry in entries if entry.kind == kind]
        groups = _questions(registry, of_kind)
        has_questions = groups != [""]
        indent = "    " if has_questions else "  "
        for question in groups:
            if has_questions:
                print_folded(f"\n  {question or OTHER}")
            for entry in of_kind:
                if entry.question != question:
                    continue
                name = names[entry]
                note = ""
                if name != entry.name:
                    note = f"  ('{entry.name}' has another owner: use this name)"
                print_folded(f"{indent}{name:<{width}}  {entry.summary}{note}")


def _questions(registry: Registry, entries: list[Entry]) -> list[str]:
    """Return the questions of some entries in the order of the manifests; the empty
    one, of entries without one, is the last.
    """
    present = {entry.question for entry in entries}
    ordered = dict.fromkeys(
        entry.question for manifest in registry.manifests for entry in manifest.entries
    )
    questions = [name for name in ordered if name and name in present]
    return [*questions, ""] if "" in present else questions


def _fields(failure: PluginFailure) -> dict[str, str]:
    return {
        "provider": failure.provider,
        "phase": failure.phase,
        "reason": failure.reason,
    }
