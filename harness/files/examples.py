"""Examples from the rows of a table, or from separate lists of images and captions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.contracts import Example, Parameters, Values
from harness.errors import InputError
from harness.files.captions import captions, identity, quote_list
from harness.files.columns import Columns
from harness.files.records import Record
from harness.files.yaml_source import YamlValue


@dataclass
class _Group:
    """References of one id, collected over rows."""

    location: str
    references: list[str]
    single: bool
    """True when each row holds one caption, so that more rows of the id may follow."""
    media: str | None
    source: str | None
    meta: Values = field(default_factory=dict)


@dataclass(frozen=True)
class RowReader:
    """Examples from the rows of a table.

    A row holds all references of an example (in a list or in several columns), or one of them; then the rows of one id
    make one example, in the order of the first row of each id.
    """

    columns: Columns
    """Columns to read; the other fields of a row go to ``Example.meta``, except ``candidates``."""
    allow_empty: bool = False
    """Accept empty references."""
    limit_references: int | None = None
    """Number of references per example, the first ones of each; None for all."""
    media_root: str | None = None
    """Folder put before the media names."""
    consecutive: bool = False
    """Yield an example as soon as the next id begins (streams); the rows of one id must be adjacent."""

    def examples(self, rows: Iterable[Record]) -> Iterator[Example]:
        """Yield the examples of the rows; one whose row holds all its references at once, unless an earlier one waits for more rows.

        Raises :class:`InputError` with the record at fault for duplicate ids, examples without references, and invalid
        ids or captions.
        """
        groups: dict[str, _Group] = {}
        finished: set[str] = set()
        yielded: dict[str, str] = {}
        """Places of the examples that did not wait, by id."""
        for number, row in enumerate(rows):
            columns = self.columns
            key = str(number) if columns.id is None else identity(row.fields.get(columns.id), row.where, columns.id)
            # A stream cannot be kept: the rows of an id are complete when the next id begins. An id that comes again later would
            # give two examples, hence `finished`.
            if self.consecutive and groups and key not in groups:
                finished.update(groups)
                yield from self._make_examples(groups)
                groups = {}
            if key in finished:
                raise InputError(f"the id '{key}' recurs after other ids; in a stream the rows of one id must be adjacent", row.where)
            if key in yielded:
                raise InputError(f"the id '{key}' occurs twice (first in {yielded[key]})", row.where)
            self._add(groups, key, row)
            # A split without rows is found at the end: then nothing is yielded before.
            if not (self.consecutive or columns.split) and len(groups) == 1 and not groups[key].single:
                yield from self._make_examples(groups)
                groups.clear()
                yielded[key] = row.where
        yield from self._make_examples(groups)

    def _add(self, groups: dict[str, _Group], key: str, row: Record) -> None:
        references, single = self._references(row)
        group = groups.get(key)
        if group is None:
            groups[key] = self._group(row, references, single)
        elif group.single and single:
            group.references.extend(references)
        else:
            raise InputError(f"the id '{key}' occurs twice (first in {group.location})", row.where)

    def _references(self, row: Record) -> tuple[list[str], bool]:
        """Return the references of a row, and True when the row holds one caption of an example that may have more."""
        first, *others = self.columns.captions
        value = row.fields.get(first)
        single = not others and not isinstance(value, (list, tuple))
        if value is None and not others:
            raise InputError(f"'{first}' is missing or null; expected captions", row.where)
        # One caption per column: a null is an absent caption.
        values = [item for item in (value, *map(row.fields.get, others)) if item is not None]
        references = [text for item in values for text in captions(item, row.where, what="reference", allow_empty=self.allow_empty)]
        return references, single

    def _group(self, row: Record, references: list[str], single: bool) -> _Group:
        columns, fields = self.columns, row.fields
        media = fields.get(columns.media) if columns.media else None
        source = fields.get(columns.source) if columns.source else None
        if isinstance(source, (list, tuple)):  # the turns of a dialogue
            source = "\n".join(map(str, source))
        used = {*columns.column_list(), "candidates"}
        meta = {name: value for name, value in fields.items() if name not in used}
        return _Group(row.where, references, single, with_root(media, self.media_root), source, meta)

    def _make_examples(self, groups: Mapping[str, _Group]) -> Iterator[Example]:
        """Yield the examples of complete groups."""
        for key, group in groups.items():
            if not group.references:
                raise InputError(f"the example '{key}' has no references", group.location)
            references = tuple(group.references[: self.limit_references])
            yield Example(key, references, group.media, group.source, group.meta)


def with_root(media: YamlValue, root: str | None) -> str | None:
    """Return a media name with the folder before it, unless it is a whole path; None when the value is not a name.

    >>> with_root("1.jpg", "images/")
    'images/1.jpg'
    """
    if not isinstance(media, str) or not media:
        return None
    return f"{root.rstrip('/')}/{media}" if root and not media.startswith("/") else media


def examples_by_image(
    images: Mapping[str, tuple[str | None, Parameters]],
    references: Mapping[str, Sequence[str]],
    location: str,
    *,
    noun: str,
    limit_references: int | None,
) -> Iterator[Example]:
    """Yield the examples of a file that lists images and captions separately, in the order of the images.

    Parameters
    ----------
    images : mapping
        Id -> (media name, meta).
    references : mapping
        Id -> captions.
    location : str
        Place of the file for messages.
    noun : str
        Noun for an image in messages, such as ``video``.
    limit_references : int or None
        Number of references per example, the first ones of each; None for all.

    Raises
    ------
    InputError
        With the number and the first ids of the images without references.
    """
    bare_images = [key for key in images if not references.get(key)]
    if bare_images:
        verb = "has" if len(bare_images) == 1 else "have"
        raise InputError(f"{len(bare_images)} of {len(images)} {noun}s {verb} no references: {quote_list(bare_images)}", location)
    for key, (media, meta) in images.items():
        yield Example(key, tuple(references[key][:limit_references]), media, None, meta)
