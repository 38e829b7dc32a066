"""Reading manifests: YAML data about components, never code.

A manifest that cannot be read, or that asks for another harness, becomes a
:class:`PluginFailure`; the others go on working. ``HARNESS_STRICT_PLUGINS=1`` raises
instead. ``HARNESS_LOAD_PLUGINS=a,b`` keeps only those installed providers (empty:
none). ``HARNESS_LOCAL_PLUGINS=0`` leaves out the ``registry.yaml`` of the working
directory.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import cast

import yaml

from harness.errors import HarnessError
from harness.files.yaml_source import load
from harness.registry.manifest_schema import Manifest, PluginFailure, parse_manifest

BUILT_IN = "harness"
"""Provider of the components that ship with the harness; only manifests of
:data:`BUILT_IN_DISTRIBUTION` may name it.
"""
BUILT_IN_DISTRIBUTION = "caption-harness"
"""Distribution of the harness itself."""
ENTRY_POINT_GROUP = "harness.manifests"
"""Group of the entry points that name packages with a manifest."""
FILE_NAME = "registry.yaml"
"""Name of a manifest."""
LOCAL_PLUGINS = "HARNESS_LOCAL_PLUGINS"
"""Environment variable; 0: the ``registry.yaml`` of the working directory is not read.
"""
MAX_BYTES = 1 << 18
"""Maximum size of a manifest."""


def local_plugins() -> bool:
    """Return True unless ``HARNESS_LOCAL_PLUGINS`` is 0: the ``registry.yaml`` of the
    working directory is in use.
    """
    return os.environ.get(LOCAL_PLUGINS, "1") != "0"


def find_manifests(
    files: Sequence[Path], directory: Path, only: str | None, *, local: bool = True
) -> tuple[list[Manifest], list[PluginFailure]]:
    """Return the built-in, the installed, the directory's and the given manifests, in
    this order; and the failures.

    Parameters
    ----------
    files : sequence of Path
        Files of ``--registry``.
    directory : Path
        The working directory.
    only : str or None
        Providers of installed manifests to read, comma-separated; None: all.
    local : bool
        Read the manifest of the directory.

    Raises
    ------
    HarnessError
        A file of ``files`` cannot be read, or any manifest cannot with
        ``HARNESS_STRICT_PLUGINS=1``.
    """
    manifests: list[Manifest] = []
    failures: list[PluginFailure] = []
    installed = list(_find_installed_manifests(only))
    built_in_first = sorted(installed, key=lambda item: not item[1])
    for provider, built_in, path, error in built_in_first:
        try:
            if error is not None:
                raise error
            assert path is not None
            manifests.append(_read(path, provider, built_in=built_in))
        except (HarnessError, OSError) as problem:
            # A damaged installation has no numbers that can be trusted.
            if built_in:
                raise
            failures.append(_failure(provider, problem))

    local_file = directory / FILE_NAME
    if local and local_file.is_file():
        try:
            manifests.append(_read(local_file, directory.name, local=True))
        except (HarnessError, OSError) as problem:
            failures.append(_failure(directory.name, problem, local=True))

    read = {local_file.resolve()} if local else set[Path]()
    for file in files:
        if not file.is_file():
            raise HarnessError(f"{file}: no such registry file")
        if file.resolve() not in read:
            manifests.append(_read(file, file.parent.name, local=True))
    return manifests, failures


def _failure(
    provider: str, problem: HarnessError | OSError, *, local: bool = False
) -> PluginFailure:
    """Return the failure of a manifest, or raise it with
    ``HARNESS_STRICT_PLUGINS=1``.
    """
    if os.environ.get("HARNESS_STRICT_PLUGINS") == "1":
        raise problem
    return PluginFailure(provider, "manifest", str(problem), problem, local)


def kept_providers(names: str | None) -> set[str] | None:
    """Return the providers of a comma-separated list (``HARNESS_LOAD_PLUGINS``); None
    when all are loaded.
    """
    if names is None:
        return None
    return {name.strip() for name in names.split(",") if name.strip()}


def _find_installed_manifests(
    only: str | None,
) -> Iterator[tuple[str, bool, Path | None, HarnessError | None]]:
    """Yield name, whether it ships with the harness, and file or error, for each entry
    point; ``only`` keeps some plugins.
    """
    keep = kept_providers(only)
    points = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        distribution = point.dist.name if point.dist is not None else ""
        built_in = distribution == BUILT_IN_DISTRIBUTION
        if keep is not None and not built_in and not {point.name, distribution} & keep:
            continue
        try:
            yield point.name, built_in, locate(point.value), None
        except HarnessError as error:
            yield point.name, built_in, None, error


def locate(value: str) -> Path:
    """Return the manifest of ``package`` or ``package:file.yaml``, found without
    importing the package.
    """
    package, _, file = value.partition(":")
    top, *subpackages = package.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        raise HarnessError(
            f"entry point {ENTRY_POINT_GROUP} names the package '{package}', "
            "which is not installed"
        )
    for location in spec.submodule_search_locations:
        path = Path(location, *subpackages, file or FILE_NAME)
        if path.is_file():
            return path
    raise HarnessError(f"the package '{package}' holds no {file or FILE_NAME}")


def _read(
    path: Path, provider: str, *, local: bool = False, built_in: bool = False
) -> Manifest:
    """Return the manifest of a file; raise :class:`HarnessError` for one that names the
    reserved provider.
    """
    data = _built_in_data(path) if built_in else _data(path)
    manifest = parse_manifest(path, data, provider, local=local)
    if manifest.provider == BUILT_IN and not built_in:
        raise HarnessError(
            f"{path}: the provider '{BUILT_IN}' is reserved; choose another name"
        )
    return manifest


@cache
def _built_in_data(path: Path) -> object:
    """Return the YAML of a manifest that ships with the harness, without the places of
    its values, four times as fast; cached, since such a file stays as it is.
    """
    fastest = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = cast("type[yaml.SafeLoader]", fastest)
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)


def _data(path: Path) -> object:
    """Return the YAML of a manifest of any origin; raise :class:`HarnessError` for
    anything that is none, or too large.
    """
    if path.stat().st_size > MAX_BYTES:
        raise HarnessError(
            f"{path}: has {path.stat().st_size:,} bytes; "
            f"a registry has at most {MAX_BYTES:,}"
        )
    return load(path, compiled=True).data
