"""Sets of events of the records of a file: texts with their times or boxes, as one text
for each annotator and video (:class:`~harness.contracts.EventSet`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from harness.contracts import GEOMETRIES, Event, EventSet, Parameters, Values
from harness.errors import InputError
from harness.files.captions import check_text, identity
from harness.files.columns import find_name
from harness.files.fields import get_field
from harness.files.generated.timed_texts import read_timed_text
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue

TIME_COLUMNS = ("timestamps", "timestamp", "segments", "segment", "times", "time_spans")
"""Usual names of the times of events, beside their texts or in an object with a text.
"""
REGION_BOXES = "region_boxes"
"""Column of the boxes of forms whose captions are those of regions or objects: a list
of such captions is never one of alternatives.
"""
BOX_COLUMNS = (REGION_BOXES, "boxes", "box", "bbox", "bboxes")
"""Usual names of boxes: left, top, right and bottom, or the eight corners in a scene.
"""
STARTS = ("start", "start_time", "begin")
ENDS = ("end", "end_time", "stop")
SCORES = ("scores", "proposal_score", "score", "confidence", "conf", "logprobs")
"""Usual names of the confidence of an event."""
LABELS = ("labels", "label", "cls", "class", "object_id")
TEXTS = ("sentence", "caption", "text", "raw", "description")
_PLACES = (*TIME_COLUMNS, *BOX_COLUMNS)
_USED = (*_PLACES, *SCORES, *LABELS, "duration")
WHOLE_VIDEO = "1"
"""Id of the video of a file of subtitles, which holds no other."""


def event_set_rows(
    rows: Iterable[Record],
    id_column: str | None,
    captions: str,
    *,
    is_video: bool,
    keeps_answers: bool = False,
) -> Iterator[Record]:
    """Yield records whose captions are the text of a set of events.

    Parameters
    ----------
    rows : iterable of Record
        Records with lists of texts and of places, or with one event each, whose records
        of one id follow one another.
    id_column : str or None
        Column of the ids.
    captions : str
        Column of the texts.
    is_video : bool
        All records are events of one video (subtitles).
    keeps_answers : bool
        Texts without a place beside them stay as they are.

    Raises
    ------
    InputError
        For a text without a place, a place without a text, a place that is no time or
        box, and a text with a mark of its own.
    """
    group: list[Event] = []
    first: Record | None = None
    key = ""
    for row in rows:
        if not keeps_answers:
            row = _with_events(row, captions)
        elif _is_answer(row, captions):
            if first is not None:
                yield _joined(first, captions, group, id_column, key)
            first, group = None, []
            yield row
            continue
        event = _single_event(row, captions)
        if event is None:
            if first is not None:
                yield _joined(first, captions, group, id_column, key)
            first, group = None, []
            yield _set_of_record(row, captions)
            continue

        row_key = WHOLE_VIDEO
        if not is_video and id_column is not None:
            value = get_field(row.fields, id_column)
            row_key = identity(value, row.where, id_column)
        if first is not None and row_key != key:
            yield _joined(first, captions, group, id_column, key)
            first, group = None, []
        first = first or row
        key = row_key
        group.append(event)
    if first is not None:
        yield _joined(first, captions, group, id_column, key)


def _with_events(row: Record, captions: str) -> Record:
    """Return a record whose one text is an answer of a model with times in it as one of
    texts and times; any other record as it is.
    """
    if not _is_answer(row, captions):
        return row
    text = cast("str", get_field(row.fields, captions))
    events = read_timed_text(text, row.where, _duration(row))
    if events is None:
        return row
    return Record(
        row.where,
        {
            **row.fields,
            captions: [event.text for event in events],
            TIME_COLUMNS[0]: [[event.start, event.end] for event in events],
        },
    )


def _is_answer(row: Record, captions: str) -> bool:
    """Return True for a record of one text without a place beside it."""
    text = get_field(row.fields, captions)
    return isinstance(text, str) and _place_of_object(row.fields) is None


def _joined(
    row: Record, captions: str, events: list[Event], id_column: str | None, key: str
) -> Record:
    """Return the record of the events of several records of one id."""
    fields = _others(row.fields, captions)
    if id_column is not None:
        fields[id_column] = key
    fields[captions] = EventSet(tuple(events), _duration(row)).to_text()
    return Record(row.where, fields)


def _single_event(row: Record, captions: str) -> Event | None:
    """Return the event of a record that holds one text and its start and end; None for
    a record of several.
    """
    fields = row.fields
    text = get_field(fields, captions)
    if not isinstance(text, str):
        return None
    place = _place_of_object(fields)
    if place is None:
        raise InputError(
            f"'{captions}' is {text!r:.60}, a text without a time or box; expected "
            "events: 'start' and 'end' in seconds beside it, an answer such as "
            "'12.0 - 24.5 seconds, a man runs', or an empty list for an answer that "
            "describes nothing",
            row.where,
        )
    return _event(text, place, fields, row.where)


def _set_of_record(row: Record, captions: str) -> Record:
    """Return a record with the set of events that it holds in lists."""
    values = get_field(row.fields, captions)
    texts: Sequence[YamlValue] = ()
    if values is not None:
        if not isinstance(values, (list, tuple)):
            raise InputError(
                f"'{captions}' is {kind(values)}; expected a list of texts", row.where
            )
        texts = values
    places = _places(row, captions, texts)
    if len(texts) != len(places):
        raise InputError(
            f"'{captions}' has {len(texts)} texts and {len(places)} times; "
            "expected as many times as texts",
            row.where,
        )

    beside: dict[str, Sequence[YamlValue]] = {}
    for names in (SCORES, LABELS):
        column = find_name(names, row.fields)
        listed = row.fields[column] if column is not None else None
        if isinstance(listed, (list, tuple)) and len(listed) == len(texts):
            beside[names[-1]] = listed

    events: list[Event] = []
    for number, (item, place) in enumerate(zip(texts, places)):
        where = f"{row.where}: event {number + 1}"
        fields: Values = dict(item) if isinstance(item, dict) else {}
        for key, listed in beside.items():
            fields[key] = listed[number]
        name = find_name(TEXTS, fields) if fields else None
        if isinstance(item, dict) and name is None:
            raise InputError(
                "the event has no text; expected 'sentence', 'caption' or 'text'", where
            )
        text = fields[name] if name is not None else item
        events.append(_event(check_text(text, where), place, fields, where))

    fields = _others(row.fields, captions)
    fields[captions] = EventSet(tuple(events), _duration(row)).to_text()
    return Record(row.where, fields)


def _places(
    row: Record, captions: str, texts: Sequence[YamlValue]
) -> Sequence[YamlValue]:
    """Return the places of the texts of a record; raise :class:`InputError` where it
    has none.
    """
    column = find_name(_PLACES, row.fields)
    if column is not None:
        places = row.fields[column]
        if not isinstance(places, (list, tuple)):
            raise InputError(
                f"'{column}' is {kind(places)}; expected a list of times or boxes",
                row.where,
            )
        return places
    places = [_place_of_object(item) for item in texts if isinstance(item, dict)]
    if len(places) == len(texts) and all(place is not None for place in places):
        return cast("Sequence[YamlValue]", places)
    raise InputError(
        f"'{captions}' holds texts without times or boxes; expected events: "
        "'timestamps', pairs of seconds, beside the texts",
        row.where,
    )


def _place_of_object(item: Parameters) -> YamlValue:
    """Return the place that an object has; None without one."""
    name = find_name(_PLACES, item)
    if name is not None:
        return item[name]
    start = find_name(STARTS, item)
    end = find_name(ENDS, item)
    return [item[start], item[end]] if start is not None and end is not None else None


def _event(text: str, place: YamlValue, fields: Parameters, where: str) -> Event:
    """Return an event, checked."""
    score_column = find_name(SCORES, fields)
    score = fields.get(score_column) if score_column is not None else None
    if isinstance(score, (list, tuple)):
        score = None
    label_column = find_name(LABELS, fields)
    label = fields.get(label_column) if label_column is not None else None
    return Event(
        check_text(text, where),
        _coordinates(place, where),
        None if score is None else _number(score, "score", where),
        "" if label is None or isinstance(label, (list, tuple)) else str(label),
    )


def _coordinates(place: YamlValue, where: str) -> tuple[float, ...]:
    """Return the coordinates of a place: a time, a box, or the corners of a box in a
    scene.
    """
    values = place
    if isinstance(place, dict):
        values = _place_of_object(place)
    if isinstance(values, (list, tuple)):
        flat: list[YamlValue] = []
        for item in values:
            flat += item if isinstance(item, (list, tuple)) else [item]
        if len(flat) in GEOMETRIES:
            numbers = tuple(_number(item, "place", where) for item in flat)
            if len(numbers) == 2 and min(numbers) < 0:
                raise InputError(
                    f"the time {list(numbers)} is negative; expected seconds from the "
                    "beginning of the video",
                    where,
                )
            return numbers
    raise InputError(
        f"the place is {place!r:.60}; expected start and end in seconds, "
        "four numbers of a box, or the eight corners of a box in a scene",
        where,
    )


def _number(value: YamlValue, what: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"the {what} is {kind(value)}; expected a number", where)
    if not math.isfinite(value):
        raise InputError(f"the {what} is {value}; expected a finite number", where)
    return float(value)


def _duration(row: Record) -> float | None:
    value = row.fields.get("duration")
    if value is None:
        return None
    duration = _number(value, "duration", row.where)
    if duration <= 0:
        raise InputError(
            f"the duration is {duration:g}; expected seconds above 0", row.where
        )
    return duration


def _others(fields: Parameters, captions: str) -> Values:
    """Return the fields that do not belong to the events."""
    used = {name for name in fields if find_name(_USED, {name: None}) is not None}
    used |= {name for name in fields if find_name((*STARTS, *ENDS), {name: None})}
    return {
        name: value
        for name, value in fields.items()
        if name not in used and name != captions
    }
