"""Progress bars and notes: on a terminal only."""

from __future__ import annotations

import io
import logging
import sys
from types import SimpleNamespace

import pytest

from harness.run import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal in place of stderr."""
    stream = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream, modules={}))
    return stream


def test_nothing_is_drawn_without_a_terminal(capsys):
    with progress.bar("captions", 3) as advance:
        advance(3)
    progress.note("a remark")
    assert capsys.readouterr() == ("", "")


def test_notes_are_logged_and_printed_on_a_terminal(caplog, terminal):
    with caplog.at_level(logging.INFO):
        progress.note("a remark")
    assert caplog.messages == ["a remark"]
    assert terminal.getvalue() == "a remark\n"


def test_a_bar_appears_after_a_second_only(terminal, monkeypatch):
    from rich.progress import Progress

    started: list[str] = []
    monkeypatch.setattr(Progress, "start", lambda self: started.append("start"))
    monkeypatch.setattr(Progress, "stop", lambda self: started.append("stop"))
    with progress.bar("quick", 2) as advance:
        advance(2)
    assert started == []
    clock = iter([0.0, 0.5, 2.0, 3.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.bar("slow", 3) as advance:
        for _ in range(3):
            advance(1)
    assert started == ["start", "stop"]


def test_show_false_draws_nothing(terminal, monkeypatch):
    import rich.progress

    monkeypatch.setattr(rich.progress, "Progress", None)
    with progress.bar("captions", 3, show=False) as advance:
        advance(1)


def test_a_notebook_has_a_bar_below_its_cell(monkeypatch):
    clock, shown = [0.0], []

    class Handle:
        def update(self, content):
            shown.append(content)

    def display(content, display_id):
        shown.append(content)
        return Handle()

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.bar("captions: <model>", 4) as advance:
        for _ in range(4):
            clock[0] += 0.6
            advance(1)
    assert len(shown) == 4, "the first second draws nothing"
    assert 'value="4" max="4"' in shown[-2]
    assert shown[-1] == "", "the bar goes when the work is done"
    assert "captions: &lt;model&gt;" in shown[0]
    shown.clear()
    with progress.bar("quiet", 4, show=False) as advance:
        clock[0] += 9
        advance(4)
    assert shown == []


def test_outside_of_a_notebook_there_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not progress.in_notebook()
