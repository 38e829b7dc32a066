"""A stub of an OpenAI-like server in a process of its own: its answers depend on the
request alone, its manners on what is set.

The state lies in memory that the parent shares: how the server behaves, and for each
example the numbers of requests and of answers.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import signal
import socket
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tools.soak.products import JUDGE

BEHAVIOURS = ("good", "slow", "garbage", "lying", "errors", "dropped", "down")
"""All answers at once; one that takes long; and for the first request of every second
example: no JSON, JSON without text, an error 500, a closed connection; ``down``: error
500 for all.
"""
SLOW_EXAMPLE = 3
SLOW_SECONDS = 0.6
EXAMPLES = 32
"""Largest number of examples; the last number counts the questions to a judge."""
_BEHAVIOUR = 0
_REQUESTS = 64
_ANSWERS = 128


class StubServer:
    """The server, seen from its parent."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 4096)
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _serve(listener, self.memory)
            finally:
                os._exit(0)
        listener.close()

    def close(self) -> None:
        """End the server."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def begin(self, behaviour: str) -> None:
        """Set the behaviour, and the counts to 0."""
        self.memory[_REQUESTS : _ANSWERS + EXAMPLES] = bytes(
            _ANSWERS + EXAMPLES - _REQUESTS
        )
        self.memory[_BEHAVIOUR] = BEHAVIOURS.index(behaviour)

    @property
    def requests(self) -> list[int]:
        """Number of requests of each example since :meth:`begin`."""
        return list(self.memory[_REQUESTS : _REQUESTS + EXAMPLES])

    @property
    def answers(self) -> list[int]:
        """Number of whole answers to each example since :meth:`begin`."""
        return list(self.memory[_ANSWERS : _ANSWERS + EXAMPLES])


def _serve(listener: socket.socket, memory: mmap.mmap) -> None:
    os.setpgid(0, 0)
    server = ThreadingHTTPServer(
        listener.getsockname(), _Handler, bind_and_activate=False
    )
    server.socket.close()
    server.socket = listener
    server.daemon_threads = True
    server.handle_error = lambda request, client_address: None  # clients are killed
    _Handler.memory = memory
    _Handler.parent = os.getppid()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    server.serve_forever()


def _end_with_parent() -> None:
    while os.getppid() == _Handler.parent:
        time.sleep(1)
    os._exit(0)


class _Handler(BaseHTTPRequestHandler):
    memory: mmap.mmap
    parent: int
    lock = threading.Lock()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        """Answer a chat completion, or misbehave."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body["messages"][-1]["content"]
        prompt = content if isinstance(content, str) else content[-1]["text"]
        is_judge = body["model"] == JUDGE
        example = EXAMPLES - 1 if is_judge else int(prompt.rpartition("e")[2])

        with self.lock:
            self.memory[_REQUESTS + example] += 1
            is_first = self.memory[_REQUESTS + example] == 1

        behaviour = BEHAVIOURS[self.memory[_BEHAVIOUR]]
        if behaviour == "slow" and example == SLOW_EXAMPLE:
            time.sleep(SLOW_SECONDS)

        misbehaves = is_first and example % 2 == 1
        with contextlib.suppress(OSError):  # the client was killed
            if behaviour == "down" or (misbehaves and behaviour == "errors"):
                return self._send(500, b"{}")
            if misbehaves and behaviour == "garbage":
                return self._send(200, b"\xff\x00 no JSON \x1b]0;title\x07")
            if misbehaves and behaviour == "lying":
                return self._send(
                    200,
                    json.dumps({"choices": [{"message": {"content": None}}]}).encode(),
                )
            if misbehaves and behaviour == "dropped":
                return self.connection.shutdown(socket.SHUT_RDWR)

            self._send(
                200,
                json.dumps(
                    _judge(prompt) if is_judge else _reply(prompt, body)
                ).encode(),
            )
            with self.lock:
                self.memory[_ANSWERS + example] += 1

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def _reply(prompt: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return a chat completion whose texts are words chosen by the prompt and the
    seed.
    """
    words = [
        "a",
        "the",
        "dog",
        "cat",
        "bus",
        "man",
        "sits",
        "runs",
        "looks",
        "on",
        "near",
        "street",
        "table",
        "red",
        "old",
    ]
    choices = []
    for index in range(body.get("n", 1)):
        number = zlib.crc32(f"{prompt} {body.get('seed')} {index}".encode())
        text = " ".join(
            words[number >> shift & 15 if number >> shift & 15 < 15 else 0]
            for shift in range(0, 24, 4)
        )
        choices.append(
            {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        )
    return {"choices": choices}


def _judge(prompt: str) -> dict[str, Any]:
    """Return the answer of a judge of two captions, chosen by the prompt."""
    better = ("A", "B", "tie")[zlib.crc32(prompt.encode()) % 3]
    return {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": json.dumps({"better": better}),
                },
                "finish_reason": "stop",
            }
        ]
    }
