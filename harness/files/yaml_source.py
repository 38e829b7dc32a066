"""YAML with line numbers: plain data, and for every path in it the file and line where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness.errors import InputError

Key = tuple[str | int | float | bool, ...]


@dataclass
class Located:
    """Plain data and the place of each of its paths."""

    data: Any
    places: dict[Key, tuple[str, int]] = field(default_factory=dict)

    def where(self, key: Key) -> str:
        """``file:line`` of a path, or of its nearest ancestor that has one."""
        name, line = self.place(key)
        return f"{name}:{line}" if line else name

    def place(self, key: Key) -> tuple[str, int]:
        """File and line of a path, or of its nearest ancestor that has one; line 0 is no line of a file."""
        for length in range(len(key), -1, -1):
            place = self.places.get(tuple(key[:length]))
            if place is not None:
                return place
        return "spec", 0

    def put(self, key: Key, value: Any, places: dict[Key, tuple[str, int]]) -> None:
        """Replace the top-level entry ``key[0]`` by ``value``, its places with it (relative to ``key``)."""
        assert len(key) == 1
        self.data[key[0]] = value
        self.places = {path: place for path, place in self.places.items() if path[:1] != key}
        self.places.update({key + path: place for path, place in places.items()})

    def part(self, key: Key) -> dict[Key, tuple[str, int]]:
        """The places below ``key``, relative to it."""
        return {path[len(key) :]: place for path, place in self.places.items() if path[: len(key)] == key}


def load(path: Path, shown: str | None = None) -> Located:
    """Read a YAML file safely. Raises :class:`InputError` for a missing file, broken YAML (with line), a key given twice."""
    name = shown or str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError("no such spec file", name) from None
    except IsADirectoryError:
        raise InputError("is a folder; expected a YAML file", name) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start})", name) from None
    return loads(text, name)


def loads(text: str, name: str) -> Located:
    """Parse YAML text; ``name`` is what places show as the file."""
    try:
        loader = yaml.SafeLoader(text)
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {' '.join(str(error).split())}", name) from None
    try:
        node = loader.get_single_node()
        located = Located(None)
        located.data = _build(loader, node, (), name, located.places) if node is not None else {}
        return located
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise InputError(f"not valid YAML: {error.problem or error.context}", f"{name}{line}") from None
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {error}", name) from None
    except RecursionError:
        raise InputError("a value holds itself, or is nested too deeply", name) from None
    finally:
        loader.dispose()


def _build(loader: yaml.SafeLoader, node: yaml.Node, key: Key, name: str, places: dict[Key, tuple[str, int]]) -> Any:
    places.setdefault(key, (name, node.start_mark.line + 1))
    if isinstance(node, yaml.MappingNode):
        loader.flatten_mapping(node)
        mapping: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            label = loader.construct_object(key_node, deep=True)  # type: ignore[no-untyped-call]
            if not isinstance(label, (str, int, float, bool)):
                raise InputError(f"a key must be a word; found {label!r}", f"{name}:{key_node.start_mark.line + 1}")
            if label in mapping:
                raise InputError(f"the key '{label}' is given twice", f"{name}:{key_node.start_mark.line + 1}")
            below = (*key, label)
            places[below] = (name, key_node.start_mark.line + 1)
            mapping[label] = _build(loader, value_node, below, name, places)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_build(loader, child, (*key, index), name, places) for index, child in enumerate(node.value)]
    return loader.construct_object(node, deep=True)  # type: ignore[no-untyped-call]
