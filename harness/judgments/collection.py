"""Items, captions and pairs that are collected from the records of judgment files.

A judged caption is recognised among the references of its item.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Parameters, Values
from harness.errors import InputError
from harness.files.captions import captions, check_text, identity
from harness.files.examples import with_root
from harness.files.records import Record
from harness.files.yaml_source import YamlValue
from harness.judgments.column_layout import gather_columns
from harness.judgments.fields import column, is_marked, lookup, rows, same
from harness.judgments.judgment_models import JudgmentSource, ReferenceTable
from harness.judgments.mt_metrics_eval import is_segment_file, read_segments

ITEM_COLUMNS = (
    "id",
    "image_id",
    "video_id",
    "audio_id",
    "item",
    "item_id",
    "sample_id",
    "seg_id",
    "file_name",
    "image_path",
    "index",
    "imgid",
    "img_id",
    "image",
    "img",
    "video",
    "audio",
    "key",
)
REFERENCE_COLUMNS = ("references", "reference", "refs", "ground_truth", "captions")
MEDIA_COLUMNS = ("media", "media_path", "file_name", "image_path", "video_path")
MATCH = "match"
"""Mark of a file whose captions are references where they equal one."""
SIMILAR = 0.9
"""Smallest similarity of a caption to the reference that it is, when case, spaces and
punctuation are removed.
"""


@dataclass(frozen=True)
class CaptionCell:
    """A caption as a field of a record has it."""

    value: YamlValue
    name: str
    """Name of the field, for messages."""
    system: str
    mark: YamlValue = None
    """Mark of captions that are references, as in ``columns.own_reference``."""


@dataclass
class Collection:
    """Judgments under construction."""

    source: JudgmentSource
    limit: int | None = None
    """Number of items; later ones are skipped."""
    items: list[JudgedItem] = field(default_factory=list[JudgedItem])
    judged: list[JudgedCaption] = field(default_factory=list[JudgedCaption])
    pairs: list[JudgedPair] = field(default_factory=list[JudgedPair])
    strangers: int = 0
    """Number of captions that meet ``{column: value}`` and are not among the
    references of their item.
    """
    _positions: dict[str, int] = field(default_factory=dict[str, int])
    _of_text: dict[tuple[int, str, tuple[str, ...]], int] = field(
        default_factory=dict[tuple[int, str, tuple[str, ...]], int]
    )
    _places: list[str] = field(default_factory=list[str])
    _table: dict[str, tuple[str, ...]] | None = None
    _names: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    def records(self) -> Iterator[Record]:
        """Yield the records that ``where`` selects; raise :class:`InputError` when
        there are none.
        """
        count = 0
        for path in self.source.paths or [None]:
            # Each file may name its columns in its own way.
            self._names.clear()
            if path and is_segment_file(path):
                read = read_segments(path)
            else:
                read = rows([path] if path else [], self.source.hf)
            for record in read:
                if self.is_selected(record.fields):
                    count += 1
                    yield gather_columns(record, self.source.columns)
        if not count:
            condition = ", ".join(
                f"{name}: {value}" for name, value in self.source.where.items()
            )
            raise InputError(
                f"holds no judgments{f' with {condition}' if condition else ''}",
                self.place,
            )

    def is_selected(self, fields: Parameters) -> bool:
        """Return True for a record that has the values of ``where``, and none of those
        of ``without``; a caption in a record has the fields of both and its system.
        """
        for name, value in self.source.where.items():
            if not same(lookup(fields, name), value):
                return False
        for name, values in self.source.without.items():
            if any(same(lookup(fields, name), value) for value in values):
                return False
        return True

    def records_of_items(self) -> Iterator[tuple[Record, int]]:
        """Yield the records with the positions of their items, without those of items
        beyond the limit.
        """
        for number, record in enumerate(self.records()):
            item = self.item(record, number)
            if item is not None:
                yield record, item

    @property
    def place(self) -> str:
        """The files, for messages."""
        if self.source.paths or not self.source.hf:
            return ", ".join(self.source.paths)
        return self.source.hf.name

    def name(
        self, role: str, usual: Sequence[str], first: Record, *, needed: bool = True
    ) -> str | None:
        """Return the column of a role, found once in each file by its first record."""
        if role not in self._names:
            name = getattr(self.source.columns, role)
            self._names[role] = column(
                name, usual, first, role.replace("_", " "), needed=needed
            )
        return self._names[role]

    def item(self, record: Record, number: int) -> int | None:
        """Return the position of the record's item, new or seen before; None for an
        item beyond the limit.

        Raises :class:`InputError` for an item without references and for references
        that differ from those seen before.
        """
        usual = [
            name
            for name in ITEM_COLUMNS
            if isinstance(record.fields.get(name), (str, int, float))
        ]
        name = self.name("item", usual, record, needed=False)
        value = lookup(record.fields, name) if name else None
        key = str(number) if name is None else identity(value, record.where, name)

        position = self._positions.get(key)
        if position is None:
            if self.limit is not None and len(self.items) >= self.limit:
                return None
            position = self._positions[key] = len(self.items)
            self.items.append(self._new(key, record))
            self._places.append(record.where)
        elif (
            self._table is None
            and self._references(record, key) != self.items[position].references
        ):
            first = self._places[position]
            raise InputError(
                f"the references of the item '{key}' differ from those in {first}",
                record.where,
            )
        return position

    def _new(self, key: str, record: Record) -> JudgedItem:
        """Return the item of a key that was not seen before."""
        references = self._references(record, key)
        if not references and (self.source.references or self._names["references"]):
            raise InputError(f"the item '{key}' has no references", record.where)
        media = self.name("media", MEDIA_COLUMNS, record, needed=False)
        source = self.name("source", (), record, needed=False)
        text = lookup(record.fields, source) if source else None
        path = lookup(record.fields, media) if media else None
        path = with_root(path, self.source.media_root)
        return JudgedItem(key, references, path, None if text is None else str(text))

    def _references(self, record: Record, key: str) -> tuple[str, ...]:
        """Return the references of a record; none where the file has no column of
        them.
        """
        if self.source.references is not None:
            return self._look_up_references(self.source.references, record, key)

        # A column of captions that are judged is none of references.
        columns = self.source.columns
        listed = columns.captions
        if self.source.form in ("best-worst", "ranking"):
            listed = "captions"
        judged = (columns.caption, columns.first, columns.second, listed)
        used = {name.split(".")[0] for name in judged if name}
        usual = [name for name in REFERENCE_COLUMNS if name not in used]
        name = self.name("references", usual, record, needed=False)
        if name is None:
            return ()
        value = lookup(record.fields, name)
        if value is None:
            raise InputError(
                f"the item '{key}' has no references: '{name}' is missing", record.where
            )
        return captions(value, record.where, what="reference")

    def _look_up_references(
        self, table: ReferenceTable, record: Record, key: str
    ) -> tuple[str, ...]:
        """Return the references of a record from a table, which is read once."""
        if self._table is None:
            self._table = self._read_references(table)
        name = column(table.key, (), record, "key", needed=False)
        if name:
            key = identity(lookup(record.fields, name), record.where, name)
        if key not in self._table:
            raise InputError(
                f"the item '{key}' has no references in {table.path}", record.where
            )
        return self._table[key]

    def _read_references(self, table: ReferenceTable) -> dict[str, tuple[str, ...]]:
        """Return item -> references of a table."""
        out: dict[str, tuple[str, ...]] = {}
        for record in rows([table.path]):
            item = column(table.item, ITEM_COLUMNS, record, "item")
            name = column(table.references, REFERENCE_COLUMNS, record, "references")
            key = identity(lookup(record.fields, str(item)), record.where, str(item))
            value = lookup(record.fields, str(name))
            texts: tuple[str, ...] = ()
            if value is not None:
                texts = captions(value, record.where, what="reference")
            out[key] = out.get(key, ()) + texts
        return out

    def texts(self, value: YamlValue, location: str, role: str) -> tuple[str, ...]:
        """Return a caption, or the captions of a set that is judged as a whole."""
        if value is None:
            raise InputError(f"'{role}' is missing; expected a caption", location)
        texts = captions(value, location, allow_empty=True)
        if not texts:
            raise InputError(f"'{role}' is an empty list; expected a caption", location)
        return texts

    def make_caption(
        self,
        record: Record,
        item: int,
        cell: CaptionCell,
        ratings: tuple[float, ...] = (),
        meta: Parameters | None = None,
    ) -> JudgedCaption:
        """Return the judged caption of a cell of a record."""
        texts = self.texts(cell.value, record.where, cell.name)
        own = self.own(texts, item, record.fields, cell.mark, record.where)
        return JudgedCaption(item, texts, cell.system, ratings, own, {}, meta or {})

    def own(
        self,
        texts: tuple[str, ...],
        item: int,
        fields: Parameters,
        mark: YamlValue,
        location: str,
    ) -> tuple[int, ...]:
        """Return the positions of the item's references that the caption is.

        A caption in a column of marks must be among the references; one that meets
        ``{column: value}`` may be absent, and is counted.
        """
        references = self.items[item].references
        if mark == MATCH:
            return equal_references(texts[0], references)
        if not is_marked(fields, mark):
            return ()
        # {column: value} says that a person wrote it, not that it is in the file.
        if not isinstance(mark, str):
            position = similar_reference(texts[0], references)
            self.strangers += position is None
            return () if position is None else (position,)
        return (marked_reference(texts[0], references, location),)

    def add(self, caption: JudgedCaption) -> int:
        """Add a caption and return its position; raise :class:`InputError` for a system
        whose name is no Unicode text.
        """
        location = f"judged caption {len(self.judged) + 1}"
        check_text(caption.system, location, what="system")

        # A record per vote: the votes of one caption stand together.
        if self.source.raters == "each":
            key = (caption.item, caption.system, caption.texts)
            position = self._of_text.setdefault(key, len(self.judged))
            if position < len(self.judged):
                first = self.judged[position]
                votes = first.ratings + caption.ratings
                self.judged[position] = replace(first, ratings=votes)
                return position
        self.judged.append(caption)
        return len(self.judged) - 1

    def prefer(
        self,
        first: JudgedCaption,
        second: JudgedCaption,
        votes: tuple[float, ...],
        meta: Values,
    ) -> None:
        """Add two captions and the votes between them."""
        self.pairs.append(JudgedPair(self.add(first), self.add(second), votes, meta))


def plain(text: str) -> str:
    """Return the letters and digits of a text in lower case.

    >>> plain("A dog , runs .")
    'adogruns'
    """
    return "".join(character for character in text.lower() if character.isalnum())


def marked_reference(caption: str, references: Sequence[str], location: str) -> int:
    """Return the position of the reference most similar to a caption that is marked as
    a reference.

    Raises :class:`InputError` when no reference has a similarity of at least
    :data:`SIMILAR`.
    """
    position = similar_reference(caption, references)
    if position is None:
        raise InputError(
            f"the caption {caption!r:.60} is marked as a reference, "
            "but no reference is similar to it",
            location,
        )
    return position


def similar_reference(caption: str, references: Sequence[str]) -> int | None:
    """Return the position of the reference most similar to a caption; None when none
    has a similarity of :data:`SIMILAR`.
    """
    if caption in references:
        return references.index(caption)
    text = plain(caption)
    ratios = [
        difflib.SequenceMatcher(None, text, plain(reference)).ratio()
        for reference in references
    ]
    return ratios.index(max(ratios)) if max(ratios, default=0) >= SIMILAR else None


def equal_references(caption: str, references: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of all references that equal a caption character by
    character.

    >>> equal_references("a", ["a", "b", "a"])
    (0, 2)
    """
    return tuple(k for k, reference in enumerate(references) if reference == caption)
