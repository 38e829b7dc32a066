"""The ``openai`` adapter: any server with OpenAI's chat interface (vLLM, llama.cpp, SGLang, Ollama, ...)."""

from __future__ import annotations

import base64
import json
import mimetypes
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from harness.adapters.openai.client import Client, RequestFailed
from harness.contracts import Decoding, Example, Failure, Generation, PathParam, TaskView
from harness.errors import HarnessError, InputError

_STRATEGIES = ("greedy", "sample", "nucleus")


class OpenAI:
    """Captions from a server, all candidates of an example in one request.

    base_url: up to and with ``/v1``. model: its name there. prompt, system: what it is told; ``{source}`` and ``{any meta key}``.
    images: folder of ``Example.media`` (sent as data URLs); image: whether to send one (default: where the example names one).
    api_key_env: name of the environment variable with the key. log_probs: ask for the tokens' log-probabilities.
    concurrency: requests at a time. timeout, retries: see :class:`~harness.adapters.openai.client.Client`.
    seed: whether to send the example's seed. extra: further fields of every request (``{"top_k": ...}`` is sent by itself).
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
        """Names the server and model asked; what the server runs behind that name cannot be seen from here."""
        settings = {
            "url": self.client.base_url, "model": self.model, "prompt": self.prompt, "system": self.system,
            "length": self.max_length, "image": self.image, "seed": self.seed, "extra": self.extra,
        }  # fmt: skip
        return f"openai-{json.dumps(settings, sort_keys=True)}"

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`HarnessError` for a strategy that servers of this kind do not have, :class:`InputError` for a prompt
        that asks for what an example does not have."""
        if task.decoding.strategy not in _STRATEGIES:
            raise HarnessError(f"openai: strategy is one of {', '.join(_STRATEGIES)}; found '{task.decoding.strategy}'")
        for example in task.examples:
            self._text(example)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """One :class:`Generation` per example in order; a :class:`Failure` where the server gave no good answer in the end."""
        with ThreadPoolExecutor(self.concurrency, thread_name_prefix="openai") as pool:
            yield from pool.map(lambda pair: self._one(pair[0], decoding, pair[1]), zip(examples, seeds))

    def _one(self, example: Example, decoding: Decoding, seed: int) -> Generation | Failure:
        wanted = decoding.candidates or 1
        asked = 1 if decoding.strategy == "greedy" else wanted
        try:
            body = self.body(example, decoding, seed, asked)
            choices = self._choices(body, asked)
        except (RequestFailed, OSError) as error:
            return Failure(f"{self.client.base_url}: {error}")
        return _generation(choices * (wanted // asked))

    def _choices(self, body: dict[str, Any], asked: int) -> list[dict[str, Any]]:
        """``asked`` choices; servers that give fewer at a time are asked again for the rest."""
        found: list[dict[str, Any]] = []
        while len(found) < asked:
            body = {**body, "n": asked - len(found)}
            if found and "seed" in body:
                body["seed"] = (body["seed"] + len(found)) % 2**31
            found += self.client.post("chat/completions", body, _accept)[: asked - len(found)]
        return found

    def body(self, example: Example, decoding: Decoding, seed: int, candidates: int) -> dict[str, Any]:
        """The request for one example."""
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
    """The choices of a reply; ValueError says what is wrong with it."""
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
    known = all(values is not None for values in tokens)
    return Generation(
        candidates=tuple(choice["message"]["content"].strip() for choice in choices),
        log_probs=tuple(float(sum(values or ())) for values in tokens) if known else None,
        lengths=tuple(len(values or ()) for values in tokens) if known else None,
        stop_reasons=tuple("length" if choice.get("finish_reason") == "length" else "stop" for choice in choices),
    )


def _token_log_probs(choice: dict[str, Any]) -> list[float] | None:
    """Log-probabilities as the server reports them (most servers: before temperature and filters), or None."""
    content = (choice.get("logprobs") or {}).get("content")
    if not isinstance(content, list):
        return None
    try:
        return [float(entry["logprob"]) for entry in content]
    except (KeyError, TypeError, ValueError):
        return None
