"""The registry in use: that of the working directory, with files that a process adds,
and components created from it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from harness.contracts import Parameters, Values
from harness.errors import HarnessError
from harness.registry.catalogue import Component, Registry
from harness.registry.component_kinds import SINGULAR
from harness.registry.manifest_files import FILE_NAME, find_manifests, local_plugins

_extra_files: list[str] = []
"""Registry files that this process added."""
_log = logging.getLogger(__name__)


@lru_cache(maxsize=8)
def _load(
    files: tuple[str, ...], directory: str, providers: str | None, local: bool
) -> Registry:
    """Return the registry of the manifests; those that fail are passed over."""
    manifests, failures = find_manifests(
        [Path(file) for file in files], Path(directory), providers, local=local
    )
    for failure in failures:
        if failure.local:
            _log.warning("note: passed over %s", failure.reason)
    return Registry(tuple(manifests), tuple(failures))


def use_files(files: Sequence[str | Path]) -> None:
    """Add registry files for this process (``--registry FILE``)."""
    _extra_files.extend(str(Path(file).resolve()) for file in files)


def current() -> Registry:
    """Return the registry as seen from the working directory, with the files of
    ``--registry``; cached.
    """
    local = local_plugins() and Path(FILE_NAME).is_file()
    # Folders without a manifest of their own have one registry.
    directory = os.getcwd() if local else ""
    return _load(
        tuple(dict.fromkeys(_extra_files)),
        directory,
        os.environ.get("HARNESS_LOAD_PLUGINS"),
        local,
    )


def split_spec(spec: object, kind: str) -> tuple[str, Values]:
    """Return ``name`` or ``{name: {params}}`` as (name, params); raises
    :class:`HarnessError` for anything else.

    >>> split_spec({"trm": {"distance": "cider"}}, "metric")
    ('trm', {'distance': 'cider'})
    """
    if isinstance(spec, str):
        return spec, {}
    if isinstance(spec, Mapping):
        entries = cast("Mapping[str, object]", spec).items() or [("", "")]
        (name, params), *others = entries
        if not others and (params is None or isinstance(params, Mapping)):
            return str(name), dict(cast("Parameters", params or {}))
    text = (
        f"a {kind} is a name or a mapping of one name to its parameters; "
        f"found {cast(object, spec)!r}"
    )
    raise HarnessError(text, value=cast(object, spec))


def create(kind: str, spec: object) -> Component:
    """Return a component from a name, a mapping ``{name: {params}}`` or a function of a
    plugin; an instance is wrapped as it is.

    Raises :class:`HarnessError` for a number, a list or None, and as
    :meth:`Registry.component` does.
    """
    if not isinstance(spec, (str, Mapping, bytes, int, float, list, tuple, type(None))):
        from harness.registry.function_components import component_of

        of_function = component_of(spec)
        return Component(spec if of_function is spec else of_function())
    name, params = split_spec(cast(object, spec), SINGULAR[kind])
    return current().component(kind, name, params)


def resolve(kind: str, spec: object) -> Any:
    """Return the instance of :func:`create`."""
    return create(kind, spec).instance
