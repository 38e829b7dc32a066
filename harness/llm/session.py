"""Requests of one event loop to a server: a rate limit, repetitions, and the end where
the server would refuse all of them.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from harness.contracts.parameters import Parameters
from harness.errors import HarnessError
from harness.files.json_text import parse_json
from harness.files.secrets import holds_secret
from harness.llm.refusals import Refusal, stop_reason
from harness.llm.server_rules import ServerRules

T = TypeVar("T")
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP status codes after which a request is repeated."""
LONGEST_WAIT = 60.0
"""Maximum number of seconds between two attempts."""
_WINDOW = 4
"""Examples in work per simultaneous request."""
MAX_REPLY = 64 * 2**20
"""Maximum size of a reply in bytes."""
_HOPELESS = 3
"""Number of first requests without answer after which no further one is sent; later,
that number times ``concurrency``.
"""


class RequestFailed(Exception):
    """A request without a valid reply; the text gives the reason."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status with which the server rejects the request; None where there is no
        such status or it was retried.
        """


class Unanswered(RequestFailed):
    """A request without a valid reply after all repetitions."""


class Session:
    """Requests of one event loop over one pool of connections."""

    def __init__(self, client: ServerRules, httpx: ModuleType, http: Any) -> None:
        self.client = client
        self._httpx = httpx
        self._http = http
        self._slots = asyncio.Semaphore(client.concurrency)
        self.window = asyncio.Semaphore(_WINDOW * client.concurrency)
        """Bound of the examples in work, those included that wait for a repetition."""
        self._next_start = 0.0
        self._stopped: HarnessError | None = None

    def stop(self, reason: str) -> NoReturn:
        """Send no further request; raise :class:`HarnessError` with the reason, here
        and for every later request.
        """
        self._stopped = HarnessError(reason, self.client.base_url)
        raise self._stopped

    def _note_failure(self, error: RequestFailed) -> None:
        """Raise :class:`HarnessError` when so many requests in a row have no answer
        that the server counts as down.
        """
        usage = self.client.usage
        # this request was refused, others were not
        if usage.answers and not isinstance(error, Unanswered):
            return

        usage.failures += 1
        # once the server has answered, as many requests fail at once as are in work
        hopeless = _HOPELESS * (self.client.concurrency if usage.answers else 1)
        if usage.failures >= hopeless:
            self.stop(
                f"{usage.failures} requests in a row have no answer, "
                f"no further request is sent; the last: {error}"
            )

    async def post(self, path: str, body: Parameters, accept: Callable[[Any], T]) -> T:
        """Send a request and return ``accept(reply)`` for its first valid reply.

        Parameters
        ----------
        path
            Path below the address of the server.
        body
            JSON body.
        accept
            Function of the decoded reply. It raises ``ValueError`` for an invalid
            reply, after which the request is repeated, and :class:`RequestFailed` for
            one that is final.

        Raises
        ------
        Unanswered
            If no attempt succeeds.
        RequestFailed
            If the server rejects this request.
        HarnessError
            If the server would reject all requests: an unknown key, model or address, a
            field that it does not accept; and if many requests in a row have no answer.
        """
        try:
            value = await self._post(path, body, accept)
        except RequestFailed as error:
            self._note_failure(error)
            raise
        self.client.usage.answers += 1
        self.client.usage.failures = 0
        return value

    async def _post(self, path: str, body: Parameters, accept: Callable[[Any], T]) -> T:
        """Repeat a request until it has a valid reply."""
        attempts = self.client.retries + 1
        problem = ""
        for attempt in range(attempts):
            # Requests that failed together are not repeated together.
            longest = min(LONGEST_WAIT, self.client.first_wait * 2**attempt)
            wait = longest * random.uniform(0.75, 1.0)
            await self._turn()

            async with self._slots:
                if self._stopped is not None:
                    raise self._stopped
                try:
                    return accept(await self._once(path, body))
                except _Repeat as repeat:
                    problem = repeat.reason
                    wait = repeat.wait if repeat.wait is not None else wait
                except ValueError as error:
                    problem = f"invalid reply ({error})"

            # a request that waits has no slot, and others go on
            if attempt + 1 < attempts:
                self.client.usage.retries += 1
                await self.client.sleep(wait)
        noun = "try" if attempts == 1 else "tries"
        raise Unanswered(f"{problem}, after {attempts} {noun}")

    async def _turn(self) -> None:
        """Wait until the rate limit permits a request."""
        if self.client.requests_per_minute is None:
            return
        now = self.client.clock()
        start = max(now, self._next_start)
        self._next_start = start + 60.0 / self.client.requests_per_minute
        if start > now:
            await self.client.sleep(start - now)

    async def _once(self, path: str, body: Parameters) -> Any:
        """Send one request and return the decoded reply; raise :class:`_Repeat` where
        another attempt may succeed.
        """
        client = self.client
        client.usage.requests += 1
        try:
            async with asyncio.timeout(client.timeout):
                status, headers, content = await self._exchange(path, body)
        except (TimeoutError, self._httpx.TimeoutException) as error:
            raise _Repeat(self._timeout_reason(error)) from error
        except self._httpx.ConnectError as error:
            reason = str(error) or type(error).__name__
            raise _Repeat(f"no connection ({reason})") from error
        except self._httpx.TransportError as error:
            reason = str(error)[:200] or type(error).__name__
            raise _Repeat(f"the connection broke ({reason})") from error

        if status != 200:
            self._reject(Refusal.of(status, headers, content), body)
        reply = parse_json(content)
        client.usage.add(reply)
        return reply

    def _timeout_reason(self, error: BaseException) -> str:
        if isinstance(error, self._httpx.ConnectTimeout):
            seconds = min(self.client.connect_timeout, self.client.timeout)
            return f"no connection within {seconds:g} s"
        return f"no answer within {self.client.timeout:g} s"

    async def _exchange(
        self, path: str, body: Parameters
    ) -> tuple[int, Mapping[str, str], bytes]:
        content = bytearray()
        async with self._http.stream("POST", path, json=dict(body)) as reply:
            # Inflating has no bound: a few bytes become gigabytes, once for each
            # encoding that the server names.
            encoding = reply.headers.get("content-encoding", "identity")
            if encoding.lower() != "identity":
                raise RequestFailed(
                    f"the reply is compressed ({encoding}), which was not asked for"
                )

            async for chunk in reply.aiter_raw():
                content += chunk
                if len(content) > MAX_REPLY:
                    raise RequestFailed(
                        f"the reply is larger than {MAX_REPLY // 2**20} MiB"
                    )

            texts = (content.decode("utf-8", "replace"), *reply.headers.values())
            if not holds_secret("\n".join(texts)):
                return reply.status_code, reply.headers, bytes(content)

            # A server that repeats a key would bring it into samples, caches and pages.
            # Nothing of such a reply is kept.
            if reply.status_code == 200:
                raise RequestFailed(
                    "the reply holds a secret of this process; it is not kept"
                )
            text = b"the reply holds a secret of this process; it is not shown"
            return reply.status_code, {}, text

    def _reject(self, refusal: Refusal, body: Parameters) -> NoReturn:
        """Raise for a reply with another status than 200."""
        reason = stop_reason(refusal, body, has_key=self.client.api_key is not None)
        if reason:
            self.stop(reason)
        if refusal.status in RETRIED:
            raise _Repeat(refusal.text, retry_after(refusal.headers))
        raise RequestFailed(refusal.text, refusal.status)


class _Repeat(Exception):
    """A failed attempt that may be repeated,
    with the seconds to wait where the server says them.
    """

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of the header Retry-After (a number or a date), at most
    :data:`LONGEST_WAIT`; None without a valid one.
    """
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):  # no date, or one that no clock has
            return None
    if math.isnan(seconds):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT)
