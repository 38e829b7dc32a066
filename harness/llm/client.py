"""Requests to a server with OpenAI's interface: one pool of connections, a rate limit,
retries, counts of tokens.

:meth:`ChatClient.ask_all` sends many requests at once and is called as any function;
within it each request is a coroutine.
"""

from __future__ import annotations

import asyncio
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
from typing import Any, TypeVar

from harness.contracts.parameters import (
    Count,
    Index,
    Parameters,
    Positive,
    Values,
    check_fields,
)
from harness.errors import HarnessError, require
from harness.llm.session import Session
from harness.llm.usage import Usage

Item = TypeVar("Item")


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
                # one by one until the server has answered once
                start = 0
                while start < len(items) and not self.usage.answers:
                    await ask(session, items[start])
                    start += 1

                async with asyncio.TaskGroup() as group:
                    for item in items[start:]:
                        await session.window.acquire()
                        task = group.create_task(ask(session, item))
                        task.add_done_callback(lambda _: session.window.release())

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
        headers = {"Accept-Encoding": "identity"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        connect_timeout = min(self.connect_timeout, self.timeout)
        limits = httpx.Limits(
            max_connections=self.concurrency,
            max_keepalive_connections=self.concurrency,
        )

        async with httpx.AsyncClient(
            base_url=self.base_url.rstrip("/") + "/",
            headers=headers,
            proxy=self.proxy,
            # a redirect would carry the key and the captions to an address that nobody
            # gave
            follow_redirects=False,
            timeout=httpx.Timeout(self.timeout, connect=connect_timeout),
            limits=limits,
        ) as http:
            yield Session(self, httpx, http)
