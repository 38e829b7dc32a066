"""A hub on the loopback interface that takes uploads of small files."""

from __future__ import annotations

import base64
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "1" * 40


class Hub(ThreadingHTTPServer):
    """Server of the part of the hub's interface that ``huggingface_hub`` uses to create
    and fill a data set.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, dict[str, bytes]] = {}
        """Name of a data set -> path -> content."""
        self.created: list[dict[str, Any]] = []
        """Bodies of the requests that create a repository."""
        self.refuse_creation = 0
        """Status with which such requests are refused; 0: they are accepted."""
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._respond(b"")

    def do_POST(self) -> None:
        self._respond(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _json(self, value: object, status: int = 200) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _respond(self, body: bytes) -> None:
        path = unquote(urlsplit(self.path).path)
        if path == "/api/repos/create":
            self._create(json.loads(body))
            return
        if path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
            return
        match = re.fullmatch(
            r"/api/datasets/([^/]+/[^/]+)(?:/(revision|preupload|commit)/[^/]+)?", path
        )
        if match is None or match[1] not in self.server.files:
            self._json({"error": "no such data set"}, 404)
            return
        name = match[1]
        operation = match[2] or "revision"
        if operation == "revision":
            self._json(
                {
                    "id": name,
                    "sha": COMMIT,
                    "siblings": [],
                    "tags": [],
                    "private": False,
                    "gated": False,
                }
            )
        elif operation == "preupload":
            paths = [entry["path"] for entry in json.loads(body)["files"]]
            self._json(
                {
                    "files": [
                        {"path": path, "uploadMode": "regular", "shouldIgnore": False}
                        for path in paths
                    ]
                }
            )
        else:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.server.files[name][line["value"]["path"]] = base64.b64decode(
                        line["value"]["content"]
                    )
            url = f"{self.server.url}/datasets/{name}/commit/{COMMIT}"
            self._json(
                {
                    "success": True,
                    "commitOid": COMMIT,
                    "commitUrl": url,
                    "hookOutput": "",
                }
            )

    def _create(self, values: dict[str, Any]) -> None:
        """Create a data set, or refuse it."""
        if self.server.refuse_creation:
            self._json({"error": "no"}, self.server.refuse_creation)
            return
        self.server.created.append(values)
        name = "/".join(filter(None, (values.get("organization"), values["name"])))
        self.server.files[name] = {}
        self._json(
            {"url": f"{self.server.url}/datasets/{name}", "name": name, "id": name}
        )
