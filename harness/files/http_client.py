"""HTTP client for servers with OpenAI's chat or completion interface: JSON requests, retries with exponential back-off."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.contracts import Values
from harness.errors import HarnessError
from harness.files.json_text import parse_json

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP status codes after which a request is repeated."""


class RequestFailed(Exception):
    """A request without a valid reply; the text gives the reason."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status with which the server rejects the request; None where there is no such status or it was retried."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """Address of a server and rules for repeated requests.

    Raises :class:`HarnessError` for an address without ``http://`` or ``https://``.
    """

    base_url: str
    api_key: str | None = None
    timeout: float = 120.0
    """Seconds without a reply after which a request is repeated."""
    retries: int = 5
    """Maximum number of repetitions of a request."""
    first_wait: float = 1.0
    """Seconds before the first repetition; doubled each time up to ``longest_wait``. A header Retry-After replaces it."""
    longest_wait: float = 60.0
    """Maximum number of seconds between two attempts."""
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    """Function that waits; tests replace it."""

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise HarnessError(f"openai: base_url begins with http:// or https://; found {self.base_url!r}")

    def post(self, path: str, body: Values, accept: Callable[[Any], Any]) -> Any:
        """Send a request and return ``accept(reply)`` for its first valid reply.

        Parameters
        ----------
        path
            Path below ``base_url``.
        body
            JSON body.
        accept
            Function of the decoded reply. It raises ``ValueError`` for an invalid reply; the request is then repeated.

        Raises
        ------
        RequestFailed
            If no attempt succeeds, or the server rejects the request with a status that is not in :data:`RETRIED`.
        """
        problem = ""
        for attempt in range(self.retries + 1):
            wait = min(self.longest_wait, self.first_wait * 2**attempt) * random.uniform(0.75, 1.0)
            try:
                return accept(self._once(path, body))
            except urllib.error.HTTPError as error:
                problem = f"HTTP {error.code}: {_message(error)}"
                if error.code not in RETRIED:
                    raise RequestFailed(problem, error.code) from error
                wait = _retry_after(error, self.longest_wait) or wait
            except TimeoutError:
                problem = f"no answer within {self.timeout:g} s"
            except (urllib.error.URLError, http.client.HTTPException, ConnectionError) as error:
                reason = getattr(error, "reason", error)
                timed_out = isinstance(reason, TimeoutError)
                problem = f"no answer within {self.timeout:g} s" if timed_out else f"no connection ({reason})"
            except ValueError as error:
                problem = f"invalid reply ({error})"
            if attempt < self.retries:
                self.sleep(wait)
        raise RequestFailed(f"{problem}, after {self.retries + 1} tries")

    def _once(self, path: str, body: Values) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        url = f"{self.base_url.rstrip('/')}/{path}"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
        with urllib.request.urlopen(request, timeout=self.timeout) as reply:
            return parse_json(reply.read())


def _message(error: urllib.error.HTTPError) -> str:
    try:
        text = error.read(4096).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return error.reason or "no message"
    try:
        return str(parse_json(text)["error"]["message"])[:200]
    except (ValueError, KeyError, TypeError):
        return (text.strip() or str(error.reason))[:200]


def _retry_after(error: urllib.error.HTTPError, longest: float) -> float | None:
    """Return the seconds of the header Retry-After, at most ``longest``; None without the header or if it is not a number."""
    value = error.headers.get("Retry-After") if error.headers else None
    try:
        return min(max(float(value), 0.0), longest) if value is not None else None
    except ValueError:
        return None
