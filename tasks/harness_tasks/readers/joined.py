"""References of several files, joined by their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.contracts import Example, Reader
from harness.errors import InputError
from harness.files.captions import quote_list


def join_readers(readers: Mapping[str, Reader], limit_references: int | None) -> Iterator[Example]:
    """Yield the examples of the first reader with the references of all of them, in the order of the readers.

    Media, source and meta are those of the first reader that has them.

    Parameters
    ----------
    readers : mapping
        Name of a file -> its reader; at least one.
    limit_references : int or None
        Number of references per example, the first ones of each; None: all.

    Raises
    ------
    InputError
        A file lacks ids of the first one, or has further ones.
    """
    (first, reader), *others = readers.items()
    parts = [[example] for example in reader]
    ids = [part[0].id for part in parts]
    for name, other in others:
        examples = {example.id: example for example in other}
        _check_ids(ids, list(examples), first, name)
        for part in parts:
            part.append(examples[part[0].id])
    for part in parts:
        yield _join(part, limit_references)


def _check_ids(expected: Sequence[str], ids: Sequence[str], first: str, name: str) -> None:
    """Raise :class:`InputError` unless a file has the ids of the first one."""
    missing, further = set(expected) - set(ids), set(ids) - set(expected)
    if missing:
        names = quote_list([key for key in expected if key in missing])
        raise InputError(
            f"has no references for {len(missing)} of {len(expected)} examples of {Path(first).name}: {names}", name
        )
    if further:
        names = quote_list([key for key in ids if key in further])
        raise InputError(
            f"has references for {len(further)} examples that are not in {Path(first).name}: {names}", name
        )


def _join(parts: Sequence[Example], limit_references: int | None) -> Example:
    references = tuple(text for part in parts for text in part.references)[:limit_references]
    media, source = (next(filter(None, (getattr(part, name) for part in parts)), None) for name in ("media", "source"))
    meta = {key: value for part in reversed(parts) for key, value in part.meta.items()}
    return replace(parts[0], references=references, media=media, source=source, meta=meta)
