"""The function of the verb ``env``: environments of programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.contracts import Values, VerbResult
from harness.errors import HarnessError, UnknownName, did_you_mean
from harness.programs.declared import environment_of_entry
from harness.programs.environment import (
    Environment,
    created_environments,
    remove_environment,
)
from harness.registry import current
from harness.registry.component_kinds import SINGULAR
from harness.registry.manifest_schema import PROGRAM_KINDS, Entry

ACTIONS = ("create", "list", "remove")
"""Actions on environments."""


@dataclass(frozen=True)
class EnvironmentRow:
    """An environment of programs."""

    names: Sequence[str]
    """Components that declare it."""
    folder: Path
    is_ready: bool

    def line(self) -> str:
        """Return the row as text."""
        state = "ready" if self.is_ready else "not created"
        return f"{', '.join(self.names) or '(no component)'}: {state}, {self.folder}"


@dataclass(frozen=True)
class Environments(VerbResult):
    """Environments of programs, with what was done."""

    ROWS = "environments"

    rows: Sequence[EnvironmentRow]

    @property
    def environments(self) -> list[Values]:
        """Names, folder and state of each environment."""
        return [
            {
                "names": [*row.names],
                "folder": str(row.folder),
                "ready": row.is_ready,
            }
            for row in self.rows
        ]

    def to_dict(self) -> Values:
        """Return the environments."""
        return {"environments": self.environments}

    def blocks(self) -> Iterator[str]:
        """Yield a line for each environment."""
        yield from (row.line() for row in self.rows)
        if not self.rows:
            yield "no component declares an environment, and none is created"


def env(action: str = "list", name: str | None = None) -> Environments:
    """Create, list or remove the environments of programs.

    Parameters
    ----------
    action : {"list", "create", "remove"}
        ``create`` downloads packages by uv; nothing is done for an environment that is
        there.
    name : str, optional
        Component whose environment is meant; for ``remove`` also the name of a folder
        of the list.

    Raises
    ------
    HarnessError
        There is no such action or component, or uv fails.
    """
    if action not in ACTIONS:
        raise UnknownName.of_name("env: no action", action, ACTIONS, "actions are")
    if action == "list":
        return Environments(_rows())
    if not name:
        raise HarnessError(f"env: name the component whose environment to {action}")
    if action == "create":
        entry, environment = _declared(name)
        environment.create(f"{SINGULAR[entry.kind]} '{entry.name}'")
        return Environments(
            [row for row in _rows() if row.folder == environment.folder]
        )

    label = f"env remove {name}"
    for folder, _ in created_environments():
        if folder.name == name:
            remove_environment(folder, label)
            return Environments([EnvironmentRow([name], folder, is_ready=False)])
    _, environment = _declared(name)
    environment.remove(label)
    return Environments([EnvironmentRow([name], environment.folder, is_ready=False)])


def _entries() -> list[tuple[Entry, Environment]]:
    """Return the components that declare an environment."""
    found: list[tuple[Entry, Environment]] = []
    for entry in current().entries():
        if entry.kind in PROGRAM_KINDS and entry.declaration:
            environment = environment_of_entry(entry)
            if environment is not None:
                found.append((entry, environment))
    return found


def _declared(name: str) -> tuple[Entry, Environment]:
    """Return the component of a name that declares an environment."""
    entries = _entries()
    for entry, environment in entries:
        if name in (entry.name, entry.full_name):
            return entry, environment
    names = [entry.name for entry, _ in entries]
    raise UnknownName(
        f"env: no component '{name}' declares an environment"
        f"{did_you_mean(name, names)}; those that do: {', '.join(names) or 'none'}",
        value=name,
    )


def _rows() -> list[EnvironmentRow]:
    """Return the environments that components declare, then others that are there."""
    names: dict[Path, list[str]] = {path: [] for path, _ in created_environments()}
    ready = dict.fromkeys(names, True)
    for entry, environment in _entries():
        names.setdefault(environment.folder, []).append(entry.name)
        ready[environment.folder] = environment.is_ready
    ordered = sorted(names, key=lambda path: (not names[path], names[path], path))
    return [EnvironmentRow(names[path], path, ready[path]) for path in ordered]
