"""The process around a verb: exit codes, signals, streams that are closed or narrow."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from harness.cli.main import main
from harness.cli.process import TerminalStream, Terminated, record_bug, terminable
from harness.errors import BUG_LOG

SLOW = '''
import time
from harness.contracts import Generation

class Slow:
    """Waits before each caption."""
    def fingerprint(self):
        return "slow"
    def generate(self, examples, decoding, seeds):
        for example in examples:
            open("started", "w").close()
            time.sleep(0.5 if not __import__("os").path.exists("fast") else 0)
            yield Generation((example.references[0],))
'''
HARNESS = [sys.executable, "-m", "harness"]


def shell(command: str, cwd, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command in which ``harness`` is the command line."""
    text = (
        f'harness() {{ "{sys.executable}" -m harness "$@"; }}; set -o pipefail; '
        f"{command}"
    )
    variables = {**os.environ, **environment}
    return subprocess.run(
        ["bash", "-c", text], cwd=cwd, capture_output=True, check=False, env=variables
    )


@pytest.fixture
def slow(project):
    """A project with an adapter that waits."""
    (project / "slow_parts.py").write_text(SLOW)
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        text.replace("adapters: {", 'adapters: {slow: {import: "slow_parts:Slow"}, ')
    )
    return project


@pytest.fixture
def interruptible():
    """Ctrl-C raises in this process, also in one that a shell has started in the
    background.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _default_interrupt() -> None:
    """Accept SIGINT, which a shell makes its jobs in the background ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_signal_ends_a_run_in_one_line_and_the_run_can_be_continued(
    slow, number, code, word
):
    command = [
        *HARNESS,
        "run",
        "spec.yaml",
        "--output",
        "out",
        "--set",
        "models=[slow]",
    ]
    with subprocess.Popen(
        command,
        cwd=slow,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_default_interrupt,
    ) as process:
        while not (slow / "started").exists():
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (
        code,
        f"harness: {word}; run the same command again to continue\n",
    )
    (slow / "fast").touch()
    done = subprocess.run(
        [*command, "--resume"], cwd=slow, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


class SignalsInFinaliser:
    """Sends a signal to this process while Python runs its finaliser,
    whose exceptions are discarded.
    """

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self.number)
        time.sleep(0)


@pytest.mark.parametrize(
    ("number", "error"),
    [(signal.SIGTERM, Terminated), (signal.SIGINT, KeyboardInterrupt)],
)
def test_a_signal_that_arrives_in_a_finaliser_is_not_lost(
    interruptible, capsys, number, error
):
    hook = sys.unraisablehook
    with pytest.raises(error), terminable():
        SignalsInFinaliser(number)
        time.sleep(10)
    assert sys.unraisablehook is hook
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert "Exception ignored" not in capsys.readouterr().err


def test_other_discarded_exceptions_are_reported_as_before(monkeypatch):
    class Bad:
        def __del__(self) -> None:
            raise ValueError("in the finaliser")

    reported = []
    monkeypatch.setattr(
        sys,
        "unraisablehook",
        lambda unraisable: reported.append(str(unraisable.exc_value)),
    )
    with terminable():
        Bad()
    assert reported == ["in the finaliser"]


def test_a_handler_of_the_program_is_left_alone():
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with terminable():
            os.kill(os.getpid(), signal.SIGTERM)
        assert seen == [signal.SIGTERM]
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with pytest.raises(Terminated), terminable():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_bug_of_a_run_is_code_3_and_its_log_has_the_traceback(
    project, capsys, monkeypatch
):
    def broken(*arguments, **options):
        raise ZeroDivisionError("nothing to divide")

    monkeypatch.setattr("harness.run.results.caption_record", broken)
    assert main(["run", "spec.yaml", "--output", "out"]) == 3
    err = capsys.readouterr().err
    assert err.startswith(
        "harness: this is a bug of the harness: ZeroDivisionError: nothing to divide ("
    )
    assert (err.count("\n"), "out/log.jsonl" in err, "Traceback" in err) == (
        1,
        True,
        False,
    )
    events = [
        json.loads(line)
        for line in (project / "out/log.jsonl").read_text().splitlines()
    ]
    assert [
        event["event"] for event in events if "Traceback" in event.get("traceback", "")
    ] == ["bug"]


def test_a_bug_elsewhere_is_written_to_a_new_file(
    project, capsys, monkeypatch, tmp_path
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("harness.cli.list.run", lambda args: {}["\udcff"])
    assert main(["list"]) == 3
    (log,) = tmp_path.glob("harness-bug-*.log")
    assert "KeyError" in log.read_text()
    assert str(log) in capsys.readouterr().err
    assert main(["--no-local-plugins", "list"]) == 3


def test_the_log_of_an_exception_is_its_attribute():
    error = ValueError("x")
    setattr(error, BUG_LOG, "out/log.jsonl")
    assert record_bug(error) == "out/log.jsonl"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirect", "code"),
    [
        ("2>&-", 0),
        (">&-", 0),
        (">&- 2>&-", 0),
        ("<&-", 0),
        ("| head -n 1", 0),
        (">/dev/full", 2),
    ],
)
def test_closed_streams_lose_no_results(project, redirect, code):
    done = shell(f"harness run spec.yaml --output out {redirect}", project)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    assert json.loads((project / "out/results.json").read_text())["results"]
    assert b"BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    "command",
    ["harness list", "harness --help", "harness run --help", "harness show coco"],
)
def test_a_reader_that_leaves_is_no_error(project, command):
    done = shell(f"{command} | true", project)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_narrow_encodings_print_everything(project, encoding):
    text = (
        (project / "spec.yaml")
        .read_text()
        .replace("echo: {}", 'echo: {label: "\U0001f600 müde", n: 2}')
    )
    (project / "spec.yaml").write_text(text)
    done = shell(
        "harness run spec.yaml --output out; harness report out",
        project,
        PYTHONIOENCODING=encoding,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "out of memory; use --limit, or smaller sets"),
        (
            RuntimeError("can't start new thread"),
            "the system has no memory for another thread, or allows none; "
            "raise the limits of this process",
        ),
    ],
)
def test_out_of_memory_is_one_line_and_code_2(
    project, capsys, monkeypatch, error, line
):
    def full(args):
        raise error

    monkeypatch.setattr("harness.cli.list.run", full)
    assert main(["list"]) == 2
    assert capsys.readouterr().err == f"harness: {line}\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc é 狗\n", "a\tb\nc é 狗\n"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\x0db"),
        ("\r 50%|##", "\r 50%|##"),  # a bar of tqdm
        ("\r\x1b]0;title", "\r\\x1b]0;title"),
        ("\x1b[A\x1b[A", "\x1b[A\x1b[A"),  # several bars
        ("\x1b[Atext", "\\x1b[Atext"),
    ],
)
def test_a_terminal_has_escapes_in_place_of_control_characters(text, shown):
    terminal = io.StringIO()
    stream = TerminalStream(terminal)
    assert stream.write(text) == len(text)
    stream.writelines([text, "x"])
    assert terminal.getvalue() == f"{shown}{shown}x"
    assert stream.getvalue() == terminal.getvalue()  # all else is that of the terminal
