"""A hub on the loopback interface: data sets of files, commits,
gated and missing names.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest


class Hub(ThreadingHTTPServer):
    """Server of the part of the hub's interface that ``datasets`` and
    ``huggingface_hub`` use for data sets.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, dict[str, dict[str, bytes]]] = {}
        """Name of a data set -> commit -> path -> content; the last commit is ``main``.
        """
        self.gated: set[str] = set()
        self.requests: list[str] = []
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, name: str, **files: bytes) -> str:
        """Add a commit and return it."""
        commits = self.files.setdefault(name, {})
        commit = hashlib.sha1(f"{name} {len(commits)}".encode()).hexdigest()
        commits[commit] = {
            path.replace("__", "/"): content for path, content in files.items()
        }
        return commit


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._respond()

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._respond(body)

    def _send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _json(self, value: object, status: int = 200, **headers: str) -> None:
        self._send(
            status,
            json.dumps(value).encode(),
            Content_Type="application/json",
            **headers,
        )

    def _error(self, status: int, code: str) -> None:
        self._json({"error": code}, status, X_Error_Code=code, X_Error_Message=code)

    def _respond(self, body: bytes = b"") -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.requests.append(f"{self.command} {path}")
        if path == "/api/whoami-v2":
            self._json({"name": "someone", "type": "user", "orgs": []})
            return
        match = re.fullmatch(
            r"/api/datasets/([^/]+/[^/]+)(?:/(revision|tree|paths-info)/([^/]+)(/.*)?)?",
            path,
        )
        if match:
            self._api(
                match[1],
                match[2] or "revision",
                match[3] or "main",
                (match[4] or "").strip("/"),
                body,
            )
            return
        match = re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if match:
            self._file(match[1], match[2], match[3])
            return
        self._error(404, "RepoNotFound")

    def _commit(self, name: str, revision: str) -> str | None:
        """Return the commit of a revision, or None after an error was sent."""
        if name in self.server.gated:
            self._error(401, "GatedRepo")
            return None
        if name not in self.server.files:
            self._error(404, "RepoNotFound")
            return None
        commits = list(self.server.files[name])
        commit = (
            commits[-1]
            if revision == "main"
            else next((c for c in commits if c == revision), None)
        )
        if commit is None:
            self._error(404, "RevisionNotFound")
        return commit

    def _api(
        self, name: str, what: str, revision: str, folder: str, body: bytes
    ) -> None:
        commit = self._commit(name, revision)
        if commit is None:
            return
        files = self.server.files[name][commit]
        if what == "revision":
            siblings = [{"rfilename": path} for path in files]
            self._json(
                {
                    "id": name,
                    "sha": commit,
                    "siblings": siblings,
                    "tags": [],
                    "private": False,
                    "gated": False,
                }
            )
        elif what == "tree":
            entries = [
                _entry(path, content)
                for path, content in files.items()
                if path.startswith(folder)
            ]
            folders = {path.rpartition("/")[0] for path in files} - {""}
            self._json(
                [
                    *entries,
                    *(
                        {"type": "directory", "path": f, "size": 0, "oid": "0"}
                        for f in folders
                        if not folder
                    ),
                ]
            )
        else:
            wanted = _form(body)
            found = [_entry(path, files[path]) for path in wanted if path in files]
            folders = [
                {"type": "directory", "path": p, "size": 0, "oid": "0"}
                for p in wanted
                if any(f.startswith(f"{p}/") for f in files)
            ]
            self._json([*found, *folders])

    def _file(self, name: str, revision: str, path: str) -> None:
        commit = self._commit(name, revision)
        if commit is None:
            return
        content = self.server.files[name][commit].get(path)
        if content is None:
            self._json({}, 404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
            return
        etag = f'"{hashlib.sha1(content).hexdigest()}"'
        self._send(200, content, X_Repo_Commit=commit, ETag=etag, Accept_Ranges="bytes")


def _entry(path: str, content: bytes) -> dict[str, Any]:
    return {
        "type": "file",
        "path": path,
        "size": len(content),
        "oid": hashlib.sha1(content).hexdigest(),
    }


def _form(body: bytes) -> list[str]:
    """Return the paths of a request, sent as JSON or as a form."""
    if body.startswith(b"{"):
        return json.loads(body)["paths"]
    from urllib.parse import parse_qs

    return parse_qs(body.decode()).get("paths", [])


@pytest.fixture
def hub() -> Iterator[Hub]:
    instance = Hub()
    yield instance
    instance.shutdown()
    instance.server_close()
