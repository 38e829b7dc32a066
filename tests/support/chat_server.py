"""A chat server on the loopback interface, for the tests of all that asks a model
server.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Server(ThreadingHTTPServer):
    """Server that returns the entries of ``script`` first,
    then what ``answer`` returns for a request.

    An entry is (status, headers, body), or a number of seconds after which the
    connection is closed.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        self.active = self.peak = 0
        """Number of simultaneous requests: now and at most."""
        self.lock = threading.Lock()
        self.limit = 100
        """Maximum number of choices of a reply."""
        self.answer: Callable[[dict[str, Any]], dict[str, Any]] = lambda body: captions(
            body, min(self.limit, body.get("n", 1))
        )
        self.pause = 0.0
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        server: Server = self.server  # type: ignore[assignment]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.active += 1
            server.peak = max(server.peak, server.active)
            server.requests.append(
                {"path": self.path, "key": self.headers.get("Authorization"), **body}
            )
            step = server.script.pop(0) if server.script else None
        time.sleep(server.pause)
        try:
            self.reply(step, body, server)
        finally:
            with server.lock:
                server.active -= 1

    def reply(self, step: Any, body: dict[str, Any], server: Server) -> None:
        if isinstance(step, (int, float)):
            time.sleep(step)
            return
        status, headers, text = step or (200, {}, json.dumps(server.answer(body)))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())


def captions(body: dict[str, Any], n: int) -> dict[str, Any]:
    """Return a reply with ``n`` choices that repeat the prompt and the seed."""
    content = body["messages"][-1]["content"]
    prompt = content if isinstance(content, str) else content[-1]["text"]
    return {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": f" {prompt} {body.get('seed', 0)} {i}",
                },
                "finish_reason": "length" if i == 1 else "stop",
                "logprobs": {
                    "content": [
                        {"token": "a", "logprob": -0.5},
                        {"token": "b", "logprob": -1.0},
                    ]
                },
            }
            for i in range(n)
        ]
    }


@pytest.fixture
def server() -> Iterator[Server]:
    instance = Server()
    yield instance
    instance.shutdown()
    instance.server_close()
