"""Targets that read what a server or a judge answers."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from functools import cache
from pathlib import Path
from typing import Any

from harness.contracts import Decoding, Example, Failure
from harness.registry import current
from tools.fuzz.fuzz_inputs import altered, encoded, replaced
from tools.fuzz.fuzz_target import check_one_line, target

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
ANSWERS = [
    b'```json\n{"score": 70, "reason": "both {a} dog"}\n```',
    b'{"winner": "A"}',
    b"85/100",
    b"I'm sorry",
]


def _response(body: bytes, headers: bytes = b"") -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
        b"%s\r\n%s" % (len(body), headers, body)
    )


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
