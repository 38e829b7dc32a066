"""A judge model behind OpenAI's chat interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from harness.contracts import KeyVariable, Values
from harness.contracts.parameters import Count, NonNegative, check_arguments
from harness.errors import HarnessError
from harness.llm.api_key import read_key
from harness.llm.client import ChatClient
from harness.llm.session import RequestFailed, Session
from harness_metrics.judges.replies import Conversation, Message, Reply

_REJECTED = frozenset({400, 413, 422})
"""HTTP status codes of a server that accepts no such request: too long,
or refused by a filter.
"""


class Server:
    """A model on a server (vLLM, llama.cpp, SGLang, Ollama, or a public service).

    Parameters
    ----------
    base_url : str
        Address of the server, including ``/v1``.
    model : str
        Name of the model on the server.
    api_key_env : str, optional
        Name of the environment variable that holds the API key; it is read at the first
        request.
    concurrency : int, default 16
        Maximum number of simultaneous requests. A request that waits before its
        repetition does not count.
    temperature : float, default 0
        Temperature of sampling.
    max_tokens : int, default 512
        Maximum number of tokens of an answer.
    seed : int, optional
        Seed that is sent with each request.
    extra : mapping, optional
        Further fields of each request, such as ``response_format``.
    max_side : int, optional
        Maximum width and height of an image in pixels; larger ones are reduced.
    timeout, retries, first_wait, parameters
        See :class:`~harness.llm.client.ChatClient`.

    Raises
    ------
    HarnessError
        For a parameter out of range, and an address without ``http://`` or
        ``https://``.
    """

    @check_arguments
    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key_env: KeyVariable | None = None,
        concurrency: int = 16,
        temperature: NonNegative = 0.0,
        max_tokens: Count = 512,
        seed: int | None = None,
        extra: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        retries: int = 5,
        first_wait: float = 0.25,
        parameters: Mapping[str, str | None] | None = None,
        max_side: Count | None = None,
    ) -> None:
        self.api_key_env = api_key_env
        self.extra = dict(extra or {})
        self.max_side = max_side
        self.client = ChatClient(
            owner="judge",
            base_url=base_url,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            first_wait=first_wait,
            parameters=parameters or {},
        )

        self.fields: dict[str, Any] = {
            "model": model,
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        if seed is not None:
            self.fields["seed"] = seed

    def signature(self) -> str:
        """Return the address and the fields of the requests.

        The weights that the server uses are not known to the client.
        """
        body = {**self.client.rename_fields(self.fields), **self.extra}
        size = "" if self.max_side is None else f"|max_side:{self.max_side}"
        address = self.client.base_url.rstrip("/")
        return f"server:{address}|{json.dumps(body, sort_keys=True)}{size}"

    def complete(
        self, conversations: Sequence[Conversation], store: Callable[[int, Reply], None]
    ) -> None:
        """Request all answers; see
        :meth:`~harness_metrics.judges.replies.Backend.complete`.

        Raises
        ------
        HarnessError
            As :meth:`~harness.llm.client.ChatClient.ask_all`: for a server that refuses
            or is down; if single requests fail after all repetitions; and if the server
            rejects all of several requests.
        """
        body = {**self.client.rename_fields(self.fields), **self.extra}
        failures: list[str] = []
        rejections: list[str] = []

        async def ask(session: Session, request: tuple[int, Conversation]) -> None:
            index, conversation = request
            messages = [
                await asyncio.to_thread(self._encode, message)
                for message in conversation
            ]
            try:
                reply = await session.post(
                    "chat/completions", {**body, "messages": messages}, read_reply
                )
            except RequestFailed as error:
                if error.status not in _REJECTED:
                    failures.append(str(error))
                    return
                # a filter rejects single prompts: an answer of its own kind
                rejections.append(str(error))
                reply = Reply("", "rejected")
            store(index, reply)

        total = len(conversations)
        client = replace(self.client, api_key=read_key("judge", self.api_key_env))
        client.ask_all(ask, list(enumerate(conversations)))

        # where all of several requests are rejected, it is not their content
        problems = failures or (rejections if len(rejections) == total > 1 else [])
        if problems:
            raise HarnessError(
                f"{len(problems)} of {total} requests to the judge failed; "
                f"the first: {problems[0]}. "
                f"The other answers stay in the cache: run it again",
                self.client.base_url,
            )

    def _encode(self, message: Message) -> Values:
        """Return a message as the interface has it,
        with the image in front of the text.
        """
        content: object = message["content"]
        if "image" in message:
            # needs Pillow, and judges of texts do not
            from harness_models.openai.content import image_file_part

            image = image_file_part(
                Path(message["image"]).read_bytes(), message["image"], self.max_side
            )
            content = [image, {"type": "text", "text": content}]
        return {"role": message["role"], "content": content}


def read_reply(value: object) -> Reply:
    """Return the first choice of a decoded reply; raise ``ValueError`` for a reply
    without choices or message.
    """
    choices = _field(value, "choices")
    choice = None
    if isinstance(choices, list):
        choice = next(iter(cast("list[object]", choices)), None)
    if not _is_object(choice):
        raise ValueError(f"no choices in {str(value)[:80]!r}")
    message = _field(choice, "message")
    finish = _field(choice, "finish_reason")
    if not _is_object(message):
        raise ValueError(f"a choice without message: {str(choice)[:80]!r}")

    content = _field(message, "content")
    refusal = _field(message, "refusal")
    if content is not None and not isinstance(content, str):
        raise ValueError(f"a message without text: {str(message)[:80]!r}")

    text = content or (refusal if isinstance(refusal, str) else "")
    ending = "length" if finish == "length" else "stop"
    if refusal or finish == "content_filter":
        ending = "refused"
    usage = _field(value, "usage")
    return Reply(
        text,
        ending,
        _tokens(usage, "prompt_tokens"),
        _tokens(usage, "completion_tokens"),
        tokens=_read_tokens(_field(choice, "logprobs")),
    )


def _read_tokens(log_probs: object) -> list[dict[str, float]]:
    """Return the log-probabilities of the likeliest texts of each token, the chosen one
    first; empty where the server gives none.
    """
    entries = cast("list[Values]", _field(log_probs, "content") or [])
    try:
        return [
            {
                str(item["token"]): float(item["logprob"])
                for item in (entry, *entry["top_logprobs"])
            }
            for entry in entries
        ]
    except (KeyError, TypeError, ValueError):
        return []


def _field(value: object, name: str) -> object:
    """Return a member of a JSON object; None for another value,
    or without that member.
    """
    return cast("Values", value).get(name) if _is_object(value) else None


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _tokens(usage: object, name: str) -> int:
    count = _field(usage, name)
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        return 0
    return count
