"""Records of judgment files in any of the usual formats, and the items, captions and pairs collected from them.

A judged caption is recognised among the references of its item.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Parameters, Values
from harness.errors import InputError, did_you_mean, nearest_name
from harness.files.captions import captions, check_text, identity
from harness.files.dataset_source import DatasetSource
from harness.files.examples import with_root
from harness.files.records import Record, delimited_rows, existing, is_parquet, is_table_file, kind, records
from harness.files.yaml_source import YamlValue
from harness.spec.judgment_models import HuggingFaceSource, JudgmentSource

ITEM_COLUMNS = (
    "id", "image_id", "video_id", "audio_id", "item", "item_id", "sample_id", "seg_id", "file_name", "image_path", "index",
)  # fmt: skip
REFERENCE_COLUMNS = ("references", "reference", "refs", "captions")
MEDIA_COLUMNS = ("media", "media_path", "file_name", "image_path", "video_path")
MATCH = "match"


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
    """Number of captions that meet ``{column: value}`` and are not among the references of their item."""
    _positions: dict[str, int] = field(default_factory=dict[str, int])
    _places: list[str] = field(default_factory=list[str])
    _table: dict[str, tuple[str, ...]] | None = None
    _names: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    def records(self) -> Iterator[Record]:
        """Yield the records that ``where`` selects; raise :class:`InputError` when there are none."""
        count = 0
        for record in rows(self.source.paths, self.source.hf):
            if all(same(lookup(record.fields, name), value) for name, value in self.source.where.items()):
                count += 1
                yield record
        if not count:
            condition = ", ".join(f"{name}: {value}" for name, value in self.source.where.items())
            raise InputError(f"holds no judgments{f' with {condition}' if condition else ''}", self.place)

    def records_of_items(self) -> Iterator[tuple[Record, int]]:
        """Yield the records with the positions of their items, without those of items beyond the limit."""
        for number, record in enumerate(self.records()):
            item = self.item(record, number)
            if item is not None:
                yield record, item

    @property
    def place(self) -> str:
        """The files, for messages."""
        return ", ".join(self.source.paths) or (self.source.hf.name if self.source.hf else "")

    def name(self, role: str, usual: Sequence[str], first: Record, *, needed: bool = True) -> str | None:
        """Return the column of a role, found once by the first record."""
        if role not in self._names:
            name = getattr(self.source.columns, role)
            self._names[role] = column(name, usual, first, role.replace("_", " "), needed=needed)
        return self._names[role]

    def item(self, record: Record, number: int) -> int | None:
        """Return the position of the record's item, new or seen before; None for an item beyond the limit.

        Raises :class:`InputError` for an item without references and for references that differ from those seen before.
        """
        name = self.name("item", ITEM_COLUMNS, record, needed=False)
        value = lookup(record.fields, name) if name else None
        key = str(number) if name is None else identity(value, record.where, name)
        position = self._positions.get(key)
        if position is None:
            if self.limit is not None and len(self.items) >= self.limit:
                return None
            position = self._positions[key] = len(self.items)
            self.items.append(self._new(key, record))
            self._places.append(record.where)
        elif self._table is None and self._references(key, record) != self.items[position].references:
            first = self._places[position]
            raise InputError(f"the references of the item '{key}' differ from those in {first}", record.where)
        return position

    def _new(self, key: str, record: Record) -> JudgedItem:
        references = self._references(key, record)
        if not references:
            raise InputError(f"the item '{key}' has no references", record.where)
        media = self.name("media", MEDIA_COLUMNS, record, needed=False)
        source = self.name("source", (), record, needed=False)
        text = lookup(record.fields, source) if source else None
        path = lookup(record.fields, media) if media else None
        return JudgedItem(key, references, with_root(path, self.source.media_root), None if text is None else str(text))

    def _references(self, key: str, record: Record) -> tuple[str, ...]:
        if self.source.references is not None:
            if self._table is None:
                self._table = self._read_references()
            if key not in self._table:
                raise InputError(f"the item '{key}' has no references in {self.source.references.path}", record.where)
            return self._table[key]
        name = self.name("references", REFERENCE_COLUMNS, record)
        value = lookup(record.fields, str(name))
        if value is None:
            raise InputError(f"the item '{key}' has no references: '{name}' is missing", record.where)
        return captions(value, record.where, what="reference")

    def _read_references(self) -> dict[str, tuple[str, ...]]:
        table = self.source.references
        assert table is not None
        out: dict[str, tuple[str, ...]] = {}
        for record in rows([table.path]):
            item = column(table.item, ITEM_COLUMNS, record, "item")
            name = column(table.references, REFERENCE_COLUMNS, record, "references")
            key = identity(lookup(record.fields, str(item)), record.where, str(item))
            value = lookup(record.fields, str(name))
            texts = () if value is None else captions(value, record.where, what="reference")
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

    def own(self, texts: tuple[str, ...], item: int, fields: Parameters, mark: YamlValue, location: str) -> tuple[int, ...]:
        """Return the positions of the item's references that the caption is.

        A caption in a column of marks must be among the references; one that meets ``{column: value}`` may be absent, and is counted.
        """
        references = self.items[item].references
        if mark == MATCH:
            return equal_references(texts[0], references)
        if not is_marked(fields, mark):
            return ()
        if not isinstance(mark, str):  # {column: value} says that a person wrote it, not that it is in the file
            position = similar_reference(texts[0], references)
            self.strangers += position is None
            return () if position is None else (position,)
        return (marked_reference(texts[0], references, location),)

    def add(self, caption: JudgedCaption) -> int:
        """Add a caption and return its position; raise :class:`InputError` for a system whose name is no Unicode text."""
        check_text(caption.system, f"judged caption {len(self.judged) + 1}", what="system")
        self.judged.append(caption)
        return len(self.judged) - 1

    def prefer(self, first: JudgedCaption, second: JudgedCaption, preference: float, meta: Values) -> None:
        """Add two captions and the preference between them."""
        self.pairs.append(JudgedPair(self.add(first), self.add(second), preference, meta))


SIMILAR = 0.9
"""Smallest similarity of a caption to the reference that it is, when case, spaces and punctuation are removed."""


def plain(text: str) -> str:
    """Return the letters and digits of a text in lower case.

    >>> plain("A dog , runs .")
    'adogruns'
    """
    return "".join(character for character in text.lower() if character.isalnum())


def marked_reference(caption: str, references: Sequence[str], location: str) -> int:
    """Return the position of the reference most similar to a caption that is marked as a reference.

    Raises :class:`InputError` when no reference has a similarity of at least :data:`SIMILAR`.
    """
    position = similar_reference(caption, references)
    if position is None:
        raise InputError(f"the caption {caption!r:.60} is marked as a reference, but no reference is similar to it", location)
    return position


def similar_reference(caption: str, references: Sequence[str]) -> int | None:
    """Return the position of the reference most similar to a caption; None when none has a similarity of :data:`SIMILAR`."""
    if caption in references:
        return references.index(caption)
    text = plain(caption)
    ratios = [difflib.SequenceMatcher(None, text, plain(reference)).ratio() for reference in references]
    return ratios.index(max(ratios)) if max(ratios, default=0) >= SIMILAR else None


def equal_references(caption: str, references: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of all references that equal a caption character by character.

    >>> equal_references("a", ["a", "b", "a"])
    (0, 2)
    """
    return tuple(k for k, reference in enumerate(references) if reference == caption)


WHAT = "file of judgments"


def rows(paths: Sequence[str | Path], hf: HuggingFaceSource | None = None) -> Iterator[Record]:
    """Yield the records of files, one file after the other, or of a Hugging Face data set.

    CSV and TSV are recognised by their name, JSON, JSON Lines and Parquet by their content. Raises :class:`InputError` with the
    place of a mistake.
    """
    if hf is not None:
        source = DatasetSource(hf.name, hf.config, hf.split, hf.revision)
        for number, row in enumerate(source.rows(source.load()), 1):
            yield Record(f"{hf.name}: record {number}", row)
    for path in paths:
        file = existing(path, WHAT)
        if file.suffix.lower() == ".parquet" and not is_parquet(file):
            raise InputError("not readable as Parquet: it does not begin with PAR1", str(path))
        yield from delimited_rows(file) if is_table_file(file) else records(file)


def lookup(fields: Parameters, path: str) -> YamlValue:
    """Return the value at a path such as ``a.b.*.c``; None where a step is missing. ``*`` collects from every item of a list.

    >>> lookup({"votes": [{"grade": 1}, {"grade": 3}]}, "votes.*.grade")
    [1, 3]
    """
    if path in fields:
        return fields[path]
    here: YamlValue = fields
    steps = path.split(".")
    for depth, step in enumerate(steps):
        if step == "*":
            if not isinstance(here, (list, tuple)):
                return None
            tail = ".".join(steps[depth + 1 :])
            items = cast("Sequence[YamlValue]", here)
            return [lookup(cast("Parameters", item), tail) if tail and isinstance(item, Mapping) else item for item in items]
        if isinstance(here, Mapping):
            here = cast("Mapping[str, YamlValue]", here).get(step)
        elif isinstance(here, (list, tuple)) and step.isdigit() and int(step) < len(cast("Sequence[YamlValue]", here)):
            here = cast("Sequence[YamlValue]", here)[int(step)]
        else:
            return None
    return here


def column(path: str | None, usual: Sequence[str], first: Record, role: str, *, needed: bool = True) -> str | None:
    """Return the column of a role: the given one, else the first usual name that the first record has.

    Raises :class:`InputError` with the nearest column when the given one is missing, or when none is found and one is needed.
    """
    present = list(first.fields)
    if path is not None:
        if path not in present and path.split(".")[0] not in present:
            raise InputError(
                f"no column '{path}'{did_you_mean(path, present)}; the record has {', '.join(present)}",
                first.where, value=path, expected=present, nearest=nearest_name(path, present),
            )  # fmt: skip
        return path
    name = next((name for name in usual if name in present), None)
    if name is None and needed:
        raise InputError(
            f"no column for the {role}; the record has {', '.join(present)} (name it with judgments.columns)",
            first.where, expected=present,
        )  # fmt: skip
    return name


_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


def number(value: YamlValue) -> float | None:
    """Return a number, a number in a text, or 1 and 0 for true and false; None for anything else and for NaN.

    >>> number("3.5"), number(True), number("x")
    (3.5, 1.0, None)
    """
    if isinstance(value, str):
        text = value.strip().lower()
        try:
            value = _WORDS[text] if text in _WORDS else float(text)
        except ValueError:
            return None
    if not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def ratings(value: YamlValue, location: str, name: str) -> tuple[float, ...]:
    """Return the ratings of a score: one number, or one per rater of a list without its gaps.

    Raises :class:`InputError` when there is no rating, or a value is no number.
    """
    values = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [value]
    present = [item for item in values if item is not None and item != ""]
    if not present:
        raise InputError(f"'{name}' is {_found(value)}; expected a human score or a list of the raters' scores", location)
    numbers = [number(item) for item in present]
    if None in numbers:
        wrong = present[numbers.index(None)]
        raise InputError(f"'{name}' holds {wrong!r:.40}; expected a finite number, true or false", location)
    return tuple(cast("list[float]", numbers))


def votes_of_mean(mean: Sequence[float], raters: int, location: str, name: str) -> tuple[float, ...]:
    """Return the whole-number votes, as close to each other as possible, that have the given mean.

    Raises :class:`InputError` when the mean of so many whole numbers cannot be that value (up to its printed digits).

    >>> votes_of_mean((2.667,), 3, "here", "score")
    (2.0, 3.0, 3.0)
    """
    total = round(mean[0] * raters)
    if len(mean) != 1 or abs(total - mean[0] * raters) > 0.01 * raters:
        raise InputError(f"'{name}' is {mean[0] if len(mean) == 1 else list(mean)}; expected a mean of {raters} votes", location)
    low, higher = divmod(total, raters)
    return (float(low),) * (raters - higher) + (float(low + 1),) * higher


def preference(value: YamlValue, location: str, name: str) -> float:
    """Return the sum of votes: a number or a list of numbers, +1 for the first caption and -1 for the second."""
    return math.fsum(ratings(value, location, name))


def _found(value: YamlValue) -> str:
    return "missing" if value is None else "an empty text" if value == "" else kind(value)


def is_marked(fields: Parameters, mark: str | Parameters | None) -> bool:
    """Return True for a record with a true value in the column ``mark``, or with every ``{column: value}`` of it."""
    if mark is None:
        return False
    if isinstance(mark, str):
        return bool(number(lookup(fields, mark)))
    return all(same(lookup(fields, name), value) for name, value in mark.items())


def same(value: YamlValue, expected: YamlValue) -> bool:
    """Return True for equal values, and for a number and the text of the same number.

    >>> same("6", 6), same("6.0", 6), same("en-de", "en-de")
    (True, True, True)
    """
    if value == expected or str(value) == str(expected):
        return True
    a, b = number(value), number(expected)
    return a is not None and a == b


def scalars(fields: Parameters, used: Sequence[str | None]) -> Values:
    """Return the fields of a record that are short texts, numbers or flags and are not used otherwise."""
    heads = {name.split(".")[0] for name in used if name}
    return {
        name: value
        for name, value in fields.items()
        if name not in heads and (isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= 80))
    }
