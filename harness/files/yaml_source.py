"""YAML with line numbers: data, and the file and line of every key in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from harness.errors import InputError

MAX_BYTES = 1 << 22
"""Maximum size of a YAML file."""
MAX_DEPTH = 50
"""Maximum number of levels in a YAML file."""
MAX_NODES = 100_000
"""Maximum number of values in a YAML file, with aliases written out."""
YamlValue = Any
"""A value of YAML as loaded, of any type."""
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
"""A scalar without quotes that YAML 1.1 may read as a number of base 60."""
Key = tuple[str | int | float | bool, ...]
"""Keys and list indices that lead to a value."""
Loader = Any
"""``yaml.SafeLoader`` or, where it is there, ``yaml.CSafeLoader``."""


@dataclass
class Located:
    """Data and the places of its keys."""

    data: YamlValue
    """Mappings, lists and scalars."""
    locations: dict[Key, tuple[str, int]] = field(default_factory=dict)
    """Path of keys and list indices -> (file, line counted from 1)."""
    replaced: frozenset[str] = frozenset()
    """Top-level keys whose value is another than that of the file that holds the other
    keys.
    """
    dropped: frozenset[str] = frozenset()
    """Top-level keys of which items are left out by a condition."""

    def where(self, key: Key) -> str:
        """Return ``file:line`` of a path, or of its nearest ancestor that has one."""
        name, line = self.place(key)
        return f"{name}:{line}" if line else name

    def place(self, key: Key) -> tuple[str, int]:
        """Return file and line of a path, or of its nearest ancestor that has one; line
        0 means that there is none.
        """
        for length in range(len(key), -1, -1):
            location = self.locations.get(tuple(key[:length]))
            if location is not None:
                return location
        return "spec", 0

    def put(
        self, key: Key, value: YamlValue, locations: dict[Key, tuple[str, int]]
    ) -> None:
        """Replace the top-level entry ``key[0]`` and its places; ``locations`` are
        relative to ``key``.
        """
        assert len(key) == 1
        self.data[key[0]] = value
        others = {
            path: location
            for path, location in self.locations.items()
            if path[:1] != key
        }
        below = {key + path: location for path, location in locations.items()}
        self.locations = others | below

    def walk(self) -> Iterator[tuple[Key, YamlValue]]:
        """Yield all values at any depth with their keys, each mapping and list before
        its items.
        """
        waiting: list[tuple[Key, YamlValue]] = [((), self.data)]
        while waiting:
            key, value = waiting.pop()
            yield key, value
            if isinstance(value, dict):
                items = cast("dict[Any, YamlValue]", value).items()
            elif isinstance(value, list):
                items = enumerate(cast("list[YamlValue]", value))
            else:
                continue
            waiting += [((*key, name), item) for name, item in items]

    def part(self, key: Key) -> dict[Key, tuple[str, int]]:
        """Return the places at and below ``key``, relative to it."""
        return {
            path[len(key) :]: location
            for path, location in self.locations.items()
            if path[: len(key)] == key
        }


def load(
    path: Path, display_name: str | None = None, *, compiled: bool = False
) -> Located:
    """Return the data of a YAML file with its places, read by the safe loader.

    Parameters
    ----------
    path : Path
        File to read.
    display_name : str, optional
        Name of the file in places and messages; ``path`` by default.
    compiled : bool, default False
        Parse with libyaml, ten times as fast, and again without it where libyaml
        refuses the text, for the message.

    Raises
    ------
    InputError
        For a missing file, invalid YAML (with the line), a key that occurs twice in one
        mapping, or aliases that make more than :data:`MAX_NODES` values.
    """
    name = display_name or str(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)

        # Bounded before it is decoded: the file may be of any size.
        if len(data) > MAX_BYTES:
            raise InputError(
                f"a YAML file has at most {MAX_BYTES:,} bytes; found more", name
            )
        text = data.decode("utf-8")
    except FileNotFoundError:
        raise InputError("no such YAML file", name) from None
    except IsADirectoryError:
        raise InputError("is a folder; expected a YAML file", name) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start})", name) from None
    return loads(text, name, compiled=compiled)


def loads(text: str, name: str, *, compiled: bool = False) -> Located:
    """Return the data of a YAML text with its places; ``name`` stands for the file.

    Raises as :func:`load`.

    >>> source = loads("task: coco\\ndataset: {reader: jsonl}", "spec.yaml")
    >>> source.data["dataset"], source.where(("dataset", "reader"))
    ({'reader': 'jsonl'}, 'spec.yaml:2')
    """
    if compiled and _compiled_reads(text):
        with suppress(InputError):
            return _locate(text, name, yaml.CSafeLoader)
    return _locate(text, name, yaml.SafeLoader)


def _locate(text: str, name: str, kind: Any) -> Located:
    """Return the data of a YAML text as a class of loaders of PyYAML reads it; raises
    as :func:`load`.
    """
    try:
        loader: Loader = kind(text)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"not valid YAML: {reason}", name) from None

    # The nodes are looked at before values are made of them, which may be many more.
    located = Located({})
    try:
        node = loader.get_single_node()
        if node is None:
            return located
        if _depth(node) > MAX_DEPTH:
            raise RecursionError
        if _size(node, {}) > MAX_NODES:
            raise InputError(
                f"aliases (*name) make more than {MAX_NODES:,} values", name
            )
        located.data = _build(loader, node, (), name, located.locations)
        return located
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise InputError(
            f"not valid YAML: {error.problem or error.context}", f"{name}{line}"
        ) from None
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {error}", name) from None
    except (ValueError, OverflowError) as error:
        # A number or date that Python cannot represent.
        reason = " ".join(str(error).split())
        raise InputError(f"not valid YAML: {reason}", name) from None
    except RecursionError:
        raise InputError(
            "a value holds itself, or is nested too deeply", name
        ) from None
    finally:
        loader.dispose()


def _compiled_reads(text: str) -> bool:
    """Return True where libyaml is there and reads a text of few levels; its composer
    has no bound of its own.
    """
    if not hasattr(yaml, "CSafeLoader"):
        return False
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                return False
    except yaml.YAMLError:
        return False
    return True


def parse_value(text: str) -> YamlValue:
    """Return the value of a short YAML text, None for an empty one; raises as
    :func:`load`.

    >>> parse_value("[1, two]"), parse_value("")
    ([1, 'two'], None)
    """
    return loads(text, "value").data if text.strip() else None


def _depth(node: yaml.Node) -> int:
    """Return the number of levels below a node, at most one more than
    :data:`MAX_DEPTH`.
    """
    # Each node once, however many aliases lead to it: there may be billions of paths.
    level = [node]
    depth = 0
    while level and depth <= MAX_DEPTH:
        depth += 1
        below = {id(child): child for item in level for child in _children(item)}
        level = list(below.values())
    return depth


def _children(node: yaml.Node) -> list[yaml.Node]:
    """Return the items of a list, or the keys and values of a mapping."""
    if isinstance(node, yaml.SequenceNode):
        return node.value
    if isinstance(node, yaml.MappingNode):
        return [item for pair in node.value for item in pair]
    return []


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Return the number of nodes at and below a node, aliases written out; raise
    RecursionError for a node in itself.
    """
    if id(node) in sizes:
        if not sizes[id(node)]:
            raise RecursionError
        return sizes[id(node)]
    sizes[id(node)] = 0  # while its items are counted
    sizes[id(node)] = 1 + sum(_size(child, sizes) for child in _children(node))
    return sizes[id(node)]


def _build(
    loader: Loader,
    node: yaml.Node,
    key: Key,
    name: str,
    locations: dict[Key, tuple[str, int]],
) -> YamlValue:
    """Return the data of a node and add the places at and below ``key`` to
    ``locations``.
    """
    line = node.start_mark.line + 1
    locations.setdefault(key, (name, line))
    if isinstance(node, yaml.MappingNode):
        loader.flatten_mapping(node)
        mapping: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            label = loader.construct_object(key_node, deep=True)
            if not isinstance(label, (str, int, float, bool)):
                raise InputError(
                    f"a key must be text, a number or a boolean; found {label!r}",
                    f"{name}:{line}",
                )
            if label in mapping:
                raise InputError(f"the key '{label}' is given twice", f"{name}:{line}")
            below = (*key, label)
            locations[below] = (name, line)
            mapping[label] = _build(loader, value_node, below, name, locations)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [
            _build(loader, child, (*key, index), name, locations)
            for index, child in enumerate(node.value)
        ]

    # 12:30 without quotes is the number 750 in YAML 1.1: nobody means that.
    is_plain = isinstance(node, yaml.ScalarNode) and node.style is None
    if is_plain and _BASE_60.fullmatch(node.value):
        value = loader.construct_object(node)
        if not isinstance(value, str):
            raise InputError(
                f"YAML reads {node.value} as {value} (base 60); "
                f"write '{node.value}' in quotes for a text, or the number",
                f"{name}:{line}",
            )
    return loader.construct_object(node, deep=True)
