"""Subtitles: cues and their times."""

from __future__ import annotations

from harness.files.forms import read_form


def test_times_of_cues_are_kept_in_seconds(tmp_path):
    (tmp_path / "f").write_text(
        "1\n01:00:01,250 --> 01:00:02,5\na dog\n\n2\n01:00:03,000 --> 01:00:04,000\n"
        "<i></i>\n\n3\n01:01:00,000 --> 01:01:01,000\na cat"
    )
    form = read_form(tmp_path / "f", "references")
    assert [dict(row.fields) for row in form.rows] == [
        {"id": "1", "caption": "a dog", "start": 3601.25, "end": 3602.5},
        {"id": "3", "caption": "a cat", "start": 3660.0, "end": 3661.0},
    ]
    assert form.left_out == {"cues without text": 1}
