"""The ``openai`` adapter: servers with OpenAI's chat interface (vLLM, llama.cpp, SGLang, Ollama, ...)."""

from __future__ import annotations

import base64
import json
import mimetypes
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from harness.contracts import Decoding, Example, Failure, Generation, PathParam, TaskView
from harness.errors import HarnessError, InputError
from harness.files.http_client import Client, RequestFailed

_STRATEGIES = ("greedy", "sample", "nucleus")


class OpenAI:
    """Captions from a server; one request returns all candidates of an example.

    Parameters
    ----------
    base_url
        Address of the server, including ``/v1``.
    model
        Name of the model on the server.
    prompt
        User message. ``{source}`` is replaced by ``Example.source``, any other ``{key}`` by that entry of ``Example.meta``.
    system
        System message.
    images
        Folder of ``Example.media``; images are sent as data URLs.
    image
        If true, each request has an image; default: if the example names one.
    api_key_env
        Name of the environment variable that holds the API key.
    log_probs
        If true, the log-probabilities of the tokens are requested.
    concurrency
        Maximum number of simultaneous requests.
    timeout, retries, first_wait
        See :class:`~harness.files.http_client.Client`.
    max_length
        Maximum number of tokens of a caption if the decoding gives none.
    seed
        If true, the seed of the example is sent.
    extra
        Further fields of every request. ``top_k`` is sent without it.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        prompt: str = "Describe the image in one sentence.",
        system: str | None = None,
        images: PathParam | None = None,
        image: bool | None = None,
        api_key_env: str | None = None,
        log_probs: bool = True,
        concurrency: int = 8,
        timeout: float = 120.0,
        retries: int = 5,
        first_wait: float = 1.0,
        max_length: int = 64,
        seed: bool = True,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if concurrency < 1:
            raise HarnessError(f"openai: concurrency must be at least 1, found {concurrency}")
        key = os.environ.get(api_key_env) if api_key_env else None
        if api_key_env and not key:
            raise HarnessError(f"openai: the environment variable {api_key_env} holds no key")
        self.client = Client(base_url=base_url, api_key=key, timeout=timeout, retries=retries, first_wait=first_wait)
        self.model, self.prompt, self.system = model, prompt, system
        self.images, self.image = Path(images) if images is not None else None, image
        self.log_probs, self.concurrency, self.max_length = log_probs, concurrency, max_length
        self.seed, self.extra = seed, dict(extra or {})

    def fingerprint(self) -> str:
        """Return the address, the model name and the settings. The weights that the server uses are not known to the client."""
        settings = {
            "url": self.client.base_url, "model": self.model, "prompt": self.prompt, "system": self.system,
            "length": self.max_length, "image": self.image, "seed": self.seed, "extra": self.extra,
        }  # fmt: skip
        return f"openai-{json.dumps(settings, sort_keys=True)}"

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`HarnessError` for an unsupported strategy, :class:`InputError` for a prompt with a key that an example lacks."""
        if task.decoding.strategy not in _STRATEGIES:
            raise HarnessError(f"openai: strategy is one of {', '.join(_STRATEGIES)}; found '{task.decoding.strategy}'")
        for example in task.examples:
            self._text(example)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield one :class:`Generation` per example in order, or a :class:`Failure` if all requests for it failed."""
        with ThreadPoolExecutor(self.concurrency, thread_name_prefix="openai") as pool:
            yield from pool.map(lambda pair: self._one(pair[0], decoding, pair[1]), zip(examples, seeds))

    def _one(self, example: Example, decoding: Decoding, seed: int) -> Generation | Failure:
        candidates = decoding.candidates or 1
        count = 1 if decoding.strategy == "greedy" else candidates
        try:
            body = self.body(example, decoding, seed, count)
            choices = self._choices(body, count)
        except (RequestFailed, OSError) as error:
            return Failure(f"{self.client.base_url}: {error}")
        return _generation(choices * (candidates // count))

    def _choices(self, body: dict[str, Any], count: int) -> list[dict[str, Any]]:
        """Return ``count`` choices; requests are repeated if the server returns fewer at a time."""
        choices: list[dict[str, Any]] = []
        while len(choices) < count:
            body = {**body, "n": count - len(choices)}
            if choices and "seed" in body:
                body["seed"] = (body["seed"] + len(choices)) % 2**31
            choices += self.client.post("chat/completions", body, _accept)[: count - len(choices)]
        return choices

    def body(self, example: Example, decoding: Decoding, seed: int, candidates: int) -> dict[str, Any]:
        """Return the JSON body of the request for one example."""
        greedy = decoding.strategy == "greedy"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self._messages(example),
            "n": candidates,
            "temperature": 0.0 if greedy else decoding.temperature,
            "max_tokens": decoding.max_length or self.max_length,
        }
        if not greedy and decoding.top_p is not None:
            body["top_p"] = decoding.top_p
        if not greedy and decoding.top_k is not None:
            body["top_k"] = decoding.top_k
        if self.seed:
            body["seed"] = seed % 2**31
        if self.log_probs:
            body["logprobs"] = True
        return {**body, **self.extra}

    def _messages(self, example: Example) -> list[dict[str, Any]]:
        text = self._text(example)
        content: Any = text
        if self.image or (self.image is None and example.media is not None):
            content = [
                {"type": "image_url", "image_url": {"url": self._data_url(example)}},
                {"type": "text", "text": text},
            ]
        messages = [{"role": "system", "content": self.system}] if self.system else []
        return [*messages, {"role": "user", "content": content}]

    def _text(self, example: Example) -> str:
        if "{source}" in self.prompt and example.source is None:
            raise InputError(f"example '{example.id}' has no source text for the prompt {self.prompt!r}")
        try:
            return self.prompt.format(**{**example.meta, "source": example.source, "id": example.id})
        except (KeyError, IndexError, ValueError) as error:
            raise InputError(
                f"the prompt {self.prompt!r} asks for {error}, which example '{example.id}' does not have"
            ) from error

    def _data_url(self, example: Example) -> str:
        if example.media is None:
            raise RequestFailed("the example names no image")
        path = self.images / example.media if self.images is not None else Path(example.media)
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        try:
            return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
        except OSError as error:
            raise RequestFailed(f"{path}: the image cannot be read ({error.strerror})") from error


def _accept(reply: Any) -> list[dict[str, Any]]:
    """Return the choices of a reply; raise ``ValueError`` for a reply without choices or text."""
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices:
        raise ValueError(f"no choices in {str(reply)[:80]!r}")
    for choice in choices:
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            raise ValueError(f"a choice without text: {str(choice)[:80]!r}")
    return choices


def _generation(choices: list[dict[str, Any]]) -> Generation:
    tokens = [_token_log_probs(choice) for choice in choices]
    complete = all(values is not None for values in tokens)
    return Generation(
        candidates=tuple(choice["message"]["content"].strip() for choice in choices),
        log_probs=tuple(float(sum(values or ())) for values in tokens) if complete else None,
        lengths=tuple(len(values or ()) for values in tokens) if complete else None,
        stop_reasons=tuple("length" if choice.get("finish_reason") == "length" else "stop" for choice in choices),
    )


def _token_log_probs(choice: dict[str, Any]) -> list[float] | None:
    """Return the log-probabilities that the server reports (for most servers before temperature and filters), or None."""
    content = (choice.get("logprobs") or {}).get("content")
    if not isinstance(content, list):
        return None
    try:
        return [float(entry["logprob"]) for entry in content]
    except (KeyError, TypeError, ValueError):
        return None
