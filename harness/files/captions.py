"""What readers and prediction files have in common once a file is open: ids, captions, columns, examples."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.contracts import Example
from harness.errors import InputError, did_you_mean
from harness.files.records import Record, kind

ID_COLUMNS = ("id", "image_id", "video_id", "cocoid", "img_id", "imgid", "youtube_id", "file_name", "filename", "index")
"""Where an id is looked for, in this order."""
REFERENCE_COLUMNS = ("references", "captions", "caption", "sentences")
MEDIA_COLUMNS = ("media", "media_path", "file_name", "filename", "filepath", "image_path", "video_path")
SOURCE_COLUMNS = ("source", "context")

_SURROGATE = re.compile("[\ud800-\udfff]")


# --------------------------------------------------------------------------- values
def check_text(value: Any, where: str, *, what: str = "caption") -> str:
    """Return one text unchanged when it is valid; an empty text is valid.

    Parameters
    ----------
    value : object
        Value to check.
    where : str
        Place of the value for the message, such as ``file:line``.
    what : str, default "caption"
        Noun for the value in the message.

    Raises
    ------
    InputError
        When the value is not a string, or contains NUL or an unpaired surrogate.

    Examples
    --------
    >>> check_text("a dog", "captions.json: record 1")
    'a dog'
    """
    if not isinstance(value, str):
        raise InputError(f"the {what} is {kind(value)}; expected text", where)
    if "\0" in value:
        raise InputError(f"the {what} holds the character NUL: {value!r:.80}", where)
    if not value.isascii() and _SURROGATE.search(value):
        raise InputError(f"the {what} holds an unpaired surrogate, half of a character: {value!r:.80}", where)
    return value


def caption(value: Any, where: str, *, what: str = "caption", allow_empty: bool = False) -> str:
    """The caption, unchanged. Raises :class:`InputError` when it is no text, is empty, or holds NUL or half a character."""
    if not isinstance(value, str):
        raise InputError(f"the {what} is {kind(value)}; expected text", where)
    if not allow_empty and not value.strip():
        raise InputError(f"empty {what} {value!r} (allow_empty: true keeps it)", where)
    if "\0" in value:
        raise InputError(f"the {what} holds the character NUL: {value!r:.80}", where)
    if _SURROGATE.search(value):
        raise InputError(f"the {what} holds an unpaired surrogate, half of a character: {value!r:.80}", where)
    return value


def captions(value: Any, where: str, *, what: str = "caption", allow_empty: bool = False) -> tuple[str, ...]:
    """Captions from a string, an object that holds one under ``caption`` or ``raw``, or a list of these."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return tuple(caption(_inner(item), where, what=what, allow_empty=allow_empty) for item in items)


def _inner(item: Any) -> Any:
    if isinstance(item, Mapping):
        for name in ("caption", "raw"):
            if name in item:
                return item[name]
    return item


def identity(value: Any, where: str, column: str) -> str:
    """An id as text: integers and text, and floats that are whole (as tables write integers beside gaps)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InputError(f"'{column}' is {kind(value)}; expected an id (a whole number or text)", where)
    text = str(value)
    if not text:
        raise InputError(f"'{column}' is empty; expected an id", where)
    return caption(text, where, what="id")


def listed(ids: Sequence[str], most: int = 3) -> str:
    """The first few ids, quoted.

    >>> listed(["1", "2", "3", "4"])
    "'1', '2', '3', ..."
    """
    return ", ".join(f"'{name}'" for name in ids[:most]) + (", ..." if len(ids) > most else "")


def positive(value: int | None, name: str) -> int | None:
    """A count of at least 1, or None. Raises :class:`InputError` for anything else."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise InputError(f"{name} is {value!r}; expected a whole number of at least 1")


# --------------------------------------------------------------------------- columns
@dataclass(frozen=True)
class Columns:
    """Which column holds what. Captions may stand in several columns; without ``id`` rows are numbered from 0."""

    id: str | None
    captions: tuple[str, ...]
    media: str | None = None
    source: str | None = None
    split: str | None = None

    def used(self) -> list[str]:
        """Every column named, once."""
        names = [self.id, *self.captions, self.media, self.source, self.split]
        return list(dict.fromkeys(name for name in names if name))


COLUMN_NAMES = ("id", "references", "media", "source", "split")


def check_mapping(columns: Mapping[str, Any] | None) -> dict[str, Any]:
    """The ``columns`` parameter as a dict. Raises :class:`InputError` for a name that is not known, with the nearest one."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InputError(
            f"columns is {kind(columns)}; expected a mapping such as {{id: image_id, references: captions}}"
        )
    for name in columns:
        if name not in COLUMN_NAMES:
            known = ", ".join(COLUMN_NAMES)
            raise InputError(f"columns has no '{name}'{did_you_mean(name, COLUMN_NAMES)}; expected some of {known}")
    return dict(columns)


def find_columns(given: Mapping[str, Any], present: Iterable[str], where: str, *, split: bool = False) -> Columns:
    """Columns as given, and the usual names for the others.

    A value is a column name, a pattern (``caption_*``), or for ``references`` a list of these. Raises :class:`InputError`
    for a column that is not there, and when no column for the ids or the captions is found.
    """
    present = list(present)
    references = given.get("references")
    if references is None:
        found = _usual(REFERENCE_COLUMNS, present)
        names = [found] if found else fnmatch.filter(present, "caption_*")
        if not names:
            raise InputError(
                f"no column of captions; found {_shown(present)} (name it with columns: {{references: ...}})", where
            )
    else:
        names = [match for name in _as_list(references) for match in _matching(name, present, where)]
    return Columns(
        id=_id_column(given, present, where),
        captions=tuple(names),
        media=_one(given, "media", MEDIA_COLUMNS, present, where),
        source=_one(given, "source", SOURCE_COLUMNS, present, where),
        split=_one(given, "split", ("split",), present, where) if split or given.get("split") else None,
    )


def _id_column(given: Mapping[str, Any], present: Sequence[str], where: str) -> str | None:
    if "id" in given and given["id"] is None:
        return None
    column = _one(given, "id", ID_COLUMNS, present, where)
    if column is None:
        raise InputError(
            f"no column of ids; found {_shown(present)} (name it with columns: {{id: ...}}, or {{id: null}} numbers the rows)",
            where,
        )
    return column


def _one(given: Mapping[str, Any], name: str, usual: Sequence[str], present: Sequence[str], where: str) -> str | None:
    """The column given under ``name``, or else the first usual one that is there. A null says: none."""
    if name not in given:
        return _usual(usual, present)
    if given[name] is None:
        return None
    for choice in _as_list(given[name]):
        if choice in present:
            return choice
    first = str(_as_list(given[name])[0])
    raise InputError(f"no column '{first}'{did_you_mean(first, present)}; found {_shown(present)}", where)


def _matching(name: Any, present: Sequence[str], where: str) -> list[str]:
    name = str(name)
    found = [name] if name in present else fnmatch.filter(present, name)
    if not found:
        raise InputError(f"no column '{name}'{did_you_mean(name, present)}; found {_shown(present)}", where)
    return found


def _usual(names: Sequence[str], present: Sequence[str]) -> str | None:
    return next((name for name in names if name in present), None)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _shown(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


# --------------------------------------------------------------------------- examples
@dataclass
class _Group:
    """References of one id, gathered over rows."""

    where: str
    references: list[str]
    single: bool
    """Whether its captions came one a row, so that more rows of the id may follow."""
    media: str | None
    source: str | None
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RowReader:
    """Rows to examples: a row holds an example's references in a list or in several columns, or one caption of it, in which
    case the rows of one id are gathered in the order of its first row."""

    columns: Columns
    allow_empty: bool = False
    limit_references: int | None = None
    media_root: str | None = None
    consecutive: bool = False
    """Rows of one id stand together: examples are given out as soon as the next id begins (streams)."""

    def examples(self, rows: Iterable[Record]) -> Iterator[Example]:
        """Raises :class:`InputError` for duplicate ids, examples without references, and captions that are not good."""
        groups: dict[str, _Group] = {}
        done: set[str] = set()
        for number, row in enumerate(rows):
            columns = self.columns
            key = str(number) if columns.id is None else identity(row.fields.get(columns.id), row.where, columns.id)
            if self.consecutive and groups and key not in groups:
                done.update(groups)
                yield from self._given_out(groups)
                groups = {}
            if key in done:
                raise InputError(
                    f"the id '{key}' comes again after others; a stream needs the rows of one id together", row.where
                )
            self._add(groups, key, row)
        yield from self._given_out(groups)

    def _add(self, groups: dict[str, _Group], key: str, row: Record) -> None:
        references, single = self._references(row)
        known = groups.get(key)
        if known is None:
            groups[key] = self._group(row, references, single)
        elif known.single and single:
            known.references.extend(references)
        else:
            raise InputError(f"the id '{key}' occurs twice (first in {known.where})", row.where)

    def _references(self, row: Record) -> tuple[list[str], bool]:
        first, *others = self.columns.captions
        value = row.fields.get(first)
        single = not others and not isinstance(value, (list, tuple))
        if value is None and not others:
            raise InputError(f"'{first}' is missing or null; expected captions", row.where)
        # One caption a column: a null is a caption that is not there.
        values = [item for item in (value, *map(row.fields.get, others)) if item is not None]
        found = [
            text
            for item in values
            for text in captions(item, row.where, what="reference", allow_empty=self.allow_empty)
        ]
        return found, single

    def _group(self, row: Record, references: list[str], single: bool) -> _Group:
        columns, fields = self.columns, row.fields
        media = fields.get(columns.media) if columns.media else None
        source = fields.get(columns.source) if columns.source else None
        if isinstance(source, (list, tuple)):  # the turns of a dialogue
            source = "\n".join(map(str, source))
        used = {*columns.used(), "candidates"}
        meta = {name: value for name, value in fields.items() if name not in used}
        return _Group(row.where, references, single, with_root(media, self.media_root), source, meta)

    def _given_out(self, groups: Mapping[str, _Group]) -> Iterator[Example]:
        for key, group in groups.items():
            if not group.references:
                raise InputError(f"the example '{key}' has no references", group.where)
            references = tuple(group.references[: self.limit_references])
            yield Example(key, references, group.media, group.source, group.meta)


def with_root(media: Any, root: str | None) -> str | None:
    """The media name below a folder; None where there is none."""
    if not isinstance(media, str) or not media:
        return None
    return f"{root.rstrip('/')}/{media}" if root else media


def examples_by_image(
    images: Mapping[str, tuple[str | None, Mapping[str, Any]]],
    references: Mapping[str, Sequence[str]],
    where: str,
    *,
    noun: str,
    limit_references: int | None,
) -> Iterator[Example]:
    """Examples of files that list the images apart from the captions, in the order of the images.

    ``images`` maps an id to its media name and other facts. Raises :class:`InputError` that counts and names images
    without references.
    """
    bare = [key for key in images if not references.get(key)]
    if bare:
        verb = "has" if len(bare) == 1 else "have"
        raise InputError(f"{len(bare)} of {len(images)} {noun}s {verb} no references: {listed(bare)}", where)
    for key, (media, meta) in images.items():
        yield Example(key, tuple(references[key][:limit_references]), media, None, meta)
