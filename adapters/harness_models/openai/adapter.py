"""The ``openai`` adapter: servers with OpenAI's chat interface (vLLM, llama.cpp,
SGLang, Ollama, ...).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from harness.contracts import (
    Decoding,
    Example,
    Failure,
    Generation,
    KeyVariable,
    PathParam,
    StoreResult,
    TaskView,
)
from harness.contracts.parameters import Count, check_arguments
from harness.errors import HarnessError
from harness.files.answer_events import AnswerEvents
from harness.files.generated.timed_texts import TimeUnit
from harness.llm.api_key import read_key
from harness.llm.client import ChatClient
from harness.llm.session import RequestFailed, Session
from harness.llm.usage import Prices
from harness_models.openai.messages import Messages
from harness_models.openai.replies import Choice, generation, read_choices

_STRATEGIES = ("greedy", "sample", "nucleus")


class OpenAI:
    """Captions from a server; one request returns all candidates of an example.

    The first request of a process is sent alone; the others follow when it succeeded. A
    key, model, address or field that the server refuses thus ends the run after one
    request.

    Parameters
    ----------
    base_url
        Address of the server, including ``/v1``.
    model
        Name of the model on the server.
    prompt
        User message. ``{source}`` is replaced by ``Example.source``, any other
        ``{key}`` by that entry of ``Example.meta``.
    system
        System message.
    images
        Folder of ``Example.media``; images are sent as data URLs.
    image
        If true, each request has media; default: if the example names one.
    medium
        ``image``, ``video``, ``audio``, or ``auto``: by the suffix of the media name,
        else an image.
    frames, frame_choice
        Number of frames of a video that are sent as images, and ``uniform`` or ``key``
        (:func:`~harness_models.shared.media.video.video_frames`); 0 sends the whole
        file, which vLLM and SGLang accept.
    max_side
        Maximum width and height of images and frames in pixels; larger ones are
        reduced.
    api_key_env
        Name of the environment variable that holds the API key.
    log_probs
        If true, the log-probabilities of the tokens are requested.
    concurrency
        Maximum number of simultaneous requests.
    requests_per_minute
        Maximum rate of requests.
    timeout, connect_timeout, retries, first_wait, proxy
        See :class:`~harness.llm.client.ChatClient`.
    max_length
        Maximum number of tokens of a caption if the decoding gives none.
    seed
        If true, the seed of the example is sent.
    parameters
        Field of the request -> its name on this server, or null for a field that it
        does not accept: ``{max_tokens: max_completion_tokens, logprobs: null}``.
    prices
        Price of a million tokens in any currency: ``input``, ``output``, and ``cached``
        (input that the server had cached). The cost of a run is then recorded beside
        its tokens.
    extra
        Further fields of every request. ``top_k`` is sent without it.
    events
        ``sets`` reads each answer as events with times (docs/dense.md); an example with
        an answer that cannot be read is a failure that keeps it.
    time_unit, fps
        Unit of times that the model writes without one (``seconds``, ``hundredths`` of
        the duration, ``frames``), and the frames of a second; with ``events``.
    """

    prepare_only_checks = True

    @check_arguments
    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        prompt: str = "Describe the image in one sentence.",
        system: str | None = None,
        images: PathParam | None = None,
        image: bool | None = None,
        medium: Literal["auto", "image", "video", "audio"] = "auto",
        frames: int = 8,
        frame_choice: str = "uniform",
        max_side: int | None = None,
        api_key_env: KeyVariable | None = None,
        log_probs: bool = True,
        concurrency: int = 8,
        requests_per_minute: float | None = None,
        timeout: float = 120.0,
        connect_timeout: float = 10.0,
        retries: int = 5,
        first_wait: float = 1.0,
        proxy: str | None = None,
        max_length: Count = 64,
        seed: bool = True,
        parameters: Mapping[str, str | None] | None = None,
        prices: Prices | None = None,
        extra: Mapping[str, Any] | None = None,
        events: Literal["sets"] | None = None,
        time_unit: TimeUnit | None = None,
        fps: float | None = None,
    ) -> None:
        self.client = ChatClient(
            owner="openai",
            base_url=base_url,
            api_key=read_key("openai", api_key_env),
            parameters=parameters or {},
            concurrency=concurrency,
            requests_per_minute=requests_per_minute,
            timeout=timeout,
            connect_timeout=connect_timeout,
            retries=retries,
            first_wait=first_wait,
            proxy=proxy,
        )

        folder = Path(images) if images is not None else None
        self.messages = Messages(
            prompt=prompt,
            system=system,
            folder=folder,
            image=image,
            medium=medium,
            frames=frames,
            frame_choice=frame_choice,
            max_side=max_side,
        )

        self.model = model
        self.log_probs = log_probs
        self.max_length = max_length
        self.seed = seed
        self.prices = dict(prices or {})
        self.extra = dict(extra or {})
        self.answer_events = AnswerEvents.of_parameters(events, time_unit, fps)

    @property
    def media_folder(self) -> Path | None:
        """Folder of ``Example.media``."""
        return self.messages.folder

    def fingerprint(self) -> str:
        """Return the address, the model name and the settings.

        The weights that the server uses are not known to the client.
        """

        # Settings that the fingerprint had from the start are always in it; a later one
        # only where it differs from its default, so that stored answers keep their key.
        settings: dict[str, Any] = {
            "url": self.client.base_url,
            "model": self.model,
            "prompt": self.messages.prompt,
            "system": self.messages.system,
            "length": self.max_length,
            "image": self.messages.image,
            "seed": self.seed,
            "extra": self.extra,
        }

        optional = {
            "parameters": (self.client.parameters, {}),
            "max_side": (self.messages.max_side, None),
            "frames": (self.messages.frames, 8),
            "medium": (self.messages.medium, "auto"),
            "frame_choice": (self.messages.frame_choice, "uniform"),
        }

        for name, (value, default) in optional.items():
            if value != default:
                settings[name] = value
        if self.answer_events is not None:
            settings |= self.answer_events.settings()
        return f"openai-{json.dumps(settings, sort_keys=True)}"

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`HarnessError` for an unsupported strategy, :class:`InputError`
        for a prompt with a key that an example lacks.
        """
        if task.decoding.strategy not in _STRATEGIES:
            raise HarnessError(
                f"openai: strategy is one of {', '.join(_STRATEGIES)}; "
                f"found '{task.decoding.strategy}'"
            )
        for example in task.examples:
            self.messages.text(example)

    def usage(self) -> dict[str, object]:
        """Return the requests and tokens since the adapter was created, and their cost
        where ``prices`` are given.

        ``replies_without_counts`` is the number of replies whose tokens the server did
        not count; it is left out at 0.
        """

        usage = self.client.usage
        values: dict[str, object] = {
            "requests": usage.requests,
            "repeated": usage.retries,
            "prompt_tokens": usage.prompt_tokens,
            "cached_tokens": usage.cached_tokens,
            "completion_tokens": usage.completion_tokens,
        }

        if usage.uncounted:
            values["replies_without_counts"] = usage.uncounted
        if self.prices:
            values["cost"] = usage.cost(self.prices)
        return values

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield one :class:`Generation` per example in order, or a :class:`Failure` if
        all requests for it failed.

        An error of :meth:`generate_unordered` follows the results before it.
        """
        results: dict[int, Generation | Failure] = {}
        try:
            self.generate_unordered(examples, decoding, seeds, results.__setitem__)
        finally:
            yield from map(
                results.__getitem__,
                takewhile(results.__contains__, range(len(examples))),
            )

    def generate_unordered(
        self,
        examples: Sequence[Example],
        decoding: Decoding,
        seeds: Sequence[int],
        store: StoreResult,
    ) -> None:
        """Store the results of :meth:`generate` as they arrive; see
        :class:`~harness.contracts.GeneratesUnordered`.

        Raises
        ------
        HarnessError
            As :meth:`~harness.llm.client.ChatClient.ask_all`: for a server that refuses
            or is down.
        """

        async def generate_one(
            session: Session, request: tuple[int, Example, int]
        ) -> None:
            position, example, seed = request
            result = await self._generation(session, example, decoding, seed)
            if self.answer_events is not None:
                result = self.answer_events.finish(result, example)
            store(position, result)

        self.client.ask_all(
            generate_one, list(zip(range(len(examples)), examples, seeds))
        )

    async def _generation(
        self, session: Session, example: Example, decoding: Decoding, seed: int
    ) -> Generation | Failure:
        candidates = decoding.candidates or 1
        count = 1 if decoding.strategy == "greedy" else candidates
        try:
            body = await asyncio.to_thread(self.body, example, decoding, seed, count)
        except RequestFailed as error:
            return Failure(str(error))
        try:
            choices = await self._choices(session, body, count)
        except RequestFailed as error:
            return Failure(f"{self.client.base_url}: {error}")
        return generation(choices * (candidates // count))

    async def _choices(
        self, session: Session, body: dict[str, Any], count: int
    ) -> list[Choice]:
        """Return ``count`` choices; requests are repeated if the server returns fewer
        at a time.
        """
        number, seed = (
            self.client.parameters.get(name, name) for name in ("n", "seed")
        )

        choices: list[Choice] = []
        while len(choices) < count:
            if number in body:
                body = {**body, number: count - len(choices)}
            if choices and seed in body:
                body[seed] = (body[seed] + len(choices)) % 2**31
            new = await session.post("chat/completions", body, read_choices)
            choices += new[: count - len(choices)]
        return choices

    def body(
        self, example: Example, decoding: Decoding, seed: int, candidates: int
    ) -> dict[str, Any]:
        """Return the JSON body of the request for one example.

        Raises :class:`InputError` for a prompt with a field that the example lacks, and
        :class:`~harness.llm.session.RequestFailed` for media that cannot be read.
        """

        greedy = decoding.strategy == "greedy"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self.messages.of(example),
            "n": candidates,
            "temperature": 0.0 if greedy else decoding.temperature,
            "max_tokens": decoding.max_length or self.max_length,
        }

        # Greedy search reads no filter; a server may refuse one beside temperature 0.
        if not greedy and decoding.top_p is not None:
            body["top_p"] = decoding.top_p
        if not greedy and decoding.top_k is not None:
            body["top_k"] = decoding.top_k

        if self.seed:
            body["seed"] = seed % 2**31
        if self.log_probs:
            body["logprobs"] = True
        return {**self.client.rename_fields(body), **self.extra}
