"""Reading manifests: YAML data about components, never code.

A manifest that cannot be read, or that asks for another harness, becomes a :class:`PluginFailure`; the others go on working.
``HARNESS_STRICT_PLUGINS=1`` raises instead. ``HARNESS_LOAD_PLUGINS=a,b`` keeps only those installed providers (empty: none).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import __version__
from harness.errors import HarnessError, did_you_mean
from harness.registry.component_kinds import HIDDEN, KINDS

BUILT_IN = "harness"
"""Provider of the components that ship with the harness."""
ENTRY_POINT_GROUP = "harness.manifests"
FILE_NAME = "registry.yaml"
ENTRY_KEYS = {
    "name",
    "import",
    "target",
    "path",
    "summary",
    "extra",
    "extras",
    "level",
    "needs",
    "higher_is_better",
    "aliases",
    "version",
    "role",
}
TOP_KEYS = {"api", "provider", "requires_harness", "hooks"}


@dataclass(frozen=True)
class Entry:
    """One named component of a manifest."""

    kind: str
    name: str
    provider: str
    source: str
    """Where it was declared: a file or a distribution."""
    folder: Path
    """Folder of the manifest; a project's own code is imported from there."""
    target: str = ""
    path: str = ""
    summary: str = ""
    extra: str = ""
    level: str = ""
    needs: tuple[str, ...] = ()
    higher_is_better: bool | None = None
    aliases: tuple[str, ...] = ()
    version: str = ""
    """Version of the component, as its manifest declares it; part of the provenance of a run."""
    role: str = ""
    """Use of the component by the engine itself, such as ``reference-files``; built-in entries only."""
    local: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.provider}/{self.name}"

    @property
    def file(self) -> Path:
        """The file of a task entry: beside the manifest, or ``package:file`` inside a package."""
        package, colon, name = self.path.partition(":")
        if not colon:
            return self.folder / self.path
        spec = importlib.util.find_spec(package)
        folders = list(spec.submodule_search_locations or ()) if spec else []
        return Path(folders[0] if folders else self.folder, name)

    def import_path(self) -> AbstractContextManager[None]:
        """Return a context in which the folder of a local component is on ``sys.path``."""
        return _folder_on_path(self.folder if self.local else None)


@dataclass(frozen=True)
class Manifest:
    """One manifest file: its provider, its entries and its hook modules."""

    provider: str
    source: str
    entries: tuple[Entry, ...]
    hooks: tuple[str, ...] = ()
    """Hook modules, ``package.module`` or ``package.module:Object``."""
    local: bool = False

    def import_path(self) -> AbstractContextManager[None]:
        """Return a context in which the folder of a local manifest is on ``sys.path``."""
        return _folder_on_path(Path(self.source).parent if self.local else None)


@contextmanager
def _folder_on_path(folder: Path | None) -> Iterator[None]:
    if folder is None or str(folder) in sys.path:
        yield
        return
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@dataclass(frozen=True)
class PluginFailure:
    """A plugin that could not be used: who, at which step, why."""

    provider: str
    phase: str
    reason: str
    error: BaseException | None = field(default=None, compare=False, repr=False)


def find_manifests(
    files: Sequence[Path], directory: Path, only: str | None
) -> tuple[list[Manifest], list[PluginFailure]]:
    """Built-in, installed, the directory's own and the given manifests, in this order; and what failed."""
    built_in = Path(__file__).parent.parent / FILE_NAME
    manifests = [_read(built_in, BUILT_IN, (*KINDS, *HIDDEN))]
    failures: list[PluginFailure] = []
    for provider, path, error in _installed(only):
        try:
            if error is not None:
                raise error
            assert path is not None
            manifests.append(_read(path, provider, (*KINDS, *HIDDEN)))
        except (HarnessError, OSError) as problem:
            if os.environ.get("HARNESS_STRICT_PLUGINS") == "1":
                raise
            failures.append(PluginFailure(provider, "manifest", str(problem), problem))
    own = directory / FILE_NAME
    if own.is_file() and own.resolve() != built_in.resolve():
        manifests.append(_read(own, directory.name, (*KINDS, *HIDDEN), local=True))
    for file in files:
        if not file.is_file():
            raise HarnessError(f"{file}: no such registry file")
        if file.resolve() not in (built_in.resolve(), own.resolve()):
            manifests.append(_read(file, file.parent.name, (*KINDS, *HIDDEN), local=True))
    return manifests, failures


def kept_providers(names: str | None) -> set[str] | None:
    """Return the providers of a comma-separated list (``HARNESS_LOAD_PLUGINS``); None when all are loaded."""
    return None if names is None else {name.strip() for name in names.split(",") if name.strip()}


def _installed(only: str | None) -> Iterator[tuple[str, Path | None, HarnessError | None]]:
    keep = kept_providers(only)
    for point in sorted(importlib.metadata.entry_points(group=ENTRY_POINT_GROUP), key=lambda p: (p.name, p.value)):
        if keep is not None and point.name not in keep and (point.dist is None or point.dist.name not in keep):
            continue
        try:
            yield point.name, locate(point.value), None
        except HarnessError as error:
            yield point.name, None, error


def locate(value: str) -> Path:
    """The manifest of ``package`` or ``package:file.yaml``, found without importing the package."""
    package, _, file = value.partition(":")
    top, *rest = package.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        raise HarnessError(f"entry point {ENTRY_POINT_GROUP} names the package '{package}', which is not installed")
    for location in spec.submodule_search_locations:
        path = Path(location, *rest, file or FILE_NAME)
        if path.is_file():
            return path
    raise HarnessError(f"the package '{package}' holds no {file or FILE_NAME}")


def _read(path: Path, provider: str, kinds: Sequence[str], local: bool = False) -> Manifest:
    import yaml

    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise HarnessError(
            f"{path}{f':{mark.line + 1}' if mark else ''}: not valid YAML: {getattr(error, 'problem', error)}"
        ) from error
    if not isinstance(data, Mapping):
        raise HarnessError(f"{path}: a registry is a mapping of kinds; found {type(data).__name__}")
    for key in data:
        if key not in TOP_KEYS and key not in kinds:
            raise HarnessError(f"{path}: unknown key '{key}'{did_you_mean(key, [*kinds, *TOP_KEYS])}")
    _check_api(path, data)
    name = str(data.get("provider", provider))
    entries = [
        _entry(path, kind, entry_name, raw, name, local)
        for kind in kinds
        for entry_name, raw in _pairs(path, kind, data.get(kind) or {})
    ]
    return Manifest(name, str(path), tuple(entries), _hooks(path, data.get("hooks") or []), local)


def _hooks(path: Path, section: Any) -> tuple[str, ...]:
    """Return the hook modules of a manifest: texts, or mappings with ``target``."""
    items = [section] if isinstance(section, (str, Mapping)) else section
    targets = [item.get("target") if isinstance(item, Mapping) else item for item in items] if items else []
    modules = [target for target in targets if isinstance(target, str) and target]
    if len(modules) < len(targets):
        raise HarnessError(f'{path}: hooks is a list of modules ("package.module"); found {section!r:.80}')
    return tuple(modules)


def _check_api(path: Path, data: Mapping[str, Any]) -> None:
    if data.get("api", 1) != 1:
        raise HarnessError(f"{path}: manifest api {data['api']!r} is not known; this harness reads api 1")
    wanted = data.get("requires_harness")
    if wanted:
        from harness.registry.versions import satisfies

        if not satisfies(__version__, str(wanted)):
            raise HarnessError(f"{path}: asks for harness {wanted}; this is harness {__version__}")


def _pairs(path: Path, kind: str, section: Any) -> list[tuple[str, Mapping[str, Any]]]:
    pairs: list[tuple[str, Mapping[str, Any]]]
    if isinstance(section, Mapping):
        pairs = [(str(name), {"import": raw} if isinstance(raw, str) else raw or {}) for name, raw in section.items()]
    elif isinstance(section, list) and all(isinstance(raw, Mapping) and "name" in raw for raw in section):
        pairs = [(str(raw["name"]), raw) for raw in section]
    else:
        raise HarnessError(f"{path}: '{kind}' must map names to entries, or list entries with a name")
    return pairs


def _entry(path: Path, kind: str, name: str, raw: Mapping[str, Any], provider: str, local: bool) -> Entry:
    if not isinstance(raw, Mapping):
        raise HarnessError(f"{path}: {kind}.{name} must be a mapping; found {raw!r}")
    for key in raw:
        if key not in ENTRY_KEYS:
            raise HarnessError(f"{path}: {kind}.{name}: unknown key '{key}'{did_you_mean(key, ENTRY_KEYS)}")
    target = str(raw.get("import") or raw.get("target") or "")
    if not target and not raw.get("path"):
        raise HarnessError(
            f"{path}: {kind}.{name} needs 'import: \"package.module:Object\"'"
            + (" or 'path'" if kind == "tasks" else "")
        )
    if target and ":" not in target and kind not in HIDDEN:
        raise HarnessError(f"{path}: {kind}.{name}: import is '{target}'; expected \"package.module:Object\"")
    extra = raw.get("extra", raw.get("extras", ""))
    return Entry(
        kind=kind,
        name=name,
        provider=provider,
        source=str(path),
        folder=path.parent,
        target=target,
        path=str(raw.get("path", "")),
        summary=str(raw.get("summary", "")),
        extra=",".join(map(str, extra)) if isinstance(extra, (list, Mapping)) else str(extra or ""),
        level=str(raw.get("level", "")),
        needs=tuple(map(str, raw.get("needs") or ())),
        higher_is_better=raw.get("higher_is_better"),
        aliases=tuple(map(str, raw.get("aliases") or ())),
        version=str(raw.get("version", "")),
        role=str(raw.get("role", "")),
        local=local,
    )
