"""Column names of tables of examples and captions: usual names by role, dotted paths,
and names from parameters of the user.

Names are compared without regard to case, blanks, ``-`` and ``_``.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from harness.contracts import Parameters, Role, Values
from harness.errors import InputError, did_you_mean
from harness.files.captions import quote_list
from harness.files.records import kind
from harness.files.yaml_source import YamlValue

ID_COLUMNS = (
    "image_id",
    "video_id",
    "audio_id",
    "question_id",
    "cocoid",
    "img_id",
    "imgid",
    "youtube_id",
    "clip_id",
    "id",
    "custom_id",
    "file_name",
    "filename",
    "index",
    "sample_id",
    "doc_id",
    "image_name",
)
"""Usual names of the id column, in order of preference: what a caption describes comes
before the number of its record.
"""
FILE_ID_COLUMNS = (
    *ID_COLUMNS,
    "image",
    "video",
    "audio",
    "key",
    "name",
    "example",
    "image_path",
    "video_path",
    "audio_path",
    "image_file",
    "video_file",
    "audio_file",
    "file",
    "path",
)
"""Usual names of the id column in files; a column of a data set may hold the image
itself under some of them.
"""
REFERENCE_COLUMNS = (
    "references",
    "reference",
    "refs",
    "ref",
    "reference_strs",
    "reference_captions",
    "reference_caption",
    "reference_texts",
    "reference_text",
    "reference_answers",
    "reference_answer",
    "ground_truths",
    "ground_truth",
    "ground_truth_captions",
    "ground_truth_caption",
    "gts",
    "gt",
    "gt_captions",
    "gt_caption",
    "gt_answers",
    "gt_answer",
    "gold",
    "gold_captions",
    "gold_caption",
    "gold_answers",
    "gold_answer",
    "expected_output",
    "expected",
    "targets",
    "target",
    "captions",
    "caption",
    "sentences",
    "sentence",
    "raw",
    "caption_str",
    "enCap",
    "answers",
    "answer",
    "labels",
    "label",
    "descriptions",
    "description",
    "summaries",
    "summary",
    "text",
    "comment",
    "response",
    "output",
)
"""Usual names of the column of references, in order of preference;
likewise for the columns below.
"""
CANDIDATE_COLUMNS = (
    "candidates",
    "candidate",
    "predictions",
    "prediction",
    "predict",
    "predicted",
    "predicted_caption",
    "caption_predicted",
    "pred_captions",
    "pred_caption",
    "predicted_captions",
    "predicted_answer",
    "preds",
    "pred",
    "generated_captions",
    "generated_caption",
    "generated_answer",
    "generated_summary",
    "gen_captions",
    "gen_caption",
    "generated_text",
    "hypotheses",
    "hypothesis",
    "hyp",
    "generations",
    "generation",
    "generated",
    "model_output",
    "model_response",
    "outputs",
    "output",
    "responses",
    "response",
    "completions",
    "completion",
    "captions",
    "caption",
    "caption_str",
    "systems",
    "enCap",
    "sentences",
    "sentence",
    "raw",
    "summaries",
    "summary",
    "text",
    "descriptions",
    "description",
    "comment",
    "answers",
    "answer",
    "labels",
    "label",
)
CAPTION_COLUMNS: Mapping[Role, tuple[str, ...]] = {
    "candidates": CANDIDATE_COLUMNS,
    "references": REFERENCE_COLUMNS,
}
MEDIA_COLUMNS = (
    "media",
    "media_path",
    "file_name",
    "filename",
    "filepath",
    "image_path",
    "video_path",
    "audio_path",
    "image",
)
SOURCE_COLUMNS = ("source", "context")
PROMPT_COLUMNS = ("prompt", "question", *SOURCE_COLUMNS)
"""Usual names of the column of prompts."""
HEAD = 20
"""Number of records whose values decide which columns hold captions."""
MOST_NAMES = 5
"""Number of names that a message lists."""

_NUMBERED: Mapping[Role, re.Pattern[str]] = {
    "candidates": re.compile(
        r"(candidate|prediction|hypothesis|hyp|caption|generation|response|output)\d+"
    ),
    "references": re.compile(
        r"(caption|captions|reference|references|ref|refs|gt|sentence|comment|answer|description)\.?\d+"
    ),
}
"""Normalised names of columns that hold one caption each of a set; pandas names the
second of two equal columns ``caption.1``.
"""
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*[A-Za-z][\w+.-]*://\S+\s*")
_MEDIA_ENDINGS = (
    "jpe?g|png|webp|gif|bmp|tiff?|mp4|webm|mkv|avi|mov|wav|flac|mp3|ogg|npy|npz|pt|json"
)
_PATH = re.compile(rf"\s*\S*[^\s/\\]+\.({_MEDIA_ENDINGS})\s*", re.IGNORECASE)


# --------------------------------------------------------------------------- names
@lru_cache(maxsize=4096)
def normalise(name: str) -> str:
    """Return a column name without case, blanks, ``-`` and ``_``.

    >>> normalise("Image ID"), normalise("caption_predicted")
    ('imageid', 'captionpredicted')
    """
    return re.sub(r"[\s_-]", "", name).casefold()


def find_name(names: Iterable[str], present: Collection[str]) -> str | None:
    """Return the first column that has one of some names, exactly or by
    :func:`normalise`; None where there is none.

    >>> find_name(["id", "caption"], ["ID", "Caption"])
    'ID'
    """
    spelled: dict[str, str] = {}
    for column in present:
        spelled.setdefault(normalise(column), column)
    for name in names:
        if name in present:
            return name
        if (column := spelled.get(normalise(name))) is not None:
            return column
    return None


def id_columns(fields: Parameters, names: Sequence[str] = FILE_ID_COLUMNS) -> list[str]:
    """Return the columns of a record that have usual names of ids and hold an id,
    in order of preference.

    The fields of a document, named ``doc.NAME`` by a log, follow those of the log.
    """
    found = dict[str, None]()
    spelled: dict[str, list[str]] = {}
    for column in fields:
        spelled.setdefault(normalise(column.rpartition(".")[2]), []).append(column)
    for nested in (False, True):
        for name in FILE_ID_COLUMNS if nested else names:
            columns = [
                column
                for column in spelled.get(normalise(name), ())
                if ("." in column) == nested
            ]
            found.update(
                dict.fromkeys(sorted(columns, key=lambda column: column != name))
            )
    usable = [column for column in found if is_id(fields[column])]
    return usable or [column for column in found if fields[column] is None]


def scalar_columns(fields: Parameters, captions: Collection[str]) -> list[str]:
    """Return the columns of a record that hold a possible id,
    and are named neither as captions nor as prompts.
    """
    others = {
        normalise(name)
        for names in (*CAPTION_COLUMNS.values(), PROMPT_COLUMNS)
        for name in names
    }
    return [
        name
        for name, value in fields.items()
        if name not in captions
        and normalise(name) not in others
        and is_id(value)
        and not isinstance(value, float)
    ]


def is_id(value: YamlValue) -> bool:
    """Return True for a value that can be an id: a text that is not empty,
    or a whole number.
    """
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return (isinstance(value, str) and bool(value.strip())) or (
        whole and not isinstance(value, bool)
    )


# --------------------------------------------------------------------------- values
def get_field(fields: Parameters, column: str) -> YamlValue:
    """Return the value of a column or, where no column has that name, of a dotted path;
    None where there is none.

    A number in a path selects an item of a list; a name below a list takes that field
    of each item.

    >>> get_field(
    ...     {"response": {"choices": [{"text": "a dog"}]}}, "response.choices.0.text"
    ... )
    'a dog'
    >>> get_field(
    ...     {"sentences": [{"raw": "a dog"}, {"raw": "the dog"}]}, "sentences.raw"
    ... )
    ['a dog', 'the dog']
    """
    if column in fields or "." not in column:
        return fields.get(column)
    first, *steps = column.split(".")
    # a column of a log may have a dot itself: doc.image.id
    for length in range(len(steps), 0, -1):
        head = ".".join([first, *steps[: length - 1]])
        if head in fields:
            return _follow(fields[head], steps[length - 1 :])
    return None


def _follow(value: YamlValue, steps: Sequence[str]) -> YamlValue:
    for position, step in enumerate(steps):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, (list, tuple)) and step.isdigit():
            value = value[int(step)] if int(step) < len(value) else None
        elif isinstance(value, (list, tuple)):
            return [_follow(item, steps[position:]) for item in value]
        else:
            return None
    return value


def has_field(fields: Parameters, column: str) -> bool:
    """Return True for a column of a record, and for a dotted path that leads to a
    value.
    """
    return column in fields or get_field(fields, column) is not None


def may_be_captions(value: YamlValue) -> bool:
    """Return True for a value that can be a caption or captions: no number, address or
    path of a file, and no list of them.

    >>> [
    ...     may_be_captions(value)
    ...     for value in ("a dog", ["a dog"], None, 27, "27", "images/1.jpg")
    ... ]
    [True, True, True, False, False, False]
    """
    if isinstance(value, (list, tuple)):
        return not value or may_be_captions(value[0])
    if isinstance(value, str):
        return not any(form.fullmatch(value) for form in (_NUMBER, _ADDRESS, _PATH))
    return value is None or isinstance(value, Mapping)


# --------------------------------------------------------------------------- columns of captions
@dataclass(frozen=True)
class CaptionColumns:
    """Columns of the captions of a file: one column,
    or several with one caption each.
    """

    names: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Columns with other usual names that could hold captions too."""


def find_caption_columns(
    records: Sequence[Parameters], role: Role
) -> CaptionColumns | None:
    """Return the columns that hold the captions of a role by their names and values;
    None where no column can.

    Parameters
    ----------
    records : sequence of mapping
        The first records of a file.
    role : {"candidates", "references"}
        Captions to find.

    Examples
    --------
    >>> find_caption_columns(
    ...     [
    ...         {
    ...             "id": 1,
    ...             "caption_1": "a dog",
    ...             "caption_2": "the dog",
    ...             "caption_length": 5,
    ...         }
    ...     ],
    ...     "references",
    ... ).names
    ('caption_1', 'caption_2')
    """
    present = list(dict.fromkeys(name for record in records for name in record))
    known = [
        column
        for name in CAPTION_COLUMNS[role]
        if (column := find_name([name], present)) is not None
    ]
    known = list(dict.fromkeys(known))
    numbered = [name for name in present if _NUMBERED[role].fullmatch(normalise(name))]
    possible = [
        column for column in known if may_be_captions(_first_value(records, column))
    ]
    possible_numbered = [
        column for column in numbered if may_be_captions(_first_value(records, column))
    ]
    # A number or a name of a file as the only caption is odd, and is what the user has.
    if not possible and not possible_numbered:
        texts = [
            column
            for column in known
            if isinstance(_first_value(records, column), (str, list, tuple))
        ]
        return (
            CaptionColumns(((texts or known)[0],), tuple(texts[1:])) if known else None
        )
    if not possible:
        return CaptionColumns(tuple(possible_numbered))
    further = (
        _continue_columns(possible[0], possible_numbered)
        if role == "references"
        else ()
    )
    others = [
        column
        for column in (*possible[1:], *possible_numbered)
        if column not in further
    ]
    return CaptionColumns((possible[0], *further), tuple(others))


def _continue_columns(first: str, numbered: Sequence[str]) -> tuple[str, ...]:
    """Return the numbered columns that continue a column without a number:
    ``reference2``, or ``caption.1`` of pandas.

    >>> (
    ...     _continue_columns("reference", ["reference2", "reference3"]),
    ...     _continue_columns("caption", ["caption_1", "caption_2"]),
    ... )
    (('reference2', 'reference3'), ())
    """
    for separator, start in (("", 2), (".", 1)):
        expected = [
            f"{normalise(first)}{separator}{start + k}" for k in range(len(numbered))
        ]
        found = {normalise(column): column for column in numbered}
        continuing = list(takewhile(found.__contains__, expected))
        # A set that counts from 0 or 1 is one of its own, beside a column that holds
        # something else.
        if continuing and not any(
            f"{normalise(first)}{number}" in found for number in "01"
        ):
            return tuple(found[name] for name in continuing)
    return ()


def _first_value(records: Sequence[Parameters], column: str) -> YamlValue:
    """Return the first value of a column that is neither null nor empty;
    None where there is none.
    """
    return next(
        (
            record[column]
            for record in records
            if record.get(column) not in (None, "", [])
        ),
        None,
    )


# --------------------------------------------------------------------------- the parameter ``columns``
@dataclass(frozen=True)
class Columns:
    """Column names of a table of examples."""

    id: str | None
    """Column of the ids; None numbers the rows from 0."""
    captions: tuple[str, ...]
    """Columns of the references: one column of lists or of single captions, or several
    columns of single captions.
    """
    media: str | None = None
    """Column of the media names."""
    source: str | None = None
    """Column of the source texts; a list is joined by line breaks."""
    split: str | None = None
    """Column of the split names."""
    other_captions: tuple[str, ...] = ()
    """Columns that could hold references too, by their names."""

    def column_list(self) -> list[str]:
        """Return the distinct columns in use, in the order of the fields."""
        names = [self.id, *self.captions, self.media, self.source, self.split]
        return list(dict.fromkeys(name for name in names if name))


COLUMN_NAMES = ("id", "references", "media", "source", "split")


def check_mapping(
    columns: Parameters | None, names: Sequence[str] = COLUMN_NAMES
) -> Values:
    """Return the ``columns`` parameter of a component as a dict; raise
    :class:`InputError` for a key that is not in ``names``.
    """
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InputError(
            f"columns is {kind(columns)}; expected a mapping such as {{id: image_id, "
            f"references: captions}}",
            parameter="columns",
            value=columns,
        )
    for name in columns:
        if name not in names:
            raise InputError.of_name(
                "columns has no", name, names, "expected some of", parameter="columns"
            )
    return dict(columns)


def find_columns(
    columns: Parameters,
    records: Sequence[Parameters],
    location: str,
    *,
    split: bool = False,
    ids: Sequence[str] = ID_COLUMNS,
) -> Columns:
    """Return the columns of a table: those named by the parameter ``columns``, and the
    usual names for the others.

    Parameters
    ----------
    columns : mapping
        Key of :data:`COLUMN_NAMES` -> column name or dotted path, or a list of
        alternatives; for ``references`` also a pattern (``caption_*``) or a list of
        columns and patterns; None for a column that is not used.
    records : sequence of mapping
        The first records of the table.
    location : str
        Place of the table for messages.
    split : bool, default False
        Look for the column ``split`` too.
    ids : sequence of str
        Usual names of the column of ids.

    Raises
    ------
    InputError
        For a column that the table lacks, and when the table has no column of ids or of
        captions.

    Examples
    --------
    >>> find_columns(
    ...     {"id": "key"},
    ...     [{"key": 1, "caption_0": "a dog", "caption_1": "the dog"}],
    ...     "here",
    ... ).captions
    ('caption_0', 'caption_1')
    """
    present = list(dict.fromkeys(name for record in records for name in record))
    references = columns.get("references")
    others = ()
    if references is None:
        found = find_caption_columns(records, "references")
        if found is None:
            message = (
                f"no column of captions; found {_quote_names(present)} (name it with "
                f"columns: {{references: ...}})"
            )
            raise InputError(message, location, parameter="columns")
        names = list(found.names)
        others = found.others
    else:
        names = [
            match
            for name in _as_list(references)
            for match in _matching(name, records, present, location)
        ]
    return Columns(
        id=_id_column(columns, records, present, location, ids),
        captions=tuple(names),
        media=_one(columns, "media", MEDIA_COLUMNS, records, present, location),
        source=_one(columns, "source", SOURCE_COLUMNS, records, present, location),
        split=_one(columns, "split", ("split",), records, present, location)
        if split or columns.get("split")
        else None,
        other_captions=others,
    )


def _id_column(
    columns: Parameters,
    records: Sequence[Parameters],
    present: Sequence[str],
    location: str,
    usual: Sequence[str],
) -> str | None:
    if "id" in columns:
        return _one(columns, "id", usual, records, present, location)
    found = id_columns(records[0], usual) if records else []
    if not found:
        advice = "name it with columns: {id: ...}, or {id: null} numbers the rows"
        raise InputError(
            f"no column of ids; found {_quote_names(present)} ({advice})",
            location,
            parameter="columns",
        )
    return found[0]


def _one(
    columns: Parameters,
    key: str,
    usual: Sequence[str],
    records: Sequence[Parameters],
    present: Sequence[str],
    location: str,
) -> str | None:
    """Return the first present column of those under ``key``, or of the usual ones
    without that key; None for a null.
    """
    if key not in columns:
        return find_name(usual, present)
    if columns[key] is None:
        return None
    choices = [str(choice) for choice in _as_list(columns[key])]
    column = find_name(choices, present) or next(
        (name for name in choices if _leads_to_value(records, name)), None
    )
    if column is None:
        raise missing_column(choices[0], present, location)
    return column


def _leads_to_value(records: Sequence[Parameters], column: str) -> bool:
    """Return True for a dotted path with a value in one of the records."""
    return any(has_field(record, column) for record in records)


def _matching(
    name: YamlValue,
    records: Sequence[Parameters],
    present: Sequence[str],
    location: str,
) -> list[str]:
    """Return the columns that a name, path or pattern stands for; raise
    :class:`InputError` when there are none.
    """
    name = str(name)
    if name in present:
        return [name]
    found = fnmatch.filter(present, name)
    if not found and (column := find_name([name], present)):
        found = [column]
    if not found and _leads_to_value(records, name):
        found = [name]
    if not found:
        raise missing_column(name, present, location)
    return found


def missing_column(name: str, present: Collection[str], location: str) -> InputError:
    """Return the error for a column that a table lacks."""
    message = (
        f"no column '{name}'{did_you_mean(name, present)}; "
        f"found {_quote_names(present)}"
    )
    return InputError(message, location, parameter="columns", value=name)


def _as_list(value: YamlValue) -> list[YamlValue]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _quote_names(names: Iterable[str]) -> str:
    return quote_list(names, MOST_NAMES) or "none"
