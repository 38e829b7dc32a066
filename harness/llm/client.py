"""Requests to a server with OpenAI's interface: one pool of connections, a rate limit,
retries, counts of tokens.

:meth:`ChatClient.ask_all` sends many requests at once and is called as any function;
within it each request is a coroutine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.errors import require
from harness.llm.server_rules import ServerRules
from harness.llm.session import Session

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class ChatClient(ServerRules):
    """A server, its rules, and the requests to it.

    Parameters are those of :class:`~harness.llm.server_rules.ServerRules`.
    """

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
