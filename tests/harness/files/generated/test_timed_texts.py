"""Times in the answers of models."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.generated.timed_texts import TimeScale, read_timed_text

TWO = [(12.0, 24.5, "a man runs."), (30.0, 40.0, "he falls.")]


@pytest.mark.parametrize(
    "text",
    [
        "12.0 - 24.5 seconds, a man runs. 30.0 - 40.0 seconds, he falls.",
        "0012.0 - 0024.5 seconds, a man runs. 0030.0 - 0040.0 seconds, he falls.",
        "From 12 to 24.5 seconds, a man runs. from 30s to 40s: he falls.",
        "12s - 24.5s: a man runs.\n30s - 40s: he falls.",
        "00:12 - 00:24.5: a man runs.\n00:30 - 00:40: he falls.",
        "[00:12 - 00:24,5] a man runs. [00:30 - 0:00:40] he falls.",
        '[{"start": 12, "end": 24.5, "caption": "a man runs."}, '
        '{"start": 30, "end": 40, "caption": "he falls."}]',
        "Here it is:\n```json\n"
        '[{"start_time": "00:12", "end_time": "00:24.5", "description": "a man runs."},'
        ' {"start_time": "30.0s", "end_time": "0:40", "description": "he falls."}]\n'
        "```",
    ],
)
def test_forms_of_models(text):
    assert read_timed_text(text, "here") == TWO


def test_starts_alone_end_where_the_next_begins():
    text = "[00:12] a man runs\n[00:30] he falls"
    assert read_timed_text(text, "here", 50.0) == [
        (12.0, 30.0, "a man runs"),
        (30.0, 50.0, "he falls"),
    ]
    assert read_timed_text(text, "here")[1][:2] == (30.0, 30.0)


@pytest.mark.parametrize("text", ["a man runs", "", "in 2024 a team of 5 wins 3 - 1"])
def test_a_text_without_times_is_none(text):
    assert read_timed_text(text, "here") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("From 00 to 23, a man runs.", "seconds or hundredths of the duration"),
        ("From 00 to 23, a man runs.", "0 s to 23 s, or 0 % to 23 % of the video"),
        ("Frames 12 - 30: a man runs.", "numbers of frames; expected seconds"),
        ('[{"start": -1, "end": 2, "text": "a"}]', "seconds or a clock time"),
        ('[{"start": NaN, "end": 2, "text": "a"}]', "seconds or a clock time"),
        ('[{"start": 1, "end": 2, "text": 3}]', "expected text"),
        ('[{"start": 1, "text": "a"}]', "an object with start, end and text"),
        ('[{"start": 1, "end": "late", "text": "a"}]', "seconds or a clock time"),
    ],
)
def test_two_readings_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        read_timed_text(text, "here")


@pytest.mark.parametrize(
    "text",
    [
        "From 24 to 49, a man runs. From 60 to 80, he falls.",
        "Frames 24 - 49: a man runs.\nframe 60 to frame 80: he falls.",
        '[{"start": 24, "end": "49", "caption": "a man runs."}, '
        '{"start": "30s", "end": "00:40", "caption": "he falls."}]',
    ],
)
def test_numbers_of_frames_are_seconds_by_their_rate(text):
    assert read_timed_text(text, "here", 50.0, TimeScale("frames", 2.0)) == [
        (12.0, 24.5, "a man runs."),
        (30.0, 40.0, "he falls."),
    ]


def test_an_empty_list_is_no_events():
    assert read_timed_text("```json\n[]\n```", "here") == []


@pytest.mark.parametrize(
    ("unit", "fps", "message"),
    [
        ("minutes", None, "unknown time_unit 'minutes'"),
        ("frames", None, "needs fps, the frames of a second: fps: 25"),
        ("frames", 0.0, "fps is 0; expected frames of a second, above 0"),
        (None, float("nan"), "fps is nan"),
    ],
)
def test_a_scale_is_checked(unit, fps, message):
    with pytest.raises(InputError, match=message):
        TimeScale(unit, fps)
