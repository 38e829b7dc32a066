"""Form of the lines of temporal grounding as Charades-STA has them: ``VIDEO START
END##SENTENCE``, times in seconds.

Layout: https://github.com/jiyanggao/TALL (charades_sta_test.txt).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.errors import InputError
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.sample import Sample
from harness.files.forms.text import read_lines
from harness.files.records import Record

_NUMBER = r"-?\d+(?:\.\d+)?"
LINE = re.compile(rf"\s*(\S+)\s+({_NUMBER})\s+({_NUMBER})\s*##(.*)")


class _Sentences(NamedTuple):
    """Sentences of a video with their times, in the order of the file."""

    where: str
    texts: list[str]
    times: list[list[float]]


def _is_grounding(sample: Sample) -> bool:
    lines = [line for line in sample.lines if line.strip()]
    return bool(lines) and all(map(LINE.fullmatch, lines))


def _read(sample: Sample) -> Form:
    def rows() -> Iterator[Record]:
        # the lines of a video need not follow one another
        videos: dict[str, _Sentences] = {}
        for number, line in read_lines(sample.path):
            where = f"{sample.path}:{number}"
            match = LINE.fullmatch(line)
            if match is None:
                if line.strip():
                    raise InputError(
                        f"found {line!r:.60}; expected VIDEO START END##SENTENCE", where
                    )
                continue
            video = videos.setdefault(match[1], _Sentences(where, [], []))
            video.texts.append(match[4].strip())
            video.times.append([float(match[2]), float(match[3])])
        for name, video in videos.items():
            yield Record(
                video.where,
                {"id": name, "captions": video.texts, "timestamps": video.times},
            )

    return Form("grounding", rows(), ids=("id",))


GROUNDING = FormKind(
    "grounding",
    "temporal grounding, as Charades-STA: a video, start and end, and a sentence in a "
    "line",
    _is_grounding,
    _read,
    [FormExample("42 0.0 5.0##a dog\n73 0.0 5.0##a cat", "the first word of a line")],
    reading="the sentences of a video in `captions`, their times in seconds in "
    "`timestamps`",
)
