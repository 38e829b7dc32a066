"""References of several files, joined by their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.contracts import Example, Reader
from harness.errors import InputError, counted
from harness.files.captions import quote_list


def join_readers(
    readers: Mapping[str, Reader],
    limit_references: int | None,
    *,
    partial: bool = False,
) -> Iterator[Example]:
    """Yield the examples of the first reader with the references of all of them,
    in the order of the readers.

    Media, source and meta are those of the first reader that has them.

    Parameters
    ----------
    readers : mapping
        Name of a file -> its reader; at least one.
    limit_references : int or None
        Number of references per example, the first ones of each; None: all.
    partial : bool
        Files may lack examples of others; those that the first one lacks follow.

    Raises
    ------
    InputError
        A file lacks ids of the first one, or has further ones.
    """
    (first, reader), *others = readers.items()
    groups = {example.id: [example] for example in reader}
    ids = list(groups)

    for name, other_reader in others:
        examples = {example.id: example for example in other_reader}
        if not partial:
            _check_ids(ids, list(examples), first, name)
        for key, example in examples.items():
            groups.setdefault(key, []).append(example)

    for group in groups.values():
        example = _join(group, limit_references)
        if not example.references:
            raise InputError(
                f"the example '{example.id}' has no reference in any file", first
            )
        yield example


def _check_ids(
    expected: Sequence[str], ids: Sequence[str], first: str, name: str
) -> None:
    """Raise :class:`InputError` unless a file has the ids of the first one."""
    missing = set(expected) - set(ids)
    further = set(ids) - set(expected)

    if missing:
        names = quote_list([key for key in expected if key in missing])
        raise InputError(
            f"has no references for {len(missing)} of "
            f"{counted(len(expected), 'example')} of {Path(first).name}: {names}",
            name,
        )
    if further:
        names = quote_list([key for key in ids if key in further])
        raise InputError(
            f"has references for {counted(len(further), 'example')} not in "
            f"{Path(first).name}: {names}",
            name,
        )


def _join(group: Sequence[Example], limit_references: int | None) -> Example:
    texts = [text for item in group for text in item.references]
    references = tuple(texts[:limit_references])
    media, source = (
        next(filter(None, (getattr(item, name) for item in group)), None)
        for name in ("media", "source")
    )
    meta = {key: value for item in reversed(group) for key, value in item.meta.items()}
    return replace(
        group[0], references=references, media=media, source=source, meta=meta
    )
