"""Times that models write around the captions of the parts of a video, in one text.

Forms: ``12.0 - 24.5 seconds, a man runs.`` (TimeChat, VTG-LLM), ``[00:12] a man runs``
and ``00:12 - 00:24: a man runs`` (clock times; without an end an event ends where the
next begins), JSON lists of objects with start, end and text, in a fence or not
(Qwen-VL), ``frames 12 - 30: a man runs``, and times without a unit, ``From 00 to 23, a
man runs`` (VTimeLLM), whose unit has to be said (:class:`TimeScale`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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
_FRAMES = re.compile(
    rf"(?:from\s+)?\bframes?\s+(\d+){_TO}(?:frames?\s+)?(\d+)\s*[,:.\-]?\s*",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\bfrom\s+({_NUMBER})\s+to\s+({_NUMBER})\s*[,:]\s*", re.IGNORECASE)
"""Times without a unit: VTimeLLM writes hundredths of the duration so."""
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


TimeUnit = Literal["seconds", "hundredths", "frames"]
"""Unit of times that a model writes without one: seconds, hundredths of the duration,
or numbers of frames.
"""
TIME_UNITS: tuple[TimeUnit, ...] = ("seconds", "hundredths", "frames")


@dataclass(frozen=True)
class TimeScale:
    """Unit of the times without a unit in the answers of a model.

    Clock times and times with ``seconds`` or ``s`` are seconds whatever it is.
    """

    unit: TimeUnit | None = None
    """None: not known; numbers in JSON are seconds then."""
    fps: float | None = None
    """Frames of a second, for ``frames`` and for answers that say so themselves."""

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in TIME_UNITS:
            raise InputError.of_name("unknown time_unit", self.unit, TIME_UNITS)
        if self.fps is not None and not 0 < self.fps < math.inf:
            raise InputError(
                f"fps is {self.fps:g}; expected frames of a second, above 0",
                parameter="fps",
                value=self.fps,
            )
        if self.unit == "frames" and self.fps is None:
            raise InputError(
                "time_unit: frames needs fps, the frames of a second: fps: 25",
                parameter="fps",
            )

    def seconds(self, value: float, duration: float | None, where: str) -> float:
        """Return a number without a unit in seconds; raise :class:`InputError` for
        hundredths of a duration that is not known.

        >>> TimeScale("hundredths").seconds(23, 200.0, "here")
        46.0
        """
        if self.unit == "frames":
            assert self.fps is not None  # checked when it was created
            return value / self.fps
        if self.unit != "hundredths":
            return value
        if duration is None:
            raise InputError(
                "times in hundredths of the duration need it; expected 'duration' "
                "(seconds) beside the events of the references",
                where,
            )
        return value * duration / 100


class TwoUnitsError(InputError):
    """Times without a unit that have two readings."""


class TimedText(NamedTuple):
    """A caption with its time in seconds."""

    start: float
    end: float
    text: str


def read_timed_text(
    text: str,
    where: str,
    duration: float | None = None,
    scale: TimeScale | None = None,
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
    scale : TimeScale, optional
        Unit of times without one.

    Raises
    ------
    InputError
        For times that may be seconds or hundredths of the duration where no unit is
        given, frames without their rate, and JSON with other content than times and
        texts.

    Examples
    --------
    >>> read_timed_text("0 - 4.5 seconds, a man runs. 5 - 9 seconds, he falls.", "here")
    [TimedText(start=0.0, end=4.5, text='a man runs.'), TimedText(start=5.0, end=9.0, \
text='he falls.')]
    """
    scale = scale or TimeScale()
    events = _of_json(text, where, duration, scale)
    if events is not None:
        return events
    found = list(_SECONDS.finditer(text))
    if found:
        spans = [(float(match[1]), float(match[2])) for match in found]
        return _with_texts(text, found, spans)

    frames = list(_FRAMES.finditer(text))
    if frames:
        return _with_texts(text, frames, _frame_times(frames, scale, where))
    clocks = list(_CLOCKS.finditer(text))
    if clocks:
        return _with_texts(text, clocks, _clock_times(clocks, duration))

    bare = list(_BARE.finditer(text))
    if bare and scale.unit is None:
        raise _two_units(bare[0], duration, where)
    if bare:
        spans = [
            (
                scale.seconds(float(match[1]), duration, where),
                scale.seconds(float(match[2]), duration, where),
            )
            for match in bare
        ]
        return _with_texts(text, bare, spans)
    return None


def _frame_times(
    found: Sequence[re.Match[str]], scale: TimeScale, where: str
) -> list[tuple[float, float]]:
    """Return times of numbers of frames, in seconds."""
    rate = scale.fps
    if rate is None:
        raise InputError(
            f"the times {found[0][0].strip()!r} are numbers of frames; expected "
            "seconds, or the frames of a second: fps: 25",
            where,
        )
    return [(int(match[1]) / rate, int(match[2]) / rate) for match in found]


def _clock_times(
    found: Sequence[re.Match[str]], duration: float | None
) -> list[tuple[float, float]]:
    """Return clock times in seconds; one without an end ends where the next begins."""
    starts = [clock_seconds(match[1]) for match in found]
    last = starts[-1] if duration is None else max(duration, starts[-1])
    return [
        (start, clock_seconds(match[2]) if match[2] else following)
        for start, match, following in zip(starts, found, [*starts[1:], last])
    ]


def _two_units(
    match: re.Match[str], duration: float | None, where: str
) -> TwoUnitsError:
    """Return the error for times with two possible units, with both written out."""
    start, end = float(match[1]), float(match[2])
    shares = f"{start:g} % to {end:g} % of the video"
    if duration is not None:
        first, last = start * duration / 100, end * duration / 100
        shares = f"{first:.6g} s to {last:.6g} s of {duration:g} s"
    return TwoUnitsError(
        f"the times {match[0].strip()!r} may be seconds or hundredths of the duration: "
        f"{start:g} s to {end:g} s, or {shares}; expected a unit: "
        "'12 - 24 seconds, a man runs', or start and end in seconds beside the text",
        where,
    )


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


def _of_json(
    text: str, where: str, duration: float | None, scale: TimeScale
) -> list[TimedText] | None:
    """Return the events of a list of objects, none of an empty one; None for another
    text.
    """
    fence = _FENCE.search(text)
    content: Any = None
    with suppress(json.JSONDecodeError):
        content = json.loads(fence[1] if fence else text)
    if not isinstance(content, list):
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
        if not isinstance(caption, str):
            raise InputError(
                f"the text of event {number} of the answer is {caption!r:.60}; "
                "expected text",
                where,
            )
        times = [_time(value, where, duration, scale) for value in (start, end)]
        events.append(TimedText(times[0], times[1], caption))
    return events


def _time(value: object, where: str, duration: float | None, scale: TimeScale) -> float:
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and 0 <= value < math.inf
    ):
        return scale.seconds(float(value), duration, where)
    if isinstance(value, str):
        if re.fullmatch(_CLOCK, value):
            return clock_seconds(value)
        if re.fullmatch(_NUMBER, value):
            return scale.seconds(float(value), duration, where)
        if re.fullmatch(rf"{_NUMBER}\s*s", value):
            return float(value.rstrip("s "))
    raise InputError(
        f"the time of the answer is {value!r:.40}; expected seconds or a clock time",
        where,
    )
