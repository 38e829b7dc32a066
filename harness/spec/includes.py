"""Files of a spec merged: the keys of a file override those of the files that it
includes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from harness.errors import InputError
from harness.files.yaml_source import Located, YamlValue, load
from harness.spec.validation import shorten
from harness.spec.variants import settle_variant

_CONTENT = ("dataset", "judgments")
"""Keys that make a file a task of its own, not a fragment."""
VIEWS = "views"
"""Key of the plots and tables of a spec, which are made for its other keys."""


def read_with_includes(path: Path, name: str, stack: tuple[Path, ...]) -> list[Located]:
    """Return the specs of a file with its includes merged; ``stack`` holds the files
    that include it.
    """
    resolved = path.resolve()
    tree = load(path, name)
    if not isinstance(tree.data, dict):
        raise InputError(
            f"a spec is a mapping of keys; found {type(tree.data).__name__}", name
        )
    tree = settle_variant(tree, path.parent)
    includes: YamlValue = tree.data.pop("include", None)
    if includes is None:
        return [tree]

    include_tree = Located(None, tree.part(("include",)))
    bases: list[Located] = []
    for index, item in enumerate(_list_files(includes, include_tree)):
        beside = path.parent / item
        target = beside if os.path.isfile(beside) else Path(item)
        # False, not an error, for a name that no file can have.
        if not os.path.isfile(target):
            raise InputError(
                f"included file {shorten(item)} does not exist",
                include_tree.where((index,)),
            )
        including = (*stack, resolved)
        if target.resolve() in including:
            chain = [file.name for file in (*including, target.resolve())]
            raise InputError(
                f"the spec includes itself: {' -> '.join(chain)}",
                include_tree.where((index,)),
            )
        bases.extend(read_with_includes(target, str(target), including))

    full = [base for base in bases if _is_task(base)]
    fragments = [base for base in bases if not _is_task(base)]
    if _is_task(tree) or not full:
        return [_merge([*full, *fragments, tree])]
    if len(full) > 1 and "task" in tree.data:
        raise InputError(
            "a suite has no task name: each part has a run directory named after its "
            "own task; remove 'task'",
            tree.where(("task",)),
        )
    # A suite: one spec for each data set, each with the keys of this file.
    return [_merge([base, *fragments, tree]) for base in full]


def _list_files(includes: YamlValue, tree: Located) -> list[str]:
    """Return the file names of ``include``: one text, or a list of them."""
    if isinstance(includes, str):
        return [includes]
    if isinstance(includes, list):
        names = cast("list[YamlValue]", includes)
        if all(isinstance(item, str) for item in names):
            return cast("list[str]", names)
    raise InputError("include is a file name or a list of file names", tree.where(()))


def _is_task(tree: Located) -> bool:
    """Return True for a task of its own, False for a fragment."""
    return any(name in tree.data for name in _CONTENT)


def _merge(trees: Iterable[Located]) -> Located:
    """Return the trees merged by their top-level keys; later trees override earlier
    ones.
    """
    merged = Located({}, {})
    for tree in trees:
        merged.locations[()] = tree.locations.get((), ("spec", 0))
        merged.replaced |= tree.replaced | (merged.data.keys() & tree.data.keys())
        merged.dropped |= tree.dropped
        if VIEWS in tree.data:
            # Views of the later file are for its keys.
            merged.replaced = tree.replaced
        for key, value in tree.data.items():
            merged.put((key,), value, tree.part((key,)))
    return merged
