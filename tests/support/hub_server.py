"""A local server that speaks the part of the Hugging Face hub's interface that fetching
a model needs.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Handler(BaseHTTPRequestHandler):
    folder: Path
    requests: list[str]

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        self.requests.append(self.path)
        path = self.path.partition("?")[0]

        if "/gated/" in path or path.startswith("/gated"):
            return self._send(
                403,
                b"{}",
                {
                    "X-Error-Code": "GatedRepo",
                    "X-Error-Message": "Access to model gated/model is restricted",
                },
            )
        if "no-revision" in path:
            return self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        if "/tiny/" not in path:
            return self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})

        if path.startswith("/api/models/"):
            files = sorted(
                p.relative_to(self.folder).as_posix()
                for p in self.folder.rglob("*")
                if p.is_file()
            )
            if "/tree/" in path:
                rows = [
                    {
                        "type": "file",
                        "path": f,
                        "size": (self.folder / f).stat().st_size,
                        "oid": self._etag(f),
                    }
                    for f in files
                ]
                return self._send(
                    200, json.dumps(rows).encode(), {"Content-Type": "application/json"}
                )
            info = {
                "id": "tiny/model",
                "sha": COMMIT,
                "siblings": [{"rfilename": f} for f in files],
            }
            return self._send(
                200, json.dumps(info).encode(), {"Content-Type": "application/json"}
            )

        name = path.partition("/resolve/")[2].partition("/")[2]
        content = (self.folder / name).read_bytes()
        headers = {
            "ETag": f'"{self._etag(name)}"',
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
        }
        return self._send(200, content, headers, body)

    def _etag(self, name: str) -> str:
        return hashlib.sha1((self.folder / name).read_bytes()).hexdigest()

    def _send(
        self, status: int, content: bytes, headers: dict[str, str], body: bool = True
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if body and self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def hub(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve a folder as the model ``tiny/model``;
    yield the address and the paths of the requests.
    """
    requests: list[str] = []
    handler = type("Handler", (_Handler,), {"folder": folder, "requests": requests})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
