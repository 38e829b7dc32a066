"""Recognition of path parameters in a spec, by the annotation of the component's
constructor (``PathParam``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, cast

from harness.contracts import Parameters
from harness.contracts.parameters import path_parameters
from harness.errors import HarnessError
from harness.files.yaml_source import Key, YamlValue
from harness.registry import current
from harness.registry.component_kinds import KINDS

SECTIONS = {"adapters": "models", "metrics": "metrics"}
"""Kind of components -> key of a spec that lists them."""
_KINDS_OF_SECTIONS = {section: kind for kind, section in SECTIONS.items()}


def is_path(data: Parameters, key: Key) -> bool:
    """Return True when the value at ``key`` of a spec is the path parameter of a
    component.

    Parameters
    ----------
    data : mapping
        The spec as loaded.
    key : tuple
        Path to the value, such as ``("models", 0, "clipcap", "checkpoint")``.
    """
    if key[:1] == ("include",):
        return True
    if key[:1] == ("judgments",) and _is_judgment_path(key[1:]):
        return True
    reader, below = _nearest_reader(data, key)
    if reader is not None:
        return _below("readers", reader, below)
    if len(key) >= 4 and key[0] in _KINDS_OF_SECTIONS:
        return _below(_KINDS_OF_SECTIONS[str(key[0])], str(key[2]), key[3:])
    return False


def _is_judgment_path(key: Key) -> bool:
    """Return True for a file of a judgment set: ``path`` or an item of it, there or in
    ``references`` and ``system_scores``.
    """
    return "path" in key[:2] or key[:2] == ("hf", "name")


def _nearest_reader(data: Parameters, key: Key) -> tuple[str | None, Key]:
    """Return the reader of the innermost ``{reader: NAME, ...}`` around a key, and the
    rest of the key below it.
    """
    here: YamlValue = data
    reader: str | None = None
    below = key
    for depth, step in enumerate(key):
        if isinstance(here, Mapping):
            name = cast("Mapping[Any, Any]", here).get("reader")
            if isinstance(name, str):
                reader = name
                below = key[depth:]
        here = cast("Any", here)[step]
    return reader, below


def _below(kind: str, name: str, key: Key) -> bool:
    """Return True when ``key``, relative to the parameters of a component, is a path of
    it or of a component nested in it.
    """
    if key[0] in paths_of(kind, name):
        return True
    # {distance: {cider: {df: PATH}}}: a component within a parameter.
    for component, parameter in pairwise(key[1:]):
        if not isinstance(component, str):
            continue
        nested = [kind for kind in KINDS if _is_registered(kind, component)]
        if any(parameter in paths_of(kind, component) for kind in nested):
            return True
    return False


def _is_registered(kind: str, name: str) -> bool:
    """Return True for a name of a component; tasks have no parameters."""
    return kind != "tasks" and bool(current().match_entries(kind, name))


def paths_of(kind: str, name: str) -> set[str]:
    """Return the names of the path parameters of a component; empty for one that cannot
    be imported, which the plan reports.
    """
    try:
        factory: Callable[..., object] = current().load(kind, name)
    except HarnessError:
        return set()
    return path_parameters(factory)
