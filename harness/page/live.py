"""The page of a run while it goes on: a server on this machine alone,
which ends with the report.

It listens on the loopback address under a path that holds a secret token, answers
requests that name it by that address (a page of another site cannot read it by a name
that it resolves to this machine), and serves two things: the page, and the state of the
run.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from harness.contracts.parameters import Values
from harness.errors import require
from harness.page import assets
from harness.registry.display_names import display_name
from harness.run.estimates import Watch
from harness.run.progress import WORK

ADDRESS = "127.0.0.1"
SCRIPTS = ("start.js", "words.js", "live.js")
QUIET_SECONDS = 3.0
"""Time without a request after which every open page, which asks each second, has the
report.
"""
LAST_SECONDS = 30.0
"""Longest wait for that."""
POLL_SECONDS = 0.05
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class LivePage:
    """Server of the page of a run; a context.

    Parameters
    ----------
    watch : Watch
        View of the run.

    Examples
    --------
    >>> with LivePage(Watch()) as live:
    ...     live.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.token = secrets.token_urlsafe(24)
        self._report: bytes | None = None
        self._asked = 0.0
        self._page = _page()
        self._server = ThreadingHTTPServer((ADDRESS, 0), self._handler())
        self._server.daemon_threads = True
        port = self._server.server_address[1]
        self.hosts = {f"{ADDRESS}:{port}", f"localhost:{port}"}
        self.url = f"http://{ADDRESS}:{port}/{self.token}/"

    def __enter__(self) -> LivePage:
        serve = threading.Thread(
            target=self._server.serve_forever,
            args=(POLL_SECONDS,),
            name="page",
            daemon=True,
        )
        serve.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def finish(self, report: Path) -> None:
        """Serve the report in place of the page until all browsers that look at the
        page have it.
        """
        self._report = report.read_bytes()
        end = time.monotonic() + LAST_SECONDS
        while time.monotonic() < min(end, self._asked + QUIET_SECONDS):
            time.sleep(POLL_SECONDS)

    def state(self) -> Values:
        """Return the state of the run as JSON types."""
        watch = self.watch
        work = [
            {
                "name": meter.description,
                "done": meter.done,
                "total": meter.total,
                "text": meter.figures(),
            }
            for meter in WORK[-1:]
        ]

        # before the first scores there are no estimates
        estimates = watch.estimates
        plans = estimates.metrics if estimates else ()
        metrics = [
            [display_name(plan.label), plan.metric.spec.higher_is_better]
            for plan in plans
        ]

        # a copy, since the run goes on in another thread
        latest = [
            {"model": model, "id": e.id, "references": e.references, **row}
            for model, e, row in reversed([*watch.latest])
        ]
        return {
            "task": watch.task,
            "finished": self._report is not None,
            "work": work,
            "examples": watch.examples,
            "systems": list(estimates.labels) if estimates else [],
            "metrics": metrics,
            "estimates": estimates.rows() if estimates else [],
            "latest": latest,
        }

    def answer(self, path: str, host: str) -> tuple[int, str, bytes]:
        """Return status, media type and content of the answer to a request."""
        prefix, _, name = path.lstrip("/").partition("/")
        if host not in self.hosts:
            return 404, "text/plain", b"not found"
        # in constant time, so that the token cannot be found letter by letter
        if not hmac.compare_digest(prefix.encode(), self.token.encode()):
            return 404, "text/plain", b"not found"

        self._asked = time.monotonic()
        if name == "state.json":
            state = json.dumps(self.state(), default=list)
            return 200, "application/json", state.encode("utf-8", "replace")
        if name:
            return 404, "text/plain", b"not found"
        return 200, "text/html", self._report or self._page

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        """Return the class that answers requests by :meth:`answer`."""
        live = self

        class Handler(BaseHTTPRequestHandler):
            server_version = "harness"
            sys_version = ""
            timeout = 10

            def do_GET(self) -> None:
                host = self.headers.get("Host", "")
                status, kind, content = live.answer(self.path, host)
                headers = {
                    "Content-Type": f"{kind}; charset=utf-8",
                    "Content-Length": str(len(content)),
                    **HEADERS,
                }
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Print nothing: the terminal has the progress of the run."""

        return Handler


def _page() -> bytes:
    """Return the page that shows the state; the report takes its place."""
    jinja2 = require("jinja2", needed_by="the report page")
    folder = Path(__file__).parent
    script = assets.script_of(SCRIPTS)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder / "templates"), autoescape=True
    )
    text = environment.get_template("live.html").render(
        style=assets.style(), script=script, policy=assets.policy([script], "'self'")
    )
    return text.encode()
