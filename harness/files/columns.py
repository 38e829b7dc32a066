"""Column names of tables of examples: usual names, and names from the ``columns`` parameter of a reader."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.contracts import Parameters, Values
from harness.errors import InputError, did_you_mean
from harness.files.captions import ID_COLUMNS, quote_list
from harness.files.records import kind
from harness.files.yaml_source import YamlValue

REFERENCE_COLUMNS = (
    "references", "captions", "caption", "sentences", "reference", "refs", "ground_truth", "targets", "target", "enCap",
    "sentence", "text", "comment",
)  # fmt: skip
"""Usual names of the column of references, in order of preference; likewise for the columns below."""
MEDIA_COLUMNS = ("media", "media_path", "file_name", "filename", "filepath", "image_path", "video_path")
SOURCE_COLUMNS = ("source", "context")
CANDIDATE_COLUMNS = (
    "candidates", "predictions", "prediction", "generated_captions", "generated_caption", "generated_text", "hypotheses",
    "hypothesis", "generations", "generation", "captions", "caption", "systems", "text", "enCap", "sentence", "output",
    "outputs", "response", "responses", "completion", "comment",
)  # fmt: skip
FILE_ID_COLUMNS = (*ID_COLUMNS, "image", "video", "audio", "key", "name", "example")
"""Usual names of the id column in files; a column of a data set may hold the image itself under some of them."""
MOST_NAMES = 5
"""Number of names that a message lists."""


@dataclass(frozen=True)
class Columns:
    """Column names of a table of examples."""

    id: str | None
    """Column of the ids; None numbers the rows from 0."""
    captions: tuple[str, ...]
    """Columns of the references: one column of lists or of single captions, or several columns of single captions."""
    media: str | None = None
    """Column of the media names."""
    source: str | None = None
    """Column of the source texts; a list is joined by line breaks."""
    split: str | None = None
    """Column of the split names."""

    def column_list(self) -> list[str]:
        """Return the distinct columns in use, in the order of the fields."""
        names = [self.id, *self.captions, self.media, self.source, self.split]
        return list(dict.fromkeys(name for name in names if name))


COLUMN_NAMES = ("id", "references", "media", "source", "split")


def check_mapping(columns: Parameters | None, names: Sequence[str] = COLUMN_NAMES) -> Values:
    """Return the ``columns`` parameter of a component as a dict; raise :class:`InputError` for a key that is not in ``names``."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InputError(
            f"columns is {kind(columns)}; expected a mapping such as {{id: image_id, references: captions}}",
            parameter="columns",
            value=columns,
        )
    for name in columns:
        if name not in names:
            raise InputError.of_name("columns has no", name, names, "expected some of", parameter="columns")
    return dict(columns)


def find_columns(
    columns: Parameters, present: Iterable[str], location: str, *, split: bool = False, ids: Sequence[str] = ID_COLUMNS
) -> Columns:
    """Return the columns of a table: those named by the parameter ``columns``, and the usual names for the others.

    Parameters
    ----------
    columns : mapping
        Key of :data:`COLUMN_NAMES` -> column name, or a list of alternatives; for ``references`` also a pattern
        (``caption_*``) or a list of columns and patterns; None for a column that is not used.
    present : iterable of str
        Column names of the table.
    location : str
        Place of the table for messages.
    split : bool, default False
        Look for the column ``split`` too.
    ids : sequence of str
        Usual names of the column of ids.

    Raises
    ------
    InputError
        For a column that the table lacks, and when the table has no column of ids or of captions.

    Examples
    --------
    >>> find_columns({"id": "key"}, ["key", "caption_0", "caption_1"], "here").captions
    ('caption_0', 'caption_1')
    """
    present = list(present)
    references = columns.get("references")
    if references is None:
        usual = _usual(REFERENCE_COLUMNS, present)
        names = [usual] if usual else fnmatch.filter(present, "caption_*")
        if not names:
            message = f"no column of captions; found {_quote_names(present)} (name it with columns: {{references: ...}})"
            raise InputError(message, location, parameter="columns")
    else:
        names = [match for name in _as_list(references) for match in _matching(name, present, location)]
    return Columns(
        id=_id_column(columns, present, location, ids),
        captions=tuple(names),
        media=_one(columns, "media", MEDIA_COLUMNS, present, location),
        source=_one(columns, "source", SOURCE_COLUMNS, present, location),
        split=_one(columns, "split", ("split",), present, location) if split or columns.get("split") else None,
    )


def _id_column(columns: Parameters, present: Sequence[str], location: str, usual: Sequence[str]) -> str | None:
    if "id" in columns and columns["id"] is None:
        return None
    column = _one(columns, "id", usual, present, location)
    if column is None:
        advice = "name it with columns: {id: ...}, or {id: null} numbers the rows"
        raise InputError(f"no column of ids; found {_quote_names(present)} ({advice})", location, parameter="columns")
    return column


def _one(columns: Parameters, key: str, usual: Sequence[str], present: Sequence[str], location: str) -> str | None:
    """Return the first present column of those under ``key``, or of the usual ones without that key; None for a null."""
    if key not in columns:
        return _usual(usual, present)
    if columns[key] is None:
        return None
    choices = _as_list(columns[key])
    column = _usual(choices, present)
    if column is None:
        raise _missing_column(str(choices[0]), present, location)
    return column


def _matching(name: YamlValue, present: Sequence[str], location: str) -> list[str]:
    """Return the columns that a name or pattern stands for; raise :class:`InputError` when there are none."""
    name = str(name)
    columns = [name] if name in present else fnmatch.filter(present, name)
    if not columns:
        raise _missing_column(name, present, location)
    return columns


def _missing_column(name: str, present: Sequence[str], location: str) -> InputError:
    message = f"no column '{name}'{did_you_mean(name, present)}; found {_quote_names(present)}"
    return InputError(message, location, parameter="columns", value=name)


def _usual(names: Sequence[str], present: Sequence[str]) -> str | None:
    """Return the first of ``names`` that is present, or None."""
    return next((name for name in names if name in present), None)


def _as_list(value: YamlValue) -> list[YamlValue]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _quote_names(names: Sequence[str]) -> str:
    return quote_list(names, MOST_NAMES) or "none"
