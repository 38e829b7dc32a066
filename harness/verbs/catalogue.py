"""The registered components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.contracts import Values, VerbResult
from harness.registry import current
from harness.registry.catalogue import INSTALL, Registry
from harness.registry.component_kinds import KINDS
from harness.registry.manifest_files import BUILT_IN
from harness.registry.manifest_schema import Entry, PluginFailure

OTHER = "Other"
"""Heading of the metrics without a question."""
USUAL = ("default", "default-if-installed", "usual")
"""Roles of the built-in metrics that are printed without ``--all``."""
READY = "what they read is here"
"""Heading of the tasks that miss nothing."""


@dataclass(frozen=True)
class Catalogue(VerbResult):
    """Components of one kind or of all kinds; metrics are grouped by their question."""

    ROWS = "entries"

    components: Sequence[Entry]
    registry: Registry
    is_full: bool = False
    """Print every metric; else the usual ones of the built-in metrics."""

    @property
    def entries(self) -> Sequence[Values]:
        """Names and descriptions of the components."""
        return [
            {
                "kind": entry.kind,
                "name": self.registry.bare_name(entry),
                "full_name": entry.full_name,
                "provider": entry.provider,
                "summary": entry.summary,
                "question": entry.question,
                "extra": entry.extra,
                "level": entry.level,
                "higher_is_better": entry.higher_is_better,
                "aliases": entry.aliases,
                "target": entry.target or entry.path or entry.command_line,
            }
            for entry in self.components
        ]

    @property
    def failures(self) -> Sequence[Values]:
        """Plugins that cannot be read, with the phase and the reason."""
        return [_fields(failure) for failure in self.registry.failures]

    def to_dict(self) -> Values:
        """Return entries and failures."""
        return {"entries": self.entries, "failures": self.failures}

    def blocks(self) -> Iterator[str]:
        """Yield names and summaries, then the plugins that cannot be read."""
        if not self.registry.entries():
            yield f"no components are installed: {INSTALL}"
        elif not self.components:
            yield "no components of this kind"
        listing = self.components if self.is_full else _usual(self.components)
        yield from _groups(self.registry, listing)
        if left_out := len(self.components) - len(listing):
            yield f"\n{left_out} more metrics: harness list metrics --all"
        for failure in self.registry.failures:
            yield f"\nbroken: {failure.provider} ({failure.phase}): {failure.reason}"


def list(kind: str | None = None) -> Catalogue:
    """Return the registered components of one kind or of all kinds; none is imported.

    Parameters
    ----------
    kind : str, optional
        ``adapters``, ``tasks``, ``readers``, ``metrics``, ``distances``,
        ``embeddings``, or ``forms`` of files.
    """
    registry = current()
    if kind == "forms":
        from harness.registry.file_forms import form_entries

        return Catalogue(form_entries(), registry)
    entries = [entry for entry in registry.entries(kind) if kind or entry.kind in KINDS]
    return Catalogue(entries, registry)


def _groups(registry: Registry, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield names and summaries by kind; metrics by their question, tasks by what they
    need.
    """
    names = {entry: registry.bare_name(entry) for entry in entries}
    width = max(map(len, names.values()), default=0)
    for number, kind in enumerate(dict.fromkeys(entry.kind for entry in entries)):
        yield ("\n" if number else "") + kind
        of_kind = [entry for entry in entries if entry.kind == kind]
        groups = _headings(registry, kind, of_kind)
        indent = "    " if groups.keys() != {""} else "  "
        for heading, members in groups.items():
            if heading:
                yield f"\n  {heading}"
            for entry in members:
                name = names[entry]
                note = ""
                if name != entry.name:
                    note = f"  ('{entry.name}' has another owner: use this name)"
                yield f"{indent}{name:<{width}}  {entry.summary}{note}"


def _usual(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries without the built-in metrics that have no role among
    :data:`USUAL`.
    """
    return [
        entry
        for entry in entries
        if entry.kind != "metrics"
        or entry.provider != BUILT_IN
        or set(USUAL).intersection(entry.roles)
    ]


def _headings(
    registry: Registry, kind: str, entries: Sequence[Entry]
) -> dict[str, Sequence[Entry]]:
    """Return heading -> entries of one kind; one empty heading where there are none."""
    if kind == "tasks":
        return _tasks_by_need(entries)
    questions = _questions(registry, entries)
    if questions == [""]:
        return {"": entries}
    return {
        question or OTHER: [entry for entry in entries if entry.question == question]
        for question in questions
    }


def _tasks_by_need(tasks: Sequence[Entry]) -> dict[str, Sequence[Entry]]:
    """Return tasks by what they need, those that miss nothing first."""
    from harness.spec.needs import find_missing

    missing = {task: find_missing(task.file) for task in tasks}
    groups = {READY: [task for task in tasks if not missing[task]]}
    for variable in dict.fromkeys(filter(None, missing.values())):
        heading = f"they need files that the environment variable {variable} names"
        groups[heading] = [task for task in tasks if missing[task] == variable]
    return {heading: members for heading, members in groups.items() if members}


def _questions(registry: Registry, entries: Sequence[Entry]) -> Sequence[str]:
    """Return the questions of some entries in the order of the manifests; the empty
    one, of entries without one, is the last.
    """
    present = {entry.question for entry in entries}
    ordered = dict.fromkeys(
        entry.question for manifest in registry.manifests for entry in manifest.entries
    )
    questions = [name for name in ordered if name and name in present]
    return [*questions, ""] if "" in present else questions


def _fields(failure: PluginFailure) -> Values:
    return {
        "provider": failure.provider,
        "phase": failure.phase,
        "reason": failure.reason,
    }
