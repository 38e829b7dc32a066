"""A TCP server on the loopback interface whose connections are played by a function:
servers that misbehave.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable

Play = Callable[[socket.socket, int], None]
"""Plays one connection: the socket, and its number from 0."""


class RawServer:
    """Server that calls ``play`` in a thread for each connection and closes it
    afterwards.
    """

    def __init__(self, play: Play) -> None:
        self.play = play
        self.connections = 0
        self.requests = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._closed = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            number = self.connections
            self.connections = self.connections + 1
            threading.Thread(
                target=self._serve, args=(connection, number), daemon=True
            ).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection:
            try:
                self.play(connection, number)
            except OSError:
                return

    def wait(self, seconds: float) -> None:
        """Wait, at most until the server is closed."""
        self._closed.wait(seconds)

    def close(self) -> None:
        self._closed.set()
        self._listener.close()


def read_request(connection: socket.socket) -> dict | None:
    """Return the JSON body of a request; None when the client closed the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return json.loads(body)


def reply(value: object, *, length: int | None = None) -> bytes:
    """Return a reply of HTTP/1.1 with a JSON body;
    ``length`` replaces its true length.
    """
    body = json.dumps(value).encode()
    head = (
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        f"{length or len(body)}\r\n\r\n"
    )
    return head.encode() + body
