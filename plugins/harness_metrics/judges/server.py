"""A judge model behind OpenAI's chat interface."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from harness.contracts import Values
from harness.errors import HarnessError
from harness.files.http_client import Client, RequestFailed
from harness_metrics.judges.replies import Conversation, Reply
from harness_metrics.sets.checks import check_count, check_number

_REJECTED = frozenset({400, 413, 422})
"""HTTP status codes of a server that accepts no such request: too long, or refused by a filter."""
_HOPELESS = 4
"""Minimum number of failures without any answer after which no further request is sent."""
_WAITING = 4
"""Threads per simultaneous request: those that wait before a repetition leave their place to others."""


class Server:
    """A model on a server (vLLM, llama.cpp, SGLang, Ollama, or a public service).

    Parameters
    ----------
    base_url : str
        Address of the server, including ``/v1``.
    model : str
        Name of the model on the server.
    api_key_env : str, optional
        Name of the environment variable that holds the API key; it is read at the first request.
    concurrency : int, default 16
        Maximum number of simultaneous requests. A request that waits before its repetition does not count.
    temperature : float, default 0
        Temperature of sampling.
    max_tokens : int, default 512
        Maximum number of tokens of an answer.
    seed : int, optional
        Seed that is sent with each request.
    extra : mapping, optional
        Further fields of each request, such as ``response_format``.
    timeout, retries, first_wait
        See :class:`~harness.files.http_client.Client`.

    Raises
    ------
    HarnessError
        For a parameter out of range, and an address without ``http://`` or ``https://``.
    """

    def __init__(
        self, *, base_url: str, model: str, api_key_env: str | None = None, concurrency: int = 16,
        temperature: float = 0.0, max_tokens: int = 512, seed: int | None = None, extra: Mapping[str, Any] | None = None,
        timeout: float = 120.0, retries: int = 5, first_wait: float = 0.25,
    ) -> None:  # fmt: skip
        self.concurrency = check_count(concurrency, "judge", "concurrency")
        self.model, self.api_key_env = model, api_key_env
        self.body = {
            "model": model,
            "temperature": check_number(temperature, "judge", "temperature"),
            "max_tokens": check_count(max_tokens, "judge", "max_tokens"),
            **({} if seed is None else {"seed": seed}),
            **dict(extra or {}),
        }
        self.client: dict[str, Any] = {
            "base_url": base_url, "timeout": check_number(timeout, "judge", "timeout"),
            "retries": check_count(retries, "judge", "retries", 0),
            "first_wait": check_number(first_wait, "judge", "first_wait"),
        }  # fmt: skip
        Client(**self.client)

    def signature(self) -> str:
        """Return the address and the fields of the requests. The weights that the server uses are not known to the client."""
        return f"server:{self.client['base_url'].rstrip('/')}|{json.dumps(self.body, sort_keys=True)}"

    def complete(self, conversations: Sequence[Conversation], store: Callable[[int, Reply], None]) -> None:
        """Request all answers; see :meth:`~harness_metrics.judges.replies.Backend.complete`.

        Raises
        ------
        HarnessError
            If requests fail after all repetitions. When the first ``concurrency`` requests (at least 4) fail, the others are not sent.
        """
        requests = _Requests(self, store)
        with ThreadPoolExecutor(self.concurrency * _WAITING, thread_name_prefix="judge") as pool:
            list(pool.map(requests.send, range(len(conversations)), conversations))
        requests.raise_failures(len(conversations))

    def new_client(self, sleep: Callable[[float], None]) -> Client:
        """Return an HTTP client; raise :class:`HarnessError` where the variable of the API key is empty."""
        key = os.environ.get(self.api_key_env) if self.api_key_env else None
        if self.api_key_env and not key:
            raise HarnessError(f"judge: the environment variable {self.api_key_env} holds no key")
        return Client(**self.client, api_key=key, sleep=sleep)


class _Requests:
    """The requests of one call of :meth:`Server.complete`."""

    def __init__(self, server: Server, store: Callable[[int, Reply], None]) -> None:
        self.server, self.store = server, store
        self.places = threading.Semaphore(server.concurrency)
        self.client = server.new_client(self.wait)
        self.lock = threading.Lock()
        self.answered, self.skipped, self.failures, self.rejections = 0, 0, list[str](), list[str]()

    def wait(self, seconds: float) -> None:
        """Sleep without a place among the simultaneous requests."""
        # A pause before a repetition would hold back other requests, where a busy server has asked this one alone to
        # wait.
        self.places.release()
        try:
            time.sleep(seconds)
        finally:
            self.places.acquire()

    @property
    def hopeless(self) -> bool:
        """True when as many requests as are sent at once failed, and none has an answer."""
        failed = len(self.failures) + len(self.rejections)
        return not self.answered and failed >= max(_HOPELESS, self.server.concurrency)

    def send(self, index: int, conversation: Conversation) -> None:
        """Send one request and store its reply, or note the reason of its failure."""
        with self.places:
            if self.hopeless:
                with self.lock:
                    self.skipped += 1
                return
            body = {**self.server.body, "messages": list(conversation)}
            try:
                reply = self.client.post("chat/completions", body, read_reply)
            except (RequestFailed, OSError) as error:
                self._note_failure(index, error)
                return
        with self.lock:
            self.answered += 1
        self.store(index, reply)

    def _note_failure(self, index: int, error: Exception) -> None:
        rejected = getattr(error, "status", None) in _REJECTED
        with self.lock:
            (self.rejections if rejected else self.failures).append(str(error))
        if rejected:
            self.store(index, Reply("", "rejected"))

    def raise_failures(self, total: int) -> None:
        """Raise :class:`HarnessError` for requests without a reply, and where the server rejected all of several requests."""
        problems = self.failures or (self.rejections if total > 1 and not self.answered else [])
        if problems:
            address, stopped = (
                self.server.client["base_url"],
                f" ({self.skipped} were not sent)" if self.skipped else "",
            )
            raise HarnessError(
                f"{len(problems)} of {total} requests to the judge failed{stopped}; the first: {problems[0]}. "
                f"The other answers stay in the cache: run it again",
                str(address),
            )


def read_reply(value: object) -> Reply:
    """Return the first choice of a decoded reply; raise ``ValueError`` for a reply without choices or message."""
    choices = _field(value, "choices")
    choice = next(iter(cast("list[object]", choices)), None) if isinstance(choices, list) else None
    if not _is_object(choice):
        raise ValueError(f"no choices in {str(value)[:80]!r}")
    message, finish = _field(choice, "message"), _field(choice, "finish_reason")
    if not _is_object(message):
        raise ValueError(f"a choice without message: {str(choice)[:80]!r}")
    content, refusal = _field(message, "content"), _field(message, "refusal")
    if content is not None and not isinstance(content, str):
        raise ValueError(f"a message without text: {str(message)[:80]!r}")
    refused = bool(refusal) or finish == "content_filter"
    usage = _field(value, "usage")
    return Reply(
        content or (refusal if isinstance(refusal, str) else ""),
        "refused" if refused else "length" if finish == "length" else "stop",
        *(_tokens(usage, name) for name in ("prompt_tokens", "completion_tokens")),
    )


def _field(value: object, name: str) -> object:
    """Return a member of a JSON object; None for another value, or without that member."""
    return cast("Values", value).get(name) if _is_object(value) else None


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _tokens(usage: object, name: str) -> int:
    count = _field(usage, name)
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else 0
