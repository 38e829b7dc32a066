"""Captions of the parts of a video or a sound: texts with times, which are not
alternative captions of one thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.contracts import Events, Parameters, Values
from harness.errors import InputError
from harness.files.columns import find_name
from harness.files.event_sets import (
    ENDS,
    REGION_BOXES,
    STARTS,
    TEXTS,
    TIME_COLUMNS,
    event_set_rows,
)
from harness.files.fields import get_field
from harness.files.records import Record
from harness.files.yaml_source import YamlValue


def resolve_events(
    rows: Iterable[Record],
    id_column: str | None,
    captions: str,
    events: Events | None,
    *,
    form: str = "",
    keeps_answers: bool = False,
) -> Iterator[Record]:
    """Yield records whose lists of texts with times are one text, or one record per
    text.

    Parameters
    ----------
    rows : iterable of Record
        Records of a file.
    id_column : str or None
        Column of the ids; events of a record without one keep no id.
    captions : str
        Column of the captions.
    events : {"paragraph", "separate", "sets"} or None
        ``paragraph`` joins the texts of a record by blanks; ``separate`` makes each an
        item ``ID#1``, ``ID#2``, ...; ``sets`` makes one text of the set of events.
    form : str
        Name of the form of the file: the cues of a file of subtitles are the events of
        one video.
    keeps_answers : bool
        A text without a place beside it is an answer of a model, which stays as it is
        where sets are asked for (:class:`~harness.files.answer_events.AnswerEvents`
        reads it when the duration is known).

    Raises
    ------
    InputError
        For a record with several texts with times where ``events`` is None, and for
        another number of times than of texts.
    """
    if events == "sets":
        is_video = form in ("srt", "webvtt")
        yield from event_set_rows(
            rows, id_column, captions, is_video=is_video, keeps_answers=keeps_answers
        )
        return
    for row in rows:
        places = _find_places(row.fields, captions)
        if places is None:
            yield row
            continue
        texts = get_field(row.fields, captions)
        assert isinstance(texts, (list, tuple))

        noun = "boxes" if REGION_BOXES in row.fields else "times"
        if len(texts) != len(places):
            raise InputError(
                f"'{captions}' has {len(texts)} texts and {len(places)} {noun}; "
                f"expected as many {noun} as texts",
                row.where,
            )
        if events is None and len(texts) > 1:
            raise InputError(
                f"'{captions}' holds {len(texts)} texts with {noun}: "
                "captions of parts, not of one thing "
                "(events: paragraph joins them to one text; "
                "events: separate makes each an item of its own)",
                row.where,
                parameter="events",
            )

        values = [_text_of(item) for item in texts]
        if events != "separate":
            paragraph = " ".join(str(value).strip() for value in values)
            yield Record(row.where, {**row.fields, captions: paragraph})
            continue
        for number, (value, place) in enumerate(zip(values, places), 1):
            fields = {**row.fields, captions: value, **place}
            if id_column is not None:
                fields[id_column] = f"{get_field(row.fields, id_column)}#{number}"
            yield Record(row.where, fields)


def _find_places(fields: Parameters, captions: str) -> Sequence[Values] | None:
    """Return the fields with the place of each text of a record; None where the texts
    have none.
    """
    boxes = fields.get(REGION_BOXES)
    if isinstance(boxes, list) and isinstance(fields.get(captions), (list, tuple)):
        return [{"box": box} for box in boxes]
    spans = _find_spans(fields, captions)
    if spans is None:
        return None
    return [{"start": start, "end": end} for start, end in spans]


def _find_spans(
    fields: Parameters, captions: str
) -> Sequence[tuple[YamlValue, YamlValue]] | None:
    """Return the times of the texts of a record; None where they have none."""
    value = fields.get(captions)
    if not isinstance(value, (list, tuple)) or not value:
        return None

    # The times are a column beside the texts, or fields of objects with a text.
    name = find_name(TIME_COLUMNS, fields)
    times = fields.get(name) if name is not None else None
    if isinstance(times, (list, tuple)) and times:
        spans = [_span(item) for item in times]
    elif all(isinstance(item, Mapping) for item in value):
        spans = [_span_of_object(item) for item in value]
    else:
        return None

    # Where one has no time, the list is no list of events.
    complete = [span for span in spans if span is not None]
    return complete if len(complete) == len(spans) else None


def _span(value: YamlValue) -> tuple[YamlValue, YamlValue] | None:
    """Return the start and end of a pair of numbers or of an object; None for anything
    else.
    """
    if isinstance(value, Mapping):
        return _span_of_object(value)
    is_pair = isinstance(value, (list, tuple)) and len(value) == 2
    if not is_pair or not all(isinstance(item, (int, float)) for item in value):
        return None
    return value[0], value[1]


def _span_of_object(item: Parameters) -> tuple[YamlValue, YamlValue] | None:
    """Return the start and end that an object has; None without them."""
    name = find_name(TIME_COLUMNS, item)
    if name is not None:
        return _span(item[name]) if not isinstance(item[name], Mapping) else None
    start = find_name(STARTS, item)
    end = find_name(ENDS, item)
    return (item[start], item[end]) if start is not None and end is not None else None


def _text_of(item: YamlValue) -> YamlValue:
    """Return the text of an event: itself, or the field of an object that holds it."""
    if isinstance(item, Mapping):
        name = find_name(TEXTS, item)
        return item[name] if name is not None else item
    return item


def has_times(fields: Parameters) -> bool:
    """Return True for a record with times or boxes of regions, or with objects that
    have times.
    """
    if find_name((*TIME_COLUMNS, REGION_BOXES), fields) is not None:
        return True
    return any(
        isinstance(value, list)
        and value
        and isinstance(value[0], Mapping)
        and _span_of_object(value[0])
        for value in fields.values()
    )
