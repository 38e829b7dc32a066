"""Files that a task reads and this machine lacks. Nothing heavy is imported: it is part
of the list of tasks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import yaml

from harness.contracts import Values
from harness.files.yaml_source import YamlValue
from harness.spec.conditions import VARIABLE

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def find_missing(task: Path) -> str:
    """Return the environment variable whose files a task needs and does not find; an
    empty text where nothing is missing.

    Parameters
    ----------
    task : Path
        File of a spec. Its components are not looked at, and a file that is no spec
        misses nothing. What has a condition (``when``) may be missing; of several
        variants one is enough.
    """
    return _of_file(task, ())


def _of_file(file: Path, including: tuple[Path, ...]) -> str:
    """Return the first missing variable of a file and of those that it includes."""
    try:
        tree = yaml.load(file.read_bytes(), _Loader)
    except (OSError, yaml.YAMLError, UnicodeDecodeError):
        return ""
    if not isinstance(tree, dict) or file in including:
        return ""

    content = cast("Values", tree)
    variants = [item for item in _as_list(content.pop("variants", [])) if item]
    missing = [_first(variant) for variant in variants]
    missing = [""] if "" in missing else missing[:1]

    names = _as_list(content.pop("include", []))
    files = [file.parent / name for name in names if isinstance(name, str)]
    missing += [_of_file(included, (*including, file)) for included in files]
    return next(filter(None, [*missing, _first(content)]), "")


def _first(tree: YamlValue) -> str:
    """Return the first missing variable of a part of a spec."""
    return next(_missing(tree), "")


def _missing(tree: YamlValue) -> Iterator[str]:
    """Yield the variables that are not set, or whose files are not there."""
    if isinstance(tree, dict):
        for key, value in cast("dict[Any, Any]", tree).items():
            optional = isinstance(value, dict) and "when" in value
            if key != "when" and not optional:
                yield from _missing(value)
    elif isinstance(tree, list):
        for item in cast("list[YamlValue]", tree):
            if not (isinstance(item, dict) and "when" in item):
                yield from _missing(item)
    elif isinstance(tree, str):
        for match in VARIABLE.finditer(tree):
            name = match["name"]
            value = os.environ.get(name) or match["default"]
            path = VARIABLE.sub(lambda _, text=value or "": text, tree)
            if value is None or (path.startswith(os.sep) and not os.path.exists(path)):
                yield name


def _as_list(value: YamlValue) -> list[YamlValue]:
    return cast("list[YamlValue]", value) if isinstance(value, list) else [value]
