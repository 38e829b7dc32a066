"""The registered components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.contracts import Values, VerbResult
from harness.registry import current
from harness.registry.catalogue import INSTALL, Registry
from harness.registry.component_kinds import KINDS
from harness.registry.manifest_schema import Entry, PluginFailure

OTHER = "Other"
"""Heading of the metrics without a question."""


@dataclass(frozen=True)
class Catalogue(VerbResult):
    """Components of one kind or of all kinds; metrics are grouped by their question."""

    ROWS = "entries"

    components: Sequence[Entry]
    registry: Registry

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
        yield from _groups(self.registry, self.components)
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
    """Yield names and summaries by kind, and by question where entries of the kind have
    one.
    """
    names = {entry: registry.bare_name(entry) for entry in entries}
    width = max(map(len, names.values()), default=0)
    for number, kind in enumerate(dict.fromkeys(entry.kind for entry in entries)):
        yield ("\n" if number else "") + kind
        of_kind = [entry for entry in entries if entry.kind == kind]
        groups = _questions(registry, of_kind)
        has_questions = groups != [""]
        indent = "    " if has_questions else "  "
        for question in groups:
            if has_questions:
                yield f"\n  {question or OTHER}"
            for entry in of_kind:
                if entry.question != question:
                    continue
                name = names[entry]
                note = ""
                if name != entry.name:
                    note = f"  ('{entry.name}' has another owner: use this name)"
                yield f"{indent}{name:<{width}}  {entry.summary}{note}"


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
