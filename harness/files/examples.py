"""Examples from the rows of a table, or from separate lists of images and captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness.contracts import Example, Parameters, Values
from harness.errors import InputError
from harness.files.captions import captions, identity, quote_list
from harness.files.fields import get_field
from harness.files.marks import find_mark, keep_unmarked
from harness.files.records import Record
from harness.files.table_columns import Columns
from harness.files.yaml_source import YamlValue


@dataclass
class _Group:
    """References of one id, collected over rows."""

    location: str
    references: list[str]
    single: bool
    """True when each row holds one caption, so that more rows of the id may follow."""
    is_scored: bool
    """False while all references were marked as not to be scored."""
    media: str | None
    source: str | None
    meta: Values = field(default_factory=dict)


@dataclass(frozen=True)
class RowReader:
    """Examples from the rows of a table.

    A row holds all references of an example (in a list or in several columns), or one
    of them; then the rows of one id make one example, in the order of the first row of
    each id. References that a field marks as not to be scored
    (:func:`~harness.files.marks.find_mark`) are left out, and so is an example without
    others.
    """

    columns: Columns
    """Columns to read; the other fields of a row go to ``Example.meta``, except
    ``candidates``.
    """
    allow_empty: bool = False
    """Accept empty references."""
    limit_references: int | None = None
    """Number of references per example, the first ones of each; None for all."""
    media_root: str | None = None
    """Folder put before the media names."""
    consecutive: bool = False
    """Yield an example as soon as the next id begins (streams); the rows of one id must
    be adjacent.
    """
    absent: bool = False
    """A blank text is no reference; an example may then have none (files of which each
    has some references).
    """
    left_out: Counter[str] = field(default_factory=Counter[str])
    """Name of a thing that is not read -> its number, filled while the rows are read.
    """

    def examples(self, rows: Iterable[Record]) -> Iterator[Example]:
        """Yield the examples of the rows; one whose row holds all its references at
        once, unless an earlier one waits for more rows.

        Raises :class:`InputError` with the record at fault for duplicate ids, examples
        without references, and invalid ids or captions.
        """
        groups: dict[str, _Group] = {}
        finished: set[str] = set()
        yielded: dict[str, tuple[str, int]] = {}
        """Place and hash of the references of the examples that did not wait, by id."""
        for number, row in enumerate(rows):
            key = self._id_of(row, number)

            # A stream cannot be kept: the rows of an id are complete when the next id
            # begins. An id that comes again later would give two examples, hence
            # `finished`.
            if self.consecutive and groups and key not in groups:
                finished.update(groups)
                yield from self._make_examples(groups)
                groups = {}
            if key in finished:
                raise InputError(
                    f"the id '{key}' recurs after other ids; "
                    "in a stream the rows of one id must be adjacent",
                    row.where,
                )

            if key in yielded:
                self._check_repeated(key, row, *yielded[key])
                continue
            self._add(groups, key, row)

            # A row with all references of its example need not wait. A split without
            # rows is found at the end: then nothing is yielded before.
            may_wait = self.consecutive or self.columns.split
            if not may_wait and len(groups) == 1 and not groups[key].single:
                yielded[key] = row.where, hash(tuple(groups[key].references))
                yield from self._make_examples(groups)
                groups.clear()
        yield from self._make_examples(groups)

    def _id_of(self, row: Record, number: int) -> str:
        """Return the id of a row, which is its number where no column has ids."""
        column = self.columns.id
        if column is None:
            return str(number)
        return identity(get_field(row.fields, column), row.where, column)

    def _add(self, groups: dict[str, _Group], key: str, row: Record) -> None:
        """Add the references of a row to those of its id."""
        references, single, is_scored = self._references(row)
        group = groups.get(key)
        if group is None:
            groups[key] = self._group(row, references, single, is_scored)
        elif group.single and single:
            group.references.extend(references)
            group.is_scored = group.is_scored or is_scored
        else:
            self._check_repeated(
                key, row, group.location, hash(tuple(group.references))
            )

    def _check_repeated(self, key: str, row: Record, first: str, content: int) -> None:
        """Count a record with the list of references that its id has already; raise
        :class:`InputError` for any other one.
        """
        references, single, _ = self._references(row)
        if single or hash(tuple(references)) != content:
            raise InputError(
                f"the id '{key}' occurs twice (first in {first})", row.where
            )
        self.left_out["records that repeat the references of their id"] += 1

    def _references(self, row: Record) -> tuple[list[str], bool, bool]:
        """Return the references of a row, whether it holds one caption of an example
        that may have more, and whether any is scored.
        """
        first = self.columns.captions[0]
        others = self.columns.captions[1:]
        value = get_field(row.fields, first)
        single = not others and not isinstance(value, (list, tuple))
        if value is None and not others:
            raise InputError(
                f"'{first}' is missing or null; expected captions", row.where
            )

        mark = find_mark(row.fields)
        if mark is not None:
            number = len(value) if isinstance(value, (list, tuple)) else 1
            self.left_out[f"references marked {mark}"] += number
            return [], single, False

        # Most rows: this is done for each of a million.
        if isinstance(value, str) and not others and not self.absent:
            return self._captions(value, row), True, True

        # One caption per column: a null or an empty cell is an absent caption.
        values = [value, *(get_field(row.fields, name) for name in others)]
        if others or self.absent:
            values = self._drop_absent(values)
        dropped = 0
        references: list[str] = []
        for item in values:
            texts = item if isinstance(item, str) else self._kept_texts(row, item)
            if isinstance(item, (list, tuple)):
                dropped += len(item) - len(texts)
            references += self._captions(texts, row)
        return references, single, not dropped or bool(references)

    def _captions(self, value: YamlValue, row: Record) -> list[str]:
        """Return the references of a value, checked."""
        return list(
            captions(value, row.where, what="reference", allow_empty=self.allow_empty)
        )

    def _drop_absent(self, values: Sequence[YamlValue]) -> list[YamlValue]:
        """Return the values of the columns of a row without those that hold no
        reference.
        """
        filled = [value for value in values if value is not None]
        if self.allow_empty and not self.absent:
            return filled

        texts = [
            value for value in filled if not isinstance(value, str) or value.strip()
        ]
        if self.absent and len(texts) < len(filled):
            self.left_out["empty lines"] += len(filled) - len(texts)
        return texts

    def _kept_texts(self, row: Record, value: YamlValue) -> YamlValue:
        """Return a list of texts without those that are marked as not to be scored;
        any other value as it is.
        """
        marked = Counter[str]()
        texts = keep_unmarked(row.fields, value, marked)
        for mark, number in marked.items():
            self.left_out[f"references marked {mark}"] += number
        return texts

    def _group(
        self, row: Record, references: list[str], single: bool, is_scored: bool
    ) -> _Group:
        """Return the group of an id that begins with a row."""
        columns = self.columns
        fields = row.fields
        media = fields.get(columns.media) if columns.media else None
        source = fields.get(columns.source) if columns.source else None
        if isinstance(source, (list, tuple)):  # the turns of a dialogue
            source = "\n".join(map(str, source))

        return _Group(
            row.where,
            references,
            single,
            is_scored,
            media=with_root(media, self.media_root),
            source=source,
            meta={n: value for n, value in fields.items() if n not in self._used},
        )

    @cached_property
    def _used(self) -> frozenset[str]:
        """Columns that do not go to ``Example.meta``."""
        return frozenset((*self.columns.column_list(), "candidates"))

    def _make_examples(self, groups: Mapping[str, _Group]) -> Iterator[Example]:
        """Yield the examples of complete groups."""
        for key, group in groups.items():
            if not group.references and not group.is_scored:
                self.left_out["items without other references"] += 1
                continue
            if not group.references and not self.absent:
                raise InputError(
                    f"the example '{key}' has no references", group.location
                )
            references = tuple(group.references[: self.limit_references])
            yield Example(key, references, group.media, group.source, group.meta)


def with_root(media: YamlValue, root: str | None) -> str | None:
    """Return a media name with the folder before it, unless it is a whole path; None
    when the value is not a name.

    >>> with_root("1.jpg", "images/")
    'images/1.jpg'
    """
    if not isinstance(media, str) or not media:
        return None
    if not root or media.startswith("/"):
        return media
    return f"{root.rstrip('/')}/{media}"


def examples_by_image(
    images: Mapping[str, tuple[str | None, Parameters]],
    references: Mapping[str, Sequence[str]],
    location: str,
    *,
    noun: str,
    limit_references: int | None,
) -> Iterator[Example]:
    """Yield the examples of a file that lists images and captions separately, in the
    order of the images.

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
        raise InputError(
            f"{len(bare_images)} of {len(images)} {noun}s {verb} no references: "
            f"{quote_list(bare_images)}",
            location,
        )

    for key, (media, meta) in images.items():
        yield Example(key, tuple(references[key][:limit_references]), media, None, meta)
