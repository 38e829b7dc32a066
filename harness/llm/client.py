"""Requests to a server with OpenAI's interface: one pool of connections, a rate limit,
retries, counts of tokens.

:meth:`ChatClient.ask_all` sends many requests at once and is called as any function;
within it each request is a coroutine.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any, Literal, NoReturn, TypeVar

from harness.contracts.parameters import (
    Count,
    Index,
    NonNegative,
    Parameters,
    Positive,
    Values,
    check_fields,
)
from harness.errors import HarnessError, require
from harness.files.json_text import parse_json
from harness.files.secrets import holds_secret, remember
from harness.llm.refusals import Refusal, stop_reason

T = TypeVar("T")
Item = TypeVar("Item")
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP status codes after which a request is repeated."""
LONGEST_WAIT = 60.0
"""Maximum number of seconds between two attempts."""
_WINDOW = 4
"""Examples in work per simultaneous request."""
MAX_REPLY = 64 * 2**20
"""Maximum size of a reply in bytes."""
_KEY = re.compile(r"[!-~]+")
"""Characters that a header may carry and keys have: printable ASCII without spaces."""
_HOPELESS = 3
"""Number of first requests without answer after which no further one is sent; later,
that number times ``concurrency``.
"""
MOST_TOKENS = 10**9
"""Tokens of one reply; a server that says more does not count."""


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


Prices = Mapping[Literal["input", "output", "cached"], NonNegative]
"""Price of a million tokens, in any currency: ``input``, ``output``, and ``cached``
input (default: as ``input``).
"""


@dataclass
class Usage:
    """Requests and tokens of a client since it was created."""

    requests: int = 0
    retries: int = 0
    replies: int = 0
    """Valid and invalid replies with status 200."""
    uncounted: int = 0
    """Replies without counts of tokens."""
    answers: int = 0
    """Requests with a valid reply."""
    failures: int = 0
    """Requests in a row without a valid reply, up to now."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Tokens of prompts that the server had in its cache; part of ``prompt_tokens``."""
    completion_tokens: int = 0

    def add(self, reply: Any) -> None:
        """Count one decoded reply."""
        self.replies += 1
        usage = reply.get("usage") if isinstance(reply, dict) else None
        if not isinstance(usage, dict):
            self.uncounted += 1
            return
        details = usage.get("prompt_tokens_details")
        self.prompt_tokens += _count(usage.get("prompt_tokens"))
        self.completion_tokens += _count(usage.get("completion_tokens"))
        self.cached_tokens += (
            _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
        )

    def cost(self, prices: Prices) -> float:
        """Return the cost."""
        fresh = prices.get("input", 0.0)
        cached = self.cached_tokens * prices.get("cached", fresh)
        read = (self.prompt_tokens - self.cached_tokens) * fresh + cached
        return (read + self.completion_tokens * prices.get("output", 0.0)) / 1e6


def _count(value: object) -> int:
    return (
        value
        if isinstance(value, int)
        and not isinstance(value, bool)
        and 0 < value <= MOST_TOKENS
        else 0
    )


def read_key(owner: str, variable: str | None) -> str | None:
    """Return the API key in an environment variable, None without a variable.

    Raises :class:`HarnessError` for a variable without a value, and for a key that no
    header can carry. The key is not repaired: a line break within a variable is as
    likely the sign of another mistake.
    """
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise HarnessError(
            f"{owner}: the environment variable {variable} holds no key",
            parameter="api_key_env",
        )
    if not _KEY.fullmatch(key):
        position = next(
            index
            for index, character in enumerate(key)
            if not _KEY.fullmatch(character)
        )
        raise HarnessError(
            f"{owner}: the key in {variable} is not ASCII without spaces and line "
            f"breaks: character {position + 1} of {len(key)} is "
            f"U+{ord(key[position]):04X}; for a key in a file: "
            f"export {variable}=\"$(tr -d '[:space:]' < FILE)\"",
            parameter="api_key_env",
        )
    remember(key, f"${{secret:{variable}}}")
    return key


@dataclass(frozen=True, kw_only=True)
class ChatClient:
    """Address of a server and rules for requests.

    Raises :class:`HarnessError` for an address without ``http://`` or ``https://`` and
    for numbers out of range.
    """

    owner: str
    """Name of the component for messages: ``openai``."""
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    concurrency: Count = 8
    """Maximum number of simultaneous requests. A request that waits before its
    repetition does not count.
    """
    requests_per_minute: Positive | None = None
    """Maximum rate of requests, repetitions included; they are spaced evenly."""
    timeout: Positive = 120.0
    """Seconds after which an attempt ends, whatever the server has sent by then."""
    connect_timeout: Positive = 10.0
    """Seconds after which an attempt to connect ends."""
    retries: Index = 5
    """Maximum number of repetitions of a request."""
    first_wait: Positive = 1.0
    """Seconds before the first repetition; doubled each time. A header Retry-After
    replaces it.
    """
    parameters: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """Field of the request -> its name on this server,
    or None for a field that it does not accept.
    """
    proxy: str | None = None
    """Address of a proxy; default: the variables HTTP_PROXY, HTTPS_PROXY,
    ALL_PROXY and NO_PROXY.
    """
    usage: Usage = field(default_factory=Usage, compare=False)
    sleep: Callable[[float], Awaitable[None]] = field(
        default=asyncio.sleep, repr=False, compare=False
    )
    clock: Callable[[], float] = field(
        default=time.monotonic, repr=False, compare=False
    )
    """Function that waits, and function that gives the time in seconds;
    tests replace them.
    """

    def __post_init__(self) -> None:
        check_fields(self.owner, self)
        for name in ("base_url", "proxy"):
            value = getattr(self, name)
            if value is not None and not value.startswith(("http://", "https://")):
                raise HarnessError(
                    f"{self.owner}: {name} begins with http:// or https://; "
                    f"found {value!r}",
                    parameter=name,
                    value=value,
                )
        for name in ("model", "messages"):
            if name in self.parameters:
                raise HarnessError(
                    f"{self.owner}: the field '{name}' has the same name on all "
                    "servers",
                    parameter="parameters",
                )

    def rename_fields(self, body: Parameters) -> Values:
        """Return the fields of a request under their names on the server,
        without those that it does not accept.
        """
        names = {name: self.parameters.get(name, name) for name in body}
        return {new: body[name] for name, new in names.items() if new is not None}

    def ask_all(
        self,
        ask: Callable[[Session, Item], Coroutine[Any, Any, None]],
        items: Sequence[Item],
    ) -> None:
        """Await ``ask(session, item)`` for all items, in any order; at most
        ``4 * concurrency`` are in work at a time.

        ``ask`` stores the answer that :meth:`Session.post` returns before it awaits
        anything else: no further request has then taken the place of this one, so that
        a kill loses at most ``concurrency`` answers. It runs in another thread, one
        call at a time.

        The first request of a client is sent alone; the others follow when it
        succeeded. A key, model, address or field that the server refuses thus ends the
        work after one request.

        Raises
        ------
        HarnessError
            If the server would refuse every request, if the first three requests have
            no answer, and later if three times ``concurrency`` requests in a row have
            none.
        """
        threads: Any = require(
            "anyio.from_thread", extra="servers", needed_by=f"'{self.owner}'"
        )

        async def ask_each() -> None:
            async with self.session() as session:
                start = 0
                while start < len(items) and not self.usage.answers:
                    await ask(session, items[start])
                    start += 1
                async with asyncio.TaskGroup() as group:
                    for item in items[start:]:
                        await session.window.acquire()
                        group.create_task(ask(session, item)).add_done_callback(
                            lambda _: session.window.release()
                        )

        # An event loop in a thread of its own: the caller may run in one, in a notebook
        # for example.
        try:
            with threads.start_blocking_portal("asyncio") as portal:
                portal.call(ask_each)
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Context with a pool of connections."""
        httpx: Any = require("httpx2", extra="servers", needed_by=f"'{self.owner}'")
        headers = {
            "Accept-Encoding": "identity",
            **({"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}),
        }
        async with httpx.AsyncClient(
            base_url=self.base_url.rstrip("/") + "/",
            headers=headers,
            proxy=self.proxy,
            # a redirect would carry the key and the captions to an address that nobody
            # gave
            follow_redirects=False,
            timeout=httpx.Timeout(
                self.timeout, connect=min(self.connect_timeout, self.timeout)
            ),
            limits=httpx.Limits(
                max_connections=self.concurrency,
                max_keepalive_connections=self.concurrency,
            ),
        ) as http:
            yield Session(self, httpx, http)


class Session:
    """Requests of one event loop over one pool of connections."""

    def __init__(self, client: ChatClient, httpx: ModuleType, http: Any) -> None:
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
        if usage.failures >= (
            _HOPELESS * self.client.concurrency if usage.answers else _HOPELESS
        ):
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
            wait = min(
                LONGEST_WAIT, self.client.first_wait * 2**attempt
            ) * random.uniform(0.75, 1.0)
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
            if attempt + 1 < attempts:
                self.client.usage.retries += 1
                await self.client.sleep(wait)
        raise Unanswered(
            f"{problem}, after {attempts} {'try' if attempts == 1 else 'tries'}"
        )

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
        """Send one request and return the decoded reply; raise :class:`_Repeat` for
        what another attempt may mend.
        """
        client = self.client
        client.usage.requests += 1
        try:
            async with asyncio.timeout(client.timeout):
                status, headers, content = await self._exchange(path, body)
        except (TimeoutError, self._httpx.TimeoutException) as error:
            raise _Repeat(self._timeout_reason(error)) from error
        except self._httpx.ConnectError as error:
            raise _Repeat(
                f"no connection ({str(error) or type(error).__name__})"
            ) from error
        except self._httpx.TransportError as error:
            raise _Repeat(
                f"the connection broke ({str(error)[:200] or type(error).__name__})"
            ) from error
        if status != 200:
            self._reject(Refusal.of(status, headers, content), body)
        reply = parse_json(content)
        client.usage.add(reply)
        return reply

    def _timeout_reason(self, error: BaseException) -> str:
        if isinstance(error, self._httpx.ConnectTimeout):
            return (
                "no connection within "
                f"{min(self.client.connect_timeout, self.client.timeout):g} s"
            )
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
            if not holds_secret(
                "\n".join((content.decode("utf-8", "replace"), *reply.headers.values()))
            ):
                return reply.status_code, reply.headers, bytes(content)
            # A server that repeats a key would bring it into samples, caches and pages.
            # Nothing of such a reply is kept.
            if reply.status_code == 200:
                raise RequestFailed(
                    "the reply holds a secret of this process; it is not kept"
                )
            return (
                reply.status_code,
                {},
                b"the reply holds a secret of this process; it is not shown",
            )

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
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else None
