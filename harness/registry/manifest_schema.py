"""Schema of manifests: entries and manifests as dataclasses, parsed from YAML with
errors that name the file and the key.
"""

from __future__ import annotations

import importlib.util
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from harness import __version__
from harness.contracts import Parameters
from harness.contracts.parameters import Values
from harness.errors import HarnessError, did_you_mean
from harness.registry.component_kinds import HIDDEN, KINDS

_OPERATORS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
"""Sign of a version specifier -> comparison."""
API = 1
"""Version of the manifest schema."""
ALL_KINDS = (*KINDS, *HIDDEN)
"""Kinds of components as keys of a manifest."""
ENTRY_KEYS = {
    "name",
    "import",
    "target",
    "path",
    "summary",
    "question",
    "extra",
    "extras",
    "level",
    "needs",
    "higher_is_better",
    "aliases",
    "version",
    "role",
    "captions_of",
    "display",
    "percent",
}
"""Keys of an entry."""
PROGRAM_KEYS = (
    "command",
    "parameters",
    "bounds",
    "files",
    "environment",
    "secrets",
    "limits",
    "stored",
)
"""Keys of an entry that declares a component by the command line of a program, in place
of ``import``.
"""
PROGRAM_KINDS = ("metrics", "distances", "embeddings", "adapters")
"""Kinds of component that a program may be."""
TOP_KEYS = {"api", "provider", "requires_harness", "hooks"}
"""Keys of a manifest beside the kinds."""
TEXT_KEYS = ("path", "summary", "display", "question", "level", "version")
"""Keys of an entry whose values are texts, as fields of :class:`Entry`."""


Section = Parameters
"""A mapping of YAML as loaded."""


def _numbers(version: str) -> tuple[int, ...]:
    """Return the first three numbers of a version, missing ones as 0."""
    numbers = tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])
    return numbers + (0,) * (3 - len(numbers))


def satisfies(version: str, specifier: str) -> bool:
    """Return True when ``version`` satisfies a comma-separated specifier; raise
    :class:`HarnessError` for an invalid one.

    >>> satisfies("0.1.0", ">=0.1,<1"), satisfies("1.2", "<1")
    (True, False)
    """
    for clause in specifier.split(","):
        match = re.fullmatch(r"\s*(>=|<=|==|!=|>|<)\s*([0-9][0-9.]*)\s*", clause)
        if match is None:
            raise HarnessError(
                f"version specifier '{specifier}' is not understood; "
                "expected something like '>=0.1,<1'"
            )
        if not _OPERATORS[match[1]](_numbers(version), _numbers(match[2])):
            return False
    return True


@dataclass(frozen=True)
class Entry:
    """One named component of a manifest."""

    kind: str
    name: str
    provider: str
    source: str
    """File or distribution that declares the entry."""
    folder: Path
    """Folder of the manifest; a project's own code is imported from there."""
    target: str = ""
    path: str = ""
    summary: str = ""
    display: str = ""
    """Name in tables and charts, with slots for what the signature says
    (:mod:`harness.reporting.table`).
    """
    percent: bool = False
    """True for a metric whose values papers print times 100 (``--percent``)."""
    question: str = ""
    """Question that a metric answers, the heading of its group in ``harness list``."""
    extra: str = ""
    level: str = ""
    needs: tuple[str, ...] = ()
    higher_is_better: bool | None = None
    aliases: tuple[str, ...] = ()
    version: str = ""
    """Version of the component, as its manifest declares it; part of the provenance of
    a run.
    """
    roles: tuple[str, ...] = ()
    """Uses of the component by the engine itself, such as ``reference-files``;
    built-in entries only.
    """
    captions_of: Parameters = field(default_factory=Values, hash=False)
    """Module -> hash of earlier code of an adapter that gave the same captions: stored
    captions of that code are reused.
    """
    declaration: Parameters = field(default_factory=Values, hash=False)
    """Values of :data:`PROGRAM_KEYS`; empty for a component that is imported."""
    local: bool = False

    @property
    def command_line(self) -> str:
        """The command of a program, its words with blanks between; else empty."""
        words: object = self.declaration.get("command")
        items = (
            cast("list[object]", words) if isinstance(words, list) else [words or ""]
        )
        return " ".join(map(str, items))

    @property
    def full_name(self) -> str:
        """``provider/name``, which is unique."""
        return f"{self.provider}/{self.name}"

    @property
    def file(self) -> Path:
        """The file of a task entry: beside the manifest, or ``package:file`` inside a
        package.

        A package that a local manifest names is not imported.
        """
        package, colon, name = self.path.partition(":")
        if not colon:
            return self.folder / self.path
        top, *subpackages = package.split(".") if self.local else [package]
        spec = importlib.util.find_spec(top) if top else None
        folders = list(spec.submodule_search_locations or ()) if spec else []
        return Path(folders[0], *subpackages, name) if folders else self.folder / name


@dataclass(frozen=True)
class Manifest:
    """One manifest file: its provider, its entries and its hook modules."""

    provider: str
    source: str
    entries: tuple[Entry, ...]
    hooks: tuple[str, ...] = ()
    """Hook modules, ``package.module`` or ``package.module:Object``."""
    local: bool = False

    @property
    def folder(self) -> Path:
        """Folder of the manifest."""
        return Path(self.source).parent


@dataclass(frozen=True)
class PluginFailure:
    """A plugin that could not be used: who, at which step, why."""

    provider: str
    phase: str
    reason: str
    error: BaseException | None = field(default=None, compare=False, repr=False)
    local: bool = False
    """True for the ``registry.yaml`` of the working directory."""


def parse_manifest(path: Path, data: object, provider: str, *, local: bool) -> Manifest:
    """Return the manifest of YAML as loaded.

    Parameters
    ----------
    path : Path
        File of the manifest, for messages and relative places.
    data : object
        Content of the file.
    provider : str
        Provider when the manifest names none.
    local : bool
        True for a manifest of a project, which may name code in its own folder alone
        (:mod:`harness.registry.local_code`).

    Raises
    ------
    HarnessError
        Anything that is not as the schema says, with file and key.
    """
    content = _mapping(data, f"{path}: a registry is a mapping of kinds")
    for key in content:
        if key not in TOP_KEYS and key not in ALL_KINDS:
            hint = did_you_mean(key, [*ALL_KINDS, *TOP_KEYS])
            raise HarnessError(f"{path}: unknown key '{key}'{hint}", value=key)
    _check_api(path, content)

    provider = str(content.get("provider", provider))
    entries: list[Entry] = []
    for kind in ALL_KINDS:
        for name, raw in _pairs(path, kind, content.get(kind) or {}):
            entries.append(_entry(path, kind, name, raw, provider, local))
    hooks = _hooks(path, content.get("hooks"))
    return Manifest(provider, str(path), tuple(entries), hooks, local)


def _mapping(value: object, expectation: str) -> Section:
    """Return a mapping with texts as keys; raise :class:`HarnessError` for another
    value.
    """
    if not isinstance(value, Mapping):
        raise HarnessError(f"{expectation}; found {type(value).__name__} {value!r:.80}")
    return {str(key): item for key, item in cast("Mapping[object, Any]", value).items()}


def _check_api(path: Path, content: Section) -> None:
    """Raise :class:`HarnessError` for a manifest of another schema or harness."""
    if content.get("api", API) != API:
        raise HarnessError(
            f"{path}: manifest api {content['api']!r} is not known; "
            f"this harness reads api {API}"
        )
    required = content.get("requires_harness")
    if required and not satisfies(__version__, str(required)):
        raise HarnessError(
            f"{path}: asks for harness {required}; this is harness {__version__}"
        )


def _hooks(path: Path, section: object) -> tuple[str, ...]:
    """Return the hook modules of a manifest: texts, or mappings with ``target``."""
    items = [section] if section else []
    if isinstance(section, list):
        items = cast("list[object]", section)
    targets = [
        cast(Section, item).get("target") if isinstance(item, Mapping) else item
        for item in items
    ]
    modules = [target for target in targets if isinstance(target, str) and target]
    if len(modules) < len(targets):
        raise HarnessError(
            f'{path}: hooks is a list of modules ("package.module"); '
            f"found {section!r:.80}"
        )
    return tuple(modules)


def _pairs(path: Path, kind: str, section: object) -> list[tuple[str, Section]]:
    """Return (name, entry) of a kind: a mapping of names to entries, or a list of
    entries with a name.
    """
    if isinstance(section, Mapping):
        items = cast("Mapping[object, object]", section).items()
        return [
            (str(name), _raw_entry(path, kind, str(name), raw)) for name, raw in items
        ]
    if isinstance(section, list):
        items = cast("list[object]", section)
        entries = [cast(Section, item) for item in items if isinstance(item, Mapping)]
        with_name = [entry for entry in entries if "name" in entry]
        if len(with_name) == len(items):
            return [(str(entry["name"]), entry) for entry in with_name]
    raise HarnessError(
        f"{path}: '{kind}' must map names to entries, or list entries with a name"
    )


def _raw_entry(path: Path, kind: str, name: str, raw: object) -> Section:
    """Return an entry as a mapping; a text is its ``import``."""
    if isinstance(raw, str):
        return {"import": raw}
    return _mapping(raw or {}, f"{path}: {kind}.{name} must be a mapping")


def _entry(
    path: Path, kind: str, name: str, raw: Section, provider: str, local: bool
) -> Entry:
    """Return the entry of a mapping; raise :class:`HarnessError` for one that is not as
    the schema says.
    """
    location = f"{path}: {kind}.{name}"
    for key in raw:
        if key not in (*ENTRY_KEYS, *PROGRAM_KEYS):
            hint = did_you_mean(key, [*ENTRY_KEYS, *PROGRAM_KEYS])
            raise HarnessError(f"{location}: unknown key '{key}'{hint}", value=key)

    target = str(raw.get("import") or raw.get("target") or "")
    declaration = _declaration(location, kind, raw)
    if not target and not raw.get("path") and not declaration:
        choice = " or 'path'" if kind == "tasks" else ""
        raise HarnessError(
            f"{location} needs 'import: \"package.module:Object\"'{choice}"
        )
    better = raw.get("higher_is_better")
    if better is not None and not isinstance(better, bool):
        raise HarnessError(
            f"{location}: higher_is_better is {better!r:.80}; "
            "expected true, false or null"
        )
    percent = raw.get("percent", False)
    if not isinstance(percent, bool):
        raise HarnessError(
            f"{location}: percent is {percent!r:.80}; expected true or false"
        )
    if target and ":" not in target and kind not in HIDDEN:
        raise HarnessError(
            f"{location}: import is '{target}'; expected \"package.module:Object\""
        )
    captions_of = _mapping(
        raw.get("captions_of") or {},
        f"{location}: captions_of maps modules to hashes",
    )
    return Entry(
        kind=kind,
        name=name,
        provider=provider,
        source=str(path),
        folder=path.parent,
        target=target,
        **{key: str(raw.get(key, "")) for key in TEXT_KEYS},
        extra=",".join(_texts(raw.get("extra", raw.get("extras")))),
        # Of a program: fields of its requests, which are no needs of the catalogue.
        needs=() if declaration else _texts(raw.get("needs")),
        higher_is_better=better,
        percent=percent,
        aliases=_texts(raw.get("aliases")),
        roles=_texts(raw.get("role")),
        captions_of=captions_of,
        declaration=declaration,
        local=local,
    )


def _declaration(location: str, kind: str, raw: Section) -> Section:
    """Return the values of :data:`PROGRAM_KEYS`; raise :class:`HarnessError` for some
    of them where the component is no program.
    """
    declaration = {key: raw[key] for key in PROGRAM_KEYS if key in raw}
    if not declaration:
        return {}
    if "command" not in declaration:
        first = next(iter(declaration))
        raise HarnessError(
            f"{location}: '{first}' belongs to a component with 'command'", value=first
        )
    if kind not in PROGRAM_KINDS:
        raise HarnessError(
            f"{location} has 'command'; programs are {', '.join(PROGRAM_KINDS)}"
        )
    if raw.get("import") or raw.get("target"):
        raise HarnessError(f"{location} has 'command' and 'import'; expected one")
    return {**declaration, "needs": _texts(raw.get("needs"))}


def _texts(value: object) -> tuple[str, ...]:
    """Return a text, another value or a list of them as a tuple of texts; empty for
    nothing.
    """
    if not value:
        return ()
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return tuple(map(str, items))
