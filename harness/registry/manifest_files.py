"""Reading manifests: YAML data about components, never code.

A manifest that cannot be read, or that asks for another harness, becomes a :class:`PluginFailure`; the others go on working.
``HARNESS_STRICT_PLUGINS=1`` raises instead. ``HARNESS_LOAD_PLUGINS=a,b`` keeps only those installed providers (empty: none).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from harness.errors import HarnessError
from harness.registry.manifest_schema import Manifest, PluginFailure, parse_manifest

BUILT_IN = "harness"
"""Provider of the components that ship with the harness."""
ENTRY_POINT_GROUP = "harness.manifests"
FILE_NAME = "registry.yaml"


def find_manifests(
    files: Sequence[Path], directory: Path, only: str | None
) -> tuple[list[Manifest], list[PluginFailure]]:
    """Built-in, installed, the directory's own and the given manifests, in this order; and what failed."""
    built_in = Path(__file__).parent.parent / FILE_NAME
    manifests = [_read(built_in, BUILT_IN)]
    failures: list[PluginFailure] = []
    for provider, path, error in _installed(only):
        try:
            if error is not None:
                raise error
            assert path is not None
            manifests.append(_read(path, provider))
        except (HarnessError, OSError) as problem:
            if os.environ.get("HARNESS_STRICT_PLUGINS") == "1":
                raise
            failures.append(PluginFailure(provider, "manifest", str(problem), problem))
    local_file = directory / FILE_NAME
    if local_file.is_file() and local_file.resolve() != built_in.resolve():
        manifests.append(_read(local_file, directory.name, local=True))
    for file in files:
        if not file.is_file():
            raise HarnessError(f"{file}: no such registry file")
        if file.resolve() not in (built_in.resolve(), local_file.resolve()):
            manifests.append(_read(file, file.parent.name, local=True))
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


def _read(path: Path, provider: str, *, local: bool = False) -> Manifest:
    import yaml

    loader = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        data: object = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise HarnessError(f"{path}{line}: not valid YAML: {getattr(error, 'problem', None) or error}") from error
    return parse_manifest(path, {} if data is None else data, provider, local=local)
