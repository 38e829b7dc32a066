"""Forms of subtitles: SubRip (SRT) and WebVTT (https://www.w3.org/TR/webvtt1/).

Each cue is an item; its id is its number from 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from harness.errors import InputError
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.sample import Sample
from harness.files.forms.text import read_lines
from harness.files.records import Record

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_VTT_HEAD = re.compile(r"WEBVTT(?:[ \t].*)?")
_TAG = re.compile(
    r"</?(?:i|b|u|s|c|v|em|strong|ruby|rt|lang|font)(?:[.\s][^>]*)?>|<\d[\d:.]*>|\{\\[^}]*\}",
    re.IGNORECASE,
)
"""Tags of WebVTT and of SRT, times within a cue, and marks of position such as
``{\\an8}``.
"""
EMPTY = "cues without text"


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    """Return a time in seconds.

    >>> _seconds("1", "02", "03", "500")
    3723.5
    """
    return (
        int(hours or 0) * 3600
        + int(minutes) * 60
        + int(seconds)
        + int(fraction) / 10 ** len(fraction)
    )


def cue_text(lines: list[str], *, entities: bool) -> str:
    """Return the text of a cue: its lines joined by a blank, without tags; ``entities``
    are decoded in WebVTT alone.

    >>> cue_text(["<i>a dog</i>", "{\\\\an8}on grass"], entities=False)
    'a dog on grass'
    """
    text = _TAG.sub("", " ".join(lines))
    if entities:
        import html  # its table of entities takes a millisecond

        text = html.unescape(text)
    return " ".join(text.split())


def _is_vtt(sample: Sample) -> bool:
    return bool(sample.lines) and bool(_VTT_HEAD.fullmatch(sample.lines[0]))


def _is_srt(sample: Sample) -> bool:
    if _is_vtt(sample):
        return False

    # The times of the first cue, with or without its number before them.
    head = [line.strip() for line in sample.lines if line.strip()][:2]
    if len(head) == 2 and head[0].isdecimal():
        head = head[1:]
    return bool(head) and bool(_TIMING.fullmatch(head[0]))


def _read(sample: Sample, name: str) -> Form:
    left_out: Counter[str] = Counter()

    def rows() -> Iterator[Record]:
        for number, (line, start, end, texts) in enumerate(_cues(sample), 1):
            text = cue_text(texts, entities=name == "webvtt")
            if not text:
                left_out[EMPTY] += 1
                continue
            yield Record(
                f"{sample.path}:{line}",
                {"id": str(number), "caption": text, "start": start, "end": end},
            )

        has_times = any(_TIMING.fullmatch(line) for line in sample.lines)
        if not has_times and not left_out:
            raise InputError(
                "holds no cues; expected lines such as 00:00:01.000 --> 00:00:02.000",
                str(sample.path),
            )

    return Form(name, rows(), ids=("id",), left_out=left_out)


def _cues(sample: Sample) -> Iterator[tuple[int, float, float, list[str]]]:
    """Yield the line, start and end in seconds, and lines of text of each cue."""
    # A cue reaches from its times to a blank line. Some writers leave the blank line
    # out: then the number before the next times is none of its text.
    cue: tuple[int, float, float, list[str]] | None = None
    for number, line in read_lines(sample.path):
        timing = _TIMING.fullmatch(line)
        if timing is not None:
            if cue is not None:
                *_, texts = cue
                if texts and texts[-1].strip().isdecimal():
                    texts.pop()
                yield cue
            fields = timing.groups()
            cue = (number, _seconds(*fields[:4]), _seconds(*fields[4:]), [])
        elif cue is not None and line.strip():
            *_, texts = cue
            texts.append(line)
        elif cue is not None:
            yield cue
            cue = None
    if cue is not None:
        yield cue


SRT = FormKind(
    "srt",
    "subtitles, SubRip: each cue is an item, with its times in `start` and `end` "
    "(seconds)",
    _is_srt,
    lambda sample: _read(sample, "srt"),
    [
        FormExample(
            "1\n00:00:01,000 --> 00:00:02,000\na dog\n\n2\n"
            "00:00:02,000 --> 00:00:03,000\na cat",
            "the number of the cue, from 1",
        )
    ],
    reading="the text of the cue in one line, without tags",
)
WEBVTT = FormKind(
    "webvtt",
    "subtitles, WebVTT: the same",
    _is_vtt,
    lambda sample: _read(sample, "webvtt"),
    [
        FormExample(
            "WEBVTT\n\n00:01.000 --> 00:02.000\na dog\n\n00:02.000 --> 00:03.000\n"
            "<i>a cat</i>",
            "the number of the cue, from 1",
        )
    ],
    reading="the text of the cue in one line, without tags and with `&amp;` decoded",
)
