"""Times that models write around the captions of the parts of a video, in one text.

Forms: ``12.0 - 24.5 seconds, a man runs.`` (TimeChat, VTG-LLM), ``[00:12] a man runs``
and ``00:12 - 00:24: a man runs`` (clock times; without an end an event ends where the
next begins), and JSON lists of objects with start, end and text, in a fence or not
(Qwen-VL).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.files.columns import find_name

STARTS = ("start", "start_time", "begin", "from")
ENDS = ("end", "end_time", "stop", "to")
TEXTS = ("sentence", "caption", "text", "description", "event", "content", "label")
_NUMBER = r"\d+(?:\.\d+)?"
_CLOCK = r"(?:\d{1,2}:)?\d{1,3}:\d{2}(?:[.,]\d+)?"
_TO = r"\s*(?:-|–|—|to|and|,)\s*"
_SECONDS = re.compile(
    rf"(?:from\s+)?\[?({_NUMBER})\s*(?:s|sec|secs|seconds)?{_TO}({_NUMBER})\]?\s*"
    r"(?:s|sec|secs|seconds)\b\]?\s*[,:.\-]?\s*",
    re.IGNORECASE,
)
_CLOCKS = re.compile(
    rf"[\[(]?\b({_CLOCK})[\])]?(?:{_TO}[\[(]?({_CLOCK})[\])]?)?\s*[,:\-–—]?\s*"
)
_BARE = re.compile(rf"\bfrom\s+({_NUMBER})\s+to\s+({_NUMBER})\s*,", re.IGNORECASE)
"""Times without a unit: VTimeLLM writes hundredths of the duration so."""
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


class TimedText(NamedTuple):
    """A caption with its time in seconds."""

    start: float
    end: float
    text: str


def read_timed_text(
    text: str, where: str, duration: float | None = None
) -> list[TimedText] | None:
    """Return the events that a model wrote in one text; None for a text without times.

    Parameters
    ----------
    text : str
        The whole answer.
    where : str
        Place of the text, for messages.
    duration : float, optional
        Length of the video in seconds, where the last event ends that has no end; one
        without a known end has no length.

    Raises
    ------
    InputError
        For times that may be seconds or hundredths of the duration.

    Examples
    --------
    >>> read_timed_text("0 - 4.5 seconds, a man runs. 5 - 9 seconds, he falls.", "here")
    [TimedText(start=0.0, end=4.5, text='a man runs.'), TimedText(start=5.0, end=9.0, \
text='he falls.')]
    """
    events = _of_json(text, where)
    if events is not None:
        return events
    found = list(_SECONDS.finditer(text))
    if found:
        spans = [(float(match[1]), float(match[2])) for match in found]
        return _with_texts(text, found, spans)

    clocks = list(_CLOCKS.finditer(text))
    if clocks:
        starts = [clock_seconds(match[1]) for match in clocks]
        last = starts[-1] if duration is None else max(duration, starts[-1])
        nexts = [*starts[1:], last]
        spans = [
            (start, clock_seconds(match[2]) if match[2] else following)
            for start, match, following in zip(starts, clocks, nexts)
        ]
        return _with_texts(text, clocks, spans)

    bare = _BARE.search(text)
    if bare is not None:
        raise InputError(
            f"the times {bare[0]!r} may be seconds or hundredths of the duration; "
            "expected a unit: '12 - 24 seconds, a man runs', or start and end in "
            "seconds beside the text",
            where,
        )
    return None


def clock_seconds(text: str) -> float:
    """Return a clock time in seconds.

    >>> clock_seconds("1:02:03.5"), clock_seconds("00:12")
    (3723.5, 12.0)
    """
    seconds = 0.0
    for number in text.replace(",", ".").split(":"):
        seconds = 60 * seconds + float(number)
    return seconds


def _with_texts(
    text: str, found: Sequence[re.Match[str]], spans: Sequence[tuple[float, float]]
) -> list[TimedText]:
    """Return the texts between the times."""
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [
        TimedText(start, end, text[match.end() : stop].strip())
        for match, (start, end), stop in zip(found, spans, ends)
    ]


def _of_json(text: str, where: str) -> list[TimedText] | None:
    """Return the events of a list of objects; None for another text."""
    fence = _FENCE.search(text)
    content: Any = None
    with suppress(json.JSONDecodeError):
        content = json.loads(fence[1] if fence else text)
    if not isinstance(content, list) or not content:
        return None

    events: list[TimedText] = []
    for number, item in enumerate(content, 1):
        names = [
            find_name(usual, item) if isinstance(item, dict) else None
            for usual in (STARTS, ENDS, TEXTS)
        ]
        if None in names:
            raise InputError(
                f"event {number} of the answer is {item!r:.60}; expected an object "
                "with start, end and text",
                where,
            )
        start, end, caption = (item[name] for name in names)
        times = _time(start, where), _time(end, where)
        events.append(TimedText(*times, str(caption)))
    return events


def _time(value: object, where: str) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        if re.fullmatch(_CLOCK, value):
            return clock_seconds(value)
        if re.fullmatch(rf"({_NUMBER})\s*s?", value):
            return float(value.rstrip("s ").strip())
    raise InputError(
        f"the time of the answer is {value!r:.40}; expected seconds or a clock time",
        where,
    )
