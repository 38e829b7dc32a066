"""Conditions of a spec: the key ``when`` of variants, and of single models and metrics.

``when: {exists: PATH}`` holds where the path exists, ``when: {installed: NAME}`` where
the distribution is installed; both keys take lists, all of whose items must hold.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Iterator, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, cast

from harness.contracts import Values
from harness.errors import InputError
from harness.files.yaml_source import Located, YamlValue

VARIABLE = re.compile(
    r"\$\{(?P<secret>secret:)?"
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"(?::-(?P<default>[^}]*))?\}"
)
"""``${NAME}``, ``${NAME:-default}`` and ``${secret:NAME}``."""
KEYS = ("exists", "installed")
"""Keys of a condition."""
CONDITIONAL = ("models", "metrics")
"""Keys of a spec whose items may have a condition."""


def holds(when: YamlValue, folder: Path, location: str) -> bool:
    """Return True when every part of a condition holds; None is no condition.

    Parameters
    ----------
    when : mapping or None
        ``exists``: one path or several, in the working directory or in ``folder``; one
        with an environment variable that is not set does not exist. ``installed``: one
        distribution or several.
    folder : Path
        Folder of the spec.
    location : str
        Place of the condition, for messages.

    Raises
    ------
    InputError
        Anything else.
    """
    return when is None or not _unmet(when, folder, location)


def drop_unmet(tree: Located, folder: Path) -> list[str]:
    """Remove the models and metrics whose condition does not hold, and ``when`` from
    the others.

    Parameters
    ----------
    tree : Located
        The spec as loaded; changed in place.
    folder : Path
        Folder of the spec.

    Returns
    -------
    list of str
        Sentences for the notice, with the items left out and what they lack; variables
        in them are not expanded.

    Raises
    ------
    InputError
        A condition that is malformed, or a list of which no item remains.
    """
    notes: list[str] = []
    for key in CONDITIONAL:
        value: YamlValue = tree.data.get(key)
        items = cast("list[YamlValue]", value) if isinstance(value, list) else []
        if any(map(_has_condition, items)):
            notes += _filter(tree, key, items, folder)
    return notes


def extend_notice(tree: Located, notes: Sequence[str]) -> None:
    """Add sentences to the notice of a spec."""
    if notes:
        notice = " ".join([str(tree.data.get("notice", "")), *notes]).strip()
        location = tree.locations.get(("notice",), ("spec", 0))
        tree.put(("notice",), notice, {(): location})


def _has_condition(item: YamlValue) -> bool:
    """Return True for ``when`` beside a component; alone it is a component's name."""
    return isinstance(item, dict) and "when" in item and len(cast("Values", item)) > 1


def _filter(tree: Located, key: str, items: list[YamlValue], folder: Path) -> list[str]:
    """Replace the list of a key by the items whose condition holds, with their places;
    return what to say of the others.
    """
    locations = tree.part((key,))
    left: list[tuple[str, list[str]]] = []
    remaining: list[YamlValue] = []
    new_locations = {(): locations[()]} if () in locations else {}
    for index, item in enumerate(items):
        if _has_condition(item):
            component = dict(cast("Values", item))
            location = tree.where((key, index, "when"))
            unmet = _unmet(component.pop("when"), folder, location)
            if unmet:
                left.append((", ".join(starmap(_name, component.items())), unmet))
                continue
            item = component
        # The places of the items that remain move up.
        new_locations |= {
            (len(remaining), *path[1:]): address
            for path, address in locations.items()
            if path[:1] == (index,)
        }
        remaining.append(item)

    if not remaining:
        raise InputError(
            f"no condition of {key} holds: {'; '.join(left[0][1])}", tree.where((key,))
        )
    tree.put((key,), remaining, new_locations)
    if not left:
        return []
    tree.dropped |= {key}
    return [_note(key, left)]


def _name(name: str, params: YamlValue) -> str:
    """Return a component's name with its parameters: ``trm(distance: bert)``."""
    if not isinstance(params, dict) or not params:
        return name
    texts = [f"{key}: {value}" for key, value in cast("Values", params).items()]
    return f"{name}({', '.join(texts)})"


def _note(key: str, left: Sequence[tuple[str, list[str]]]) -> str:
    """Return the sentences that name the items left out, grouped by what they lack."""
    groups: dict[str, list[str]] = {}
    for name, unmet in left:
        names = groups.setdefault("; ".join(unmet), [])
        if name not in names:
            names.append(name)
    return " ".join(
        f"Left out of the {key}: {', '.join(names)} ({reason})."
        for reason, names in groups.items()
    )


def _unmet(when: YamlValue, folder: Path, location: str) -> list[str]:
    """Return one phrase for each part of a condition that does not hold."""
    if not isinstance(when, dict) or not when:
        raise InputError(
            "when is a mapping 'exists: PATH' or 'installed: PACKAGE'", location
        )
    conditions = cast("Values", when)
    for name in conditions:
        if name not in KEYS:
            raise InputError.of_name(
                "when has no key", name, KEYS, "keys are", location
            )

    paths = list(_texts(conditions, "exists", location))
    unmet = [f"{path} does not exist" for path in paths if not _exists(path, folder)]
    packages = list(_texts(conditions, "installed", location))
    missing = [name for name in packages if not _is_installed(name)]
    if missing:
        unmet.append(f"not installed: pip install {' '.join(missing)}")
    return unmet


def _texts(conditions: Values, key: str, location: str) -> Iterator[str]:
    """Yield the texts of one key of a condition."""
    value: YamlValue = conditions.get(key, [])
    for item in cast("list[Any]", value) if isinstance(value, list) else [value]:
        if not isinstance(item, str):
            raise InputError(
                f"when: {key} is a text or a list of texts; found {item!r:.80}",
                location,
            )
        yield item


def _exists(value: str, folder: Path) -> bool:
    """Return True for a path that exists, in the working directory or in a folder."""
    for match in VARIABLE.finditer(value):
        if match["default"] is None and not os.environ.get(match["name"]):
            return False
    text = VARIABLE.sub(
        lambda match: os.environ.get(match["name"]) or match["default"] or "", value
    )
    # False, not an error, for a name that no file can have.
    return os.path.exists(text) or os.path.exists(folder / text)


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False
    return True
