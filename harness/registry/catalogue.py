"""The catalogue of components: names read from manifests as data, imported only when
used.

All manifests share one schema::

    api: 1
    provider: acme                      # default: the distribution or folder name
    requires_harness: ">=0.1,<1"
    metrics:
      my-metric: {import: "acme.metrics:Mine", summary: "...", level: set}
    # or a list: [{name: my-metric, target: "acme.metrics:Mine", summary: "..."}]

Sources, in order: installed distributions, those that ship with the harness first
(entry-point group ``harness.manifests``, value = the package that holds
``registry.yaml``; located without importing it), ``registry.yaml`` in the working
directory (not with ``HARNESS_LOCAL_PLUGINS=0``), and files given with ``--registry``.
The last two are local: they may name code in their own folder, and components that a
manifest of the harness or of a distribution declares. A built-in component keeps its
bare name; a plugin's component of the same name is reached as ``provider/name``. A bare
name that two plugins share is an error when it is used.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

from harness.contracts import Parameters, Values
from harness.contracts.parameters import check_parameters, guarded_parameters
from harness.errors import HarnessError, MissingExtra, UnknownName, nearest_name
from harness.registry.component_kinds import HIDDEN, KINDS, SINGULAR
from harness.registry.local_code import import_from, module_file
from harness.registry.manifest_files import BUILT_IN, BUILT_IN_DISTRIBUTION
from harness.registry.manifest_schema import Entry, Manifest, PluginFailure
from harness.registry.permissions import check_component, permitted

INSTALL = f"pip install {BUILT_IN_DISTRIBUTION}"
"""Command that installs the components that ship with the harness."""
DECLARING_KEY = "command"
"""Key of an entry that declares a component in place of ``import``, and the name of its
constructor among ``declared_components``.
"""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Component:
    """A component instance with the parameters that it was created with."""

    instance: Any
    parameters: Parameters = field(default_factory=Values)


@dataclass(frozen=True)
class Registry:
    """All entries by kind, and the plugins that could not be read."""

    manifests: tuple[Manifest, ...]
    failures: tuple[PluginFailure, ...] = ()

    def entries(self, kind: str | None = None) -> list[Entry]:
        """Return the entries of a kind (or of all), sorted by kind, name, provider.

        The same component declared twice (equal full name and target, but not in two
        local folders) is one entry. Raises :class:`UnknownName` for an unknown kind.
        """
        if kind is not None and kind not in (*KINDS, *HIDDEN):
            raise UnknownName.of_name("unknown kind", kind, KINDS, "kinds are")
        return [entry for entry in self._entries if kind in (None, entry.kind)]

    @cached_property
    def _entries(self) -> tuple[Entry, ...]:
        """All entries, sorted by kind, name, provider; the same component declared
        twice once.
        """
        unique: dict[tuple[str, ...], Entry] = {}
        for manifest in self.manifests:
            for entry in manifest.entries:
                command = repr(entry.declaration.get(DECLARING_KEY, ""))
                key = (entry.kind, entry.full_name, entry.target, entry.path, command)
                first = unique.setdefault(key, entry)
                # Two local folders have code of their own under one name.
                folder = entry.folder.resolve()
                if first.local and entry.local and first.folder.resolve() != folder:
                    unique.setdefault((*key, str(folder)), entry)
        kinds = (*KINDS, *HIDDEN)
        return tuple(
            sorted(
                unique.values(),
                key=lambda entry: (
                    kinds.index(entry.kind),
                    entry.name,
                    entry.provider,
                ),
            )
        )

    @cached_property
    def _rivals(self) -> Mapping[tuple[str, str], Sequence[Entry]]:
        """(kind, name or alias) -> the entries of that name."""
        rivals: dict[tuple[str, str], list[Entry]] = {}
        for entry in self._entries:
            for name in dict.fromkeys((entry.name, *entry.aliases)):
                rivals.setdefault((entry.kind, name), []).append(entry)
        return rivals

    @cached_property
    def _of_full_name(self) -> Mapping[tuple[str, str], Sequence[Entry]]:
        """(kind, full name) -> the entries of that name."""
        of_full_name: dict[tuple[str, str], list[Entry]] = {}
        for entry in self._entries:
            of_full_name.setdefault((entry.kind, entry.full_name), []).append(entry)
        return of_full_name

    @cached_property
    def hook_points(self) -> Sequence[importlib.metadata.EntryPoint]:
        """The entry points of installed hook modules, by name."""
        return sorted(
            importlib.metadata.entry_points(group="harness"),
            key=lambda point: (point.name, point.value),
        )

    def get(self, kind: str, name: str) -> Entry:
        """Return the entry called ``name`` (a name, ``provider/name``, or an alias).

        Where no entry has exactly this name, case, ``-`` and ``_`` are ignored
        (:func:`spelling`). A built-in entry takes precedence for its bare name and
        aliases. Raises :class:`UnknownName` with the nearest name,
        :class:`HarnessError` with both owners when two plugins share the name, and with
        both names when two built-in entries share the spelling (``rougeL`` and
        ``rouge-l``).
        """
        matches = self.match_entries(kind, name)
        built_in = [entry for entry in matches if entry.provider == BUILT_IN]
        if built_in and len(built_in) < len(matches):
            shadowed = [entry for entry in matches if entry.provider != BUILT_IN]
            _note_shadowed_plugins(kind, name, shadowed)
        matches = built_in or matches
        if not matches:
            raise self._unknown(kind, name)

        if len(built_in) > 1:
            meanings = " or ".join(
                f"'{entry.name}' ({entry.summary})" for entry in built_in
            )
            raise HarnessError(
                f"{SINGULAR[kind]} '{name}' may be {meanings}: "
                "write one of these names exactly so",
                value=name,
            )
        if len(matches) > 1:
            owners = " and ".join(
                f"'{entry.full_name}' ({entry.source})" for entry in matches[:5]
            )
            advice = "use the full name"
            if len({entry.full_name for entry in matches}) < len(matches):
                advice = (
                    "give one of the manifests another 'provider', "
                    "or load fewer plugins (HARNESS_LOAD_PLUGINS=NAME,...)"
                )
            raise HarnessError(
                f"the {SINGULAR[kind]} name '{name}' has {len(matches)} owners: "
                f"{owners}; {advice}",
                value=name,
            )
        return matches[0]

    def _unknown(self, kind: str, name: str) -> HarnessError:
        """Return the error for a name without an entry, with the nearest one."""
        entries = self.entries(kind)
        names = [entry.name for entry in entries]
        names += [alias for entry in entries for alias in entry.aliases]
        nearest = (
            self._component_of_label(kind, name)
            or nearest_name(name, names)
            or nearest_name(name.lower(), names)
        )
        hint = f" ('harness list {kind}' shows them)" if kind in KINDS else ""
        if nearest:
            hint = f"; did you mean '{nearest}'?"
        return UnknownName(f"unknown {SINGULAR[kind]} '{name}'{hint}", value=name)

    def match_entries(self, kind: str, name: str) -> list[Entry]:
        """Return all entries that ``name`` may stand for: of exactly this name, else of
        one of its spellings, else shown under it.
        """
        key = kind, name
        if exact := self._of_full_name.get(key) or self._rivals.get(key):
            return list(exact)
        entries = self.entries(kind)
        text = spelling(name)
        return (
            [entry for entry in entries if text == spelling(entry.full_name)]
            or [
                entry
                for entry in entries
                if text in map(spelling, (entry.name, *entry.aliases))
            ]
            or [
                entry
                for entry in entries
                if entry.display and text == spelling(entry.display.partition(" [")[0])
            ]
        )

    def _component_of_label(self, kind: str, label: str) -> str | None:
        """Return the name of the component of a label of tables, which begins with its
        name: TRM of ``TRM (METEOR)``.
        """
        names = [
            entry.display.partition(" [")[0]
            for entry in self.entries(kind)
            if entry.display
        ]
        head = max(
            (name for name in names if label.startswith(name)),
            key=len,
            default=re.split(r" ?[(\[]", label)[0],
        )
        return next((entry.name for entry in self.match_entries(kind, head)), None)

    def with_role(self, kind: str, role: str) -> Entry:
        """Return the built-in entry that the engine uses for a role:
        ``reference-files``, ``candidate-files``, ``strata``.

        Raises :class:`HarnessError` where the distribution that has it is not
        installed.
        """
        entries = self.all_with_role(kind, role)
        if not entries:
            raise HarnessError(
                f"this needs {SINGULAR[kind]}s that are not installed: {INSTALL}"
            )
        return entries[0]

    def is_built_in(self, kind: str, name: str) -> bool:
        """Return True when ``name`` stands for a component that ships with the
        harness.
        """
        return any(
            entry.provider == BUILT_IN for entry in self.match_entries(kind, name)
        )

    def all_with_role(self, kind: str, role: str) -> list[Entry]:
        """Return the built-in entries that the engine uses for a role, in the order of
        the manifest.
        """
        entries: list[Entry] = []
        for manifest in self.manifests:
            if manifest.provider == BUILT_IN:
                entries += manifest.entries
        return [
            entry for entry in entries if entry.kind == kind and role in entry.roles
        ]

    def bare_name(self, entry: Entry) -> str:
        """Return the shortest name by which :meth:`get` finds the entry: its name, or
        ``provider/name`` where shadowed.
        """
        rivals = self._rivals.get((entry.kind, entry.name), ())
        built_in = [rival for rival in rivals if rival.provider == BUILT_IN]
        if not rivals or [entry] in ([*rivals], built_in):
            return entry.name
        return entry.full_name

    def load(self, kind: str, name: str) -> Any:
        """Import and return the object of an entry; raises :class:`HarnessError` with
        the cause and the install command.
        """
        entry = self.get(kind, name)
        if entry.declaration:
            return self.load("declared_components", DECLARING_KEY)(entry)
        if not entry.target:
            raise HarnessError(
                f"{SINGULAR[kind]} '{name}' is a file ({entry.path}), "
                "not an importable object"
            )
        module = self._import(entry)
        _, _, attribute = entry.target.partition(":")
        if not attribute:
            return module
        if not hasattr(module, attribute):
            raise HarnessError.of_name(
                f"{_could_not(entry)}: the module has no", attribute, vars(module)
            )
        # The bases of components import numpy.
        from harness.registry.function_components import component_of

        return component_of(getattr(module, attribute))

    def load_module(self, kind: str, name: str) -> ModuleType:
        """Import and return the module of an entry; raises as :meth:`load`."""
        return self._import(self.get(kind, name))

    def _import(self, entry: Entry) -> ModuleType:
        """Return the module of an entry: of a local one from its folder, or when
        another manifest declares the target.
        """
        module, _, _ = entry.target.partition(":")
        owner = f"{SINGULAR[entry.kind]} '{entry.name}' of {entry.source}"
        try:
            if not entry.local:
                return importlib.import_module(module)
            if module_file(entry.folder, module) is None and self._declares(entry):
                return importlib.import_module(module)
            return import_from(entry.folder, module, owner)
        except ModuleNotFoundError as error:
            raise MissingExtra(_missing_text(entry, error)) from error
        except HarnessError:
            raise
        except (Exception, SystemExit) as error:
            # A broken plugin is reported by name; the original is chained.
            raise HarnessError(
                f"{_could_not(entry)}: {type(error).__name__}: {error}"
            ) from error

    def _declares(self, entry: Entry) -> bool:
        """Return True when a manifest that is not local declares the target of an
        entry.
        """
        for manifest in self.manifests:
            if manifest.local:
                continue
            for candidate in manifest.entries:
                if (candidate.kind, candidate.target) == (entry.kind, entry.target):
                    return True
        return False

    def component(
        self, kind: str, name: str, params: Parameters | None = None
    ) -> Component:
        """Create a component: ``Class(**params)``, checked against the contract of its
        kind.

        Raises :class:`UnknownName` for an unknown parameter with the nearest one,
        :class:`HarnessError` for a missing parameter, a value of the wrong plain type,
        an instance without the members of its kind, or parameters that need a
        permission which the user has not given (:mod:`harness.registry.permissions`).
        """
        # Its protocols import numpy.
        from harness.registry.instance_checks import check_instance

        factory = self.load(kind, name)
        values = dict(params or {})
        label = f"{SINGULAR[kind]} '{name}'"
        check_parameters(label, factory, values)
        check_component(label, values, guarded_parameters(factory) if values else {})
        instance = factory(**values)
        check_instance(kind, label, instance)
        return Component(instance, values)

    def create_to_read(self, kind: str, name: str, params: Parameters) -> Any:
        """Return the instance of :meth:`component` without parameters that need a
        permission which the user has not given.

        A verb that reads a finished run creates its metrics to reduce their statistics,
        which needs no key and no code.
        """
        guarded = guarded_parameters(self.load(kind, name))
        return self.create(kind, name, permitted(params, guarded))

    def create(self, kind: str, name: str, params: Parameters | None = None) -> Any:
        """Return the instance of :meth:`component`."""
        return self.component(kind, name, params).instance


@lru_cache(maxsize=64)
def _warn_once(text: str) -> None:
    _log.warning("note: %s", text)


def _note_shadowed_plugins(kind: str, name: str, entries: Sequence[Entry]) -> None:
    """Log once per process that a bare name is the built-in component and not that of a
    plugin.
    """
    owners = " and ".join(
        f"'{entry.full_name}' ({entry.source})" for entry in entries[:3]
    )
    _warn_once(
        f"the {SINGULAR[kind]} '{name}' is the built-in one, not {owners}, "
        "which needs its full name"
    )


def spelling(name: str) -> str:
    """Return a name without regard to case, ``-`` and ``_``; different spellings of one
    name are equal.

    >>> spelling("BLEU-4"), spelling("acme/ROUGE_L")
    ('bleu4', 'acme/rougel')
    """
    return name.casefold().replace("-", "").replace("_", "")


def _could_not(entry: Entry) -> str:
    """Return the beginning of a message on an entry whose import fails."""
    return (
        f"{SINGULAR[entry.kind]} '{entry.full_name}' ({entry.target}) "
        "could not be imported"
    )


def _missing_text(entry: Entry, error: ModuleNotFoundError) -> str:
    """Return the message on an entry whose package is not installed."""
    missing = (error.name or str(error)).split(".")[0]
    head = (
        f"{SINGULAR[entry.kind]} '{entry.name}' needs the package '{missing}', "
        "which is not installed"
    )
    if entry.provider == BUILT_IN and entry.extra:
        return f"{head}: pip install 'caption-harness[{entry.extra}]'"
    return f"{head} (named by {entry.source})"
