"""Requests to a server that speaks OpenAI's chat or completion interface: plain HTTP, retries with back-off, a concurrency limit."""

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

from harness.errors import HarnessError

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class RequestFailed(Exception):
    """One request that did not come to an answer; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """Where and how to ask. ``sleep`` is replaceable, so that tests need not wait."""

    base_url: str
    api_key: str | None = None
    timeout: float = 120.0
    """Seconds without an answer before a request counts as hanging."""
    retries: int = 5
    first_wait: float = 1.0
    """Seconds before the first retry; doubled each time, at most ``longest_wait``; a server's Retry-After goes first."""
    longest_wait: float = 60.0
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise HarnessError(f"openai: base_url begins with http:// or https://; found {self.base_url!r}")

    def post(self, path: str, body: dict[str, Any], accept: Callable[[Any], Any]) -> Any:
        """``accept(reply)`` of the first good reply. ``accept`` raises ValueError for a reply that makes no sense, which is asked
        for again. Raises :class:`RequestFailed` when the retries are used up or the server refuses for good."""
        problem = ""
        for attempt in range(self.retries + 1):
            wait = min(self.longest_wait, self.first_wait * 2**attempt) * random.uniform(0.75, 1.0)
            try:
                return accept(self._once(path, body))
            except urllib.error.HTTPError as error:
                problem = f"HTTP {error.code}: {_message(error)}"
                if error.code not in RETRIED:
                    raise RequestFailed(problem) from error
                wait = _retry_after(error, self.longest_wait) or wait
            except TimeoutError:
                problem = f"no answer within {self.timeout:g} s"
            except (urllib.error.URLError, http.client.HTTPException, ConnectionError) as error:
                reason = getattr(error, "reason", error)
                timed_out = isinstance(reason, TimeoutError)
                problem = f"no answer within {self.timeout:g} s" if timed_out else f"no connection ({reason})"
            except ValueError as error:
                problem = f"a reply that makes no sense ({error})"
            if attempt < self.retries:
                self.sleep(wait)
        raise RequestFailed(f"{problem}, after {self.retries + 1} tries")

    def _once(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        url = f"{self.base_url.rstrip('/')}/{path}"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
        with urllib.request.urlopen(request, timeout=self.timeout) as reply:
            return json.loads(reply.read())


def _message(error: urllib.error.HTTPError) -> str:
    try:
        text = error.read(4096).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return error.reason or "no message"
    try:
        found = json.loads(text)
        return str(found["error"]["message"])[:200]
    except (ValueError, KeyError, TypeError):
        return (text.strip() or str(error.reason))[:200]


def _retry_after(error: urllib.error.HTTPError, longest: float) -> float | None:
    """Seconds that the server asks to wait, at most ``longest``."""
    value = error.headers.get("Retry-After") if error.headers else None
    try:
        return min(max(float(value), 0.0), longest) if value is not None else None
    except ValueError:
        return None
