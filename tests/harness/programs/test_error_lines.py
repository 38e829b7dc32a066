"""Standard error of a program as lines."""

from __future__ import annotations

import os

import pytest

from harness.files.component_lines import collect_lines
from harness.programs.error_lines import ErrorLines


@pytest.fixture
def pipe():
    """Lines that are read, and the descriptor that is written to."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield ErrorLines("metric 'x'", reading), writing
    os.close(reading)


def texts(lines):
    return [line.text for line in lines]


def test_a_line_is_logged_once_it_is_whole(pipe):
    lines, writing = pipe
    with collect_lines() as logged:
        assert lines.read() is None
        os.write(writing, b"loading\nweigh")
        assert lines.read() is True
        assert texts(logged) == ["loading"]
        os.write(writing, b"ts\n\n  \n")
        lines.read_rest()
        assert texts(logged) == ["loading", "weights"]
        os.write(writing, b"no line feed")
        os.close(writing)
        lines.read_rest()
        assert lines.read() is False
    assert texts(logged) == ["loading", "weights", "no line feed"]
    assert lines.last_words() == "no line feed"


def test_bytes_that_are_no_text_are_shown(pipe):
    lines, writing = pipe
    os.write(writing, "señal\n".encode("latin-1"))
    os.close(writing)
    with collect_lines() as logged:
        lines.read_rest()
    assert texts(logged) == ["se\N{REPLACEMENT CHARACTER}al"]


def test_of_a_bar_of_progress_the_last_state_is_logged(pipe):
    lines, writing = pipe
    with collect_lines() as logged:
        for share in range(5000):
            os.write(writing, f"\r{share:4d} of 5000".encode())
            lines.read()
        assert logged == []
        os.write(writing, b"\n")
        os.close(writing)
        lines.read_rest()
    assert texts(logged) == ["4999 of 5000"]


def test_a_line_with_an_error_is_the_last_word(pipe):
    lines, writing = pipe
    assert lines.last_words() == "nothing on standard error"
    os.write(writing, b"ValueError: no model\nsee the manual\n")
    os.close(writing)
    lines.read_rest()
    assert lines.last_words() == "ValueError: no model"
