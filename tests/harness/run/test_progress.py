"""Progress bars and notes: on a terminal only."""

from __future__ import annotations

import io
import logging
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from harness.run import progress
from harness.run.live_results import current_results, live_results, show_result
from harness.rundir.records import ResultRecord


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal in place of stderr."""
    stream = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream, modules={}))
    return stream


def test_quick_work_prints_nothing_without_a_terminal(capsys):
    with progress.bar("captions", 3) as advance:
        advance(3)
    progress.note("a remark")
    assert capsys.readouterr() == ("", "")


def test_long_work_prints_lines_without_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.02)
    with progress.bar(
        "[1/2] scores", 400, unit="scores", status=lambda: "bleu 0.3 \u00b1 0.02"
    ) as advance:
        time.sleep(0.05)  # a line although nothing has ended
        advance(100)
        time.sleep(0.1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "[1/2] scores: 0 of 400 scores, 0/s; bleu 0.3 \u00b1 0.02"
    assert any(
        "100 of 400 scores" in line and "left; bleu 0.3" in line for line in lines
    )
    assert lines[-1].startswith("[1/2] scores: 100 scores in 0.")


@pytest.mark.parametrize(
    ("done", "total", "seconds", "text"),
    [
        (500, 2000, 10.0, "500 of 2,000 examples, 50/s, 30 s left"),
        (3, 90, 60.0, "3 of 90 examples, 0.05/s, 29 min 00 s left"),
        (7, 0, 2.0, "7 examples, 3.5/s"),
        (3, 0, 0.5, "3 examples, 6/s"),
        (90, 90, 9.0, "90 of 90 examples, 10/s"),
        (99, 90, 9.9, "99 of 90 examples, 10/s"),
        (3, 10, 1.0, "3 of 10 examples, 3/s, 2.3 s left"),
        (1, 4, 8.0, "1 of 4 examples, 0.12/s, 24 s left"),
        (0, 4, 8.0, "0 of 4 examples, 0/s"),
    ],
)
def test_figures(monkeypatch, done, total, seconds, text):
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    meter = progress.Meter("captions", total, "examples", str)
    meter.advance(done)
    clock[0] += seconds
    assert meter.figures() == text


def test_a_minute_and_an_hour_begin_at_their_last_rounded_second():
    texts = [
        progress.duration(seconds)
        for seconds in (9.94, 9.95, 9.96, 59.4, 59.6, 3599.4, 3599.6)
    ]
    assert texts == [
        "9.9 s",
        "10 s",
        "10 s",
        "59 s",
        "1 min 00 s",
        "59 min 59 s",
        "1 h 00 min",
    ]
    assert progress.duration(2 * 3600 + 65) == "2 h 01 min"


def test_stages_are_numbered_in_their_order():
    stage = progress.Stages(["captions", "scores", "captions", "scores"])
    texts = [
        stage(name) for name in ("captions", "other", "captions", "scores", "captions")
    ]
    assert texts == [
        "[1/4] captions",
        "other",
        "[3/4] captions",
        "[4/4] scores",
        "captions",
    ]
    assert progress.Stages(["captions", "scores"])("scores") == "[2/2] scores"


def test_a_line_follows_every_30_seconds_and_ends_with_the_process(monkeypatch):
    waited: list[float] = []

    class Ended(threading.Event):
        def wait(self, timeout=None):
            if timeout is None:  # a thread that starts
                return super().wait()
            waited.append(timeout)
            return True

    monkeypatch.setattr(progress.threading, "Event", Ended)
    lines = progress.Lines("scores", 3, "scores", str)
    assert lines._thread.daemon, "a process that ends does not wait for it"
    lines.close()
    assert waited == [30.0]


def test_work_that_goes_on_is_listed_innermost_last():
    with (
        progress.bar("outer", 3, show=False),
        progress.bar("inner", show=False, unit="scores") as advance,
    ):
        advance(2)
        assert [
            (meter.description, meter.total, meter.unit, meter.done)
            for meter in progress.WORK[-2:]
        ] == [
            ("outer", 3, "examples", 0),
            ("inner", 0, "scores", 2),
        ]
    assert [
        meter for meter in progress.WORK if meter.description in ("outer", "inner")
    ] == []


@pytest.mark.parametrize("seen", [False, True])
def test_a_bar_with_results_starts_before_a_second_has_passed_and_at_once_after_another(
    terminal, monkeypatch, seen
):
    started: list[tuple[float, bool]] = []

    class Timer:
        daemon = False

        def __init__(self, seconds, function):
            self.seconds = seconds

        def start(self):
            started.append((self.seconds, self.daemon))

        def cancel(self):
            started.append((-1, True))

    monkeypatch.setattr(progress.threading, "Timer", Timer)
    with live_results(lambda records: "a table"):
        current_results().seen = seen
        with progress.bar("scores", 3):
            ((seconds, daemon),) = started
            assert daemon and (
                seconds == 0 if seen else 0 < seconds < progress.FIRST_SECONDS
            )
    assert started[1:] == [(-1, True)], "a bar that is closed starts no more"


def test_notes_are_logged_and_printed_on_a_terminal(caplog, terminal):
    with caplog.at_level(logging.INFO):
        progress.note("a remark")
    assert caplog.messages == ["a remark"]
    assert terminal.getvalue() == "a remark\n"


def test_a_bar_appears_after_a_second_only(terminal, monkeypatch):
    from rich.live import Live

    started: list[str] = []
    monkeypatch.setattr(Live, "start", lambda self: started.append("start"))
    monkeypatch.setattr(Live, "is_started", property(lambda self: bool(started)))
    monkeypatch.setattr(Live, "stop", lambda self: started.append("stop"))
    with progress.bar("quick", 2) as advance:
        advance(2)
    assert started == []
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.bar("slow", 3) as advance:
        for _ in range(3):
            clock[0] += 0.6
            advance(1)
    assert started == ["start", "stop"]


@pytest.mark.parametrize("status", ["", "a [red]dog[/] so far"])
def test_a_bar_has_its_texts_as_they_are_and_its_status_below(terminal, status):
    from rich.console import Console

    bar = progress.TerminalBar("[1/2] [b]scores[/]", 4, "[i]scores[/]", lambda: status)
    bar.advance(3)
    console = Console(file=io.StringIO(), width=120)
    console.print(bar._lines())
    bar.close()
    first, *below = console.file.getvalue().splitlines()
    assert first.startswith("[1/2] [b]scores[/] ") and "3 of 4 [i]scores[/]" in first
    assert [(task.completed, task.total) for task in bar._progress.tasks] == [(3, 4)]
    assert bar._live.console.stderr
    assert below == ([f"  {status}"] if status else [])
    assert bar._live.transient, "it disappears"


def test_results_stand_above_the_figures_of_a_bar(terminal):
    from rich.console import Console

    console = Console(file=io.StringIO(), width=120)
    with live_results(lambda records: f"a table of {len(records)}"):
        bar = progress.TerminalBar("scores", 0, "scores", lambda: "a status")
        console.print(bar._lines())
        show_result(ResultRecord(model="a", metric="cider", value=0.5))
        console.print(bar._lines())
        bar.close()
    lines = [
        line.split("  ")[0].rstrip() for line in console.file.getvalue().splitlines()
    ]
    assert [line[:10] for line in lines] == [
        "scores \u2501\u2501\u2501",
        "",
        "a table of",
        "scores \u2501\u2501\u2501",
    ]
    assert [(task.completed, task.total) for task in bar._progress.tasks] == [(0, None)]


def test_a_bar_that_is_closed_appears_no_more(terminal, monkeypatch):
    from rich.live import Live

    clock = [0.0]
    started = []
    monkeypatch.setattr(Live, "start", lambda self: started.append(clock[0]))
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    for description in ("closed", "open"):
        clock[0] = 0.0
        bar = progress.TerminalBar(description, 3, "examples", str)
        clock[0] = 1.0
        bar.advance(1)
        if description == "closed":
            bar.close()
        clock[0] = 1.5
        bar.advance(1)
    bar.close()
    assert started == [1.5], (
        "neither the closed one, nor the open one within the first second"
    )


def test_a_bar_follows_at_once_after_one_that_was_seen_with_results(
    terminal, monkeypatch
):
    from rich.live import Live

    monkeypatch.setattr(Live, "start", lambda self: None)
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with live_results(lambda records: None):
        for _ in range(2):
            with progress.bar(description="scores", total=2) as advance:
                assert current_results().seen == (clock[0] > 0)
                clock[0] += 2
                advance(1)


def test_results_stand_above_a_bar_although_no_step_ends(terminal, monkeypatch):
    monkeypatch.setattr(progress, "RESULT_SECONDS", 0.01)
    drawn: list[list[float]] = []

    def draw(records):
        drawn.append([record.value for record in records])
        return "a table"

    with live_results(draw), progress.bar("scores", 3):
        show_result(ResultRecord(model="a", metric="cider", value=0.5))
        show_result(ResultRecord(model="a", metric="cider", value=0.6))
        show_result(ResultRecord(model="b", metric="cider", value=0.7))
        deadline = time.monotonic() + 20
        while [0.6, 0.7] not in drawn and time.monotonic() < deadline:
            time.sleep(0.01)
    assert drawn[-1] == [0.6, 0.7], "one result per metric and model, the last one"
    show_result(ResultRecord(model="c", metric="cider"))
    assert current_results() is None, "outside of the context a result is shown nowhere"


def test_a_notebook_bar_is_drawn_after_a_second_and_a_quarter_of_one(monkeypatch):
    clock = [0.0]
    shown = []
    monkeypatch.setitem(
        sys.modules,
        "IPython.display",
        SimpleNamespace(
            HTML=str, display=lambda content, display_id: shown.append(content)
        ),
    )
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    bar = progress.NotebookBar("captions", 9, "examples", str)
    for seconds, expected in ((1.0, 0), (1.25, 1), (1.5, 1), (1.75, 2)):
        clock[0] = seconds
        bar.advance(1)
        assert len(shown) == expected, seconds
    bar.close()


def test_show_false_draws_nothing(terminal, monkeypatch):
    import rich.progress

    monkeypatch.setattr(rich.progress, "Progress", None)
    with progress.bar("captions", 3, show=False) as advance:
        advance(1)


def test_a_notebook_has_a_bar_below_its_cell(monkeypatch):
    clock = [0.0]
    shown = []

    class Handle:
        def update(self, content):
            shown.append(content)

    def display(content, display_id):
        shown.append(content)
        return Handle() if display_id else None

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(
        sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display)
    )
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.bar("captions: <model>", 4) as advance:
        for seconds in (0.6, 0.6, 0.6, 0.1):
            clock[0] += seconds
            advance(1)
    assert len(shown) == 4, (
        "the first second draws nothing, and the last step is drawn at once"
    )
    assert 'value="4" max="4"' in shown[-2]
    assert shown[-1] == "", "the bar goes when the work is done"
    assert "captions: &lt;model&gt;" in shown[0]
    shown.clear()
    with progress.bar("captions", 3) as advance:
        for seconds in (1.2, 0.1, 0.1):
            clock[0] += seconds
            advance(1)
    assert [
        'value="1" max="3"' in shown[0],
        'value="3" max="3"' in shown[1],
        *shown[2:],
    ] == [True, True, ""], "the last step is shown"
    shown.clear()
    with progress.bar("reading examples") as advance:
        for _ in range(40):
            clock[0] += 0.1
            advance(1)
    assert 8 < len(shown) < 14, (
        "four times a second at most, also of an unknown number of steps"
    )
    shown.clear()
    with progress.bar("quiet", 4, show=False) as advance:
        clock[0] += 9
        advance(4)
    assert shown == []


def test_outside_of_a_notebook_there_is_none(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None)
    )
    assert not progress.in_notebook()
