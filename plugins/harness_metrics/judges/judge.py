"""A judge: a language model, the cache of its answers, and repetitions of requests
whose answer has no value.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from harness.contracts import Parameters, PathParam
from harness.contracts.parameters import Index, check_arguments, check_parameters
from harness.errors import HarnessError, InputError
from harness.files.media import media_file
from harness.files.user_path import user_path
from harness.llm.usage import Prices
from harness_metrics.judges.answers import Verdict
from harness_metrics.judges.local import LocalModel
from harness_metrics.judges.local_images import LocalImageModel
from harness_metrics.judges.prompts import with_image
from harness_metrics.judges.replies import Backend, Conversation, Message, Reply
from harness_metrics.judges.reply_cache import ReplyCache
from harness_metrics.judges.server import Server

T = TypeVar("T")
_Question = tuple[str, str | None]
"""Prompt and image."""
_log = logging.getLogger(__name__)
REMINDER = (
    "That answer cannot be read. Answer again, in English, "
    "with nothing but one complete JSON object of the form "
    "that was requested. Keep it short."
)
"""Message after an answer that is empty, truncated or invalid."""
_SETTINGS = ("cache", "repeats", "prices", "image", "images")


class Judge:
    """A language model that answers prompts, each distinct one once.

    Parameters
    ----------
    backend : Backend
        The model.
    cache : bool or str
        True: answers are kept in ``$HARNESS_CACHE/judges``; a folder: there; False:
        nowhere.
    repeats : int, default 1
        Number of times that a request is repeated, with its answer and a reminder of
        the form, where the answer is empty, truncated or invalid. Refusals are not
        repeated.
    prices : mapping, optional
        ``input`` and ``output``: price of a million tokens, in any currency.
    image : bool, default False
        If true, the judge sees the image of each example.
    images : str, optional
        Folder of the images.

    Raises
    ------
    HarnessError
        For a value out of range.
    """

    @check_arguments
    def __init__(
        self,
        backend: Backend,
        *,
        cache: bool | str = True,
        repeats: Index = 1,
        prices: Prices | None = None,
        image: bool = False,
        images: PathParam | None = None,
    ) -> None:
        sees = not isinstance(backend, LocalModel) or isinstance(
            backend, LocalImageModel
        )
        if image and not sees:
            raise HarnessError(
                "judge: a LocalModel sees no image; LocalImageModel and Server do",
                parameter="image",
            )
        self.backend = backend
        self.image = image
        self.images = user_path(images) if images else None
        self.caches = bool(cache)
        self.folder = user_path(cache) if isinstance(cache, str) and cache else None
        self.repeats = repeats
        self.prices = prices

    def signature(self) -> str:
        """Return the signature of the model, and the number of repetitions."""
        image = "|image" if self.image else ""
        return f"judge[{self.backend.signature()}|repeats:{self.repeats}{image}]"

    def default_prompt(self, template: str) -> str:
        """Return a template, with words about the image for a judge that sees it."""
        return with_image(template) if self.image else template

    def ask(
        self,
        prompts: Sequence[str],
        read: Callable[[Reply], Verdict[T]],
        media: Sequence[str | None] = (),
    ) -> list[Verdict[T]]:
        """Return one verdict per prompt.

        Requests, tokens and statuses do not depend on the cache: a stored answer counts
        what it cost when it was requested.

        Parameters
        ----------
        prompts : sequence of str
            Messages of the user, length T.
        read : callable
            Maps a reply to its verdict.
        media : sequence of str or None
            Image of the example of each prompt, length T; used by a judge that sees
            images.

        Raises
        ------
        HarnessError
            If a request fails, all answers until then being in the cache, and for an
            example without an image that can be read.
        """
        questions: list[_Question] = [(prompt, None) for prompt in prompts]
        if self.image:
            questions = list(zip(prompts, media))

        # Each distinct question is one conversation; an image of several questions is
        # read once.
        pictures: dict[str | None, Message] = {}
        talks: dict[_Question, Conversation] = {}
        for prompt, image in dict.fromkeys(questions):
            if image not in pictures:
                pictures[image] = self._picture(image) if self.image else Message()
            message = {"role": "user", "content": prompt, **pictures[image]}
            talks[prompt, image] = (message,)

        verdicts: dict[_Question, Verdict[T]] = {}
        for _ in range(self.repeats + 1):
            replies = self._replies(list(talks.values()))
            open_talks: dict[_Question, Conversation] = {}
            for (question, talk), reply in zip(talks.items(), replies):
                verdict = _join_verdicts(verdicts.get(question), read(reply))
                verdicts[question] = verdict
                if verdict.status in ("empty", "truncated", "invalid"):
                    # services refuse a message without content
                    content = reply.text.strip() or "(no answer)"
                    answer = {"role": "assistant", "content": content}
                    reminder = {"role": "user", "content": REMINDER}
                    open_talks[question] = (*talk, answer, reminder)
            talks = open_talks

        _warn(verdicts.values())
        return [verdicts[question] for question in questions]

    def _picture(self, media: str | None) -> Message:
        """Return the fields of a message with an image; raise :class:`InputError` for
        an image that is not there.
        """
        if not media:
            raise InputError(
                "the judge has image: true, and an example has no image",
                parameter="image",
            )

        file = media_file(media, self.images)
        try:
            return {
                "image": str(file),
                "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            }
        except OSError as error:
            raise InputError(
                f"no image to read ({error.strerror}); judge: {{images: "
                f"FOLDER}} names its folder",
                str(file),
            ) from error

    def _replies(self, talks: Sequence[Conversation]) -> list[Reply]:
        """Return the replies from the cache and the model."""
        cache = None
        replies: dict[int, Reply] = {}
        keys: list[str] = []
        if self.caches:
            cache = ReplyCache(self.backend.signature(), self.folder)
            keys = [cache.key(talk) for talk in talks]
            stored = cache.read(keys)
            replies = {
                index: stored[key] for index, key in enumerate(keys) if key in stored
            }
        absent = [index for index in range(len(talks)) if index not in replies]

        def keep(position: int, reply: Reply) -> None:
            index = absent[position]
            replies[index] = reply
            # a service that rejects a request today may accept it tomorrow
            if cache is not None and reply.finish != "rejected":
                cache.store.add(keys[index], reply.to_record())

        try:
            if absent:
                self.backend.complete([talks[index] for index in absent], keep)
        finally:
            if cache is not None:
                cache.store.close()

        n_stored = len(talks) - len(absent)
        _log.info("judge: %d answers, %d of them from the cache", len(talks), n_stored)
        if len(replies) < len(talks):
            missing = len(talks) - len(replies)
            raise HarnessError(
                f"the judge has no answer to {missing} of {len(talks)} requests"
            )
        return [replies[index] for index in range(len(talks))]


def _join_verdicts(first: Verdict[T] | None, last: Verdict[T]) -> Verdict[T]:
    """Return the last verdict with the requests and tokens of both."""
    if first is None:
        return last
    return replace(
        last,
        requests=first.requests + last.requests,
        prompt_tokens=first.prompt_tokens + last.prompt_tokens,
        completion_tokens=first.completion_tokens + last.completion_tokens,
    )


def _warn(verdicts: Any) -> None:
    counts = Counter(verdict.status for verdict in verdicts)
    total = counts.total()
    valid = counts.pop("valid", 0)
    if valid == total:
        return

    reasons = [f"{count} {status}" for status, count in counts.most_common()]
    _log.warning(
        "judge: %d of %d prompts have no valid answer (%s)",
        total - valid,
        total,
        ", ".join(reasons),
    )


JudgeSpec = Mapping[str, Any] | Backend | Judge
"""Parameters of :class:`Server` or :class:`LocalModel` with those of :class:`Judge`,
or an instance.
"""


def resolve_judge(spec: object, metric: str) -> Judge:
    """Return a judge.

    Parameters
    ----------
    spec : mapping, Backend or Judge
        A mapping with ``base_url`` is a :class:`~harness_metrics.judges.server.Server`,
        one with ``path`` a :class:`~harness_metrics.judges.local.LocalModel`, or with
        ``image: true`` a :class:`~harness_metrics.judges.local_images.LocalImageModel`;
        ``cache``, ``repeats`` and ``prices`` are those of :class:`Judge`.
    metric : str
        Name of the metric, for messages.

    Raises
    ------
    HarnessError
        For any other value, with the nearest name for an unknown parameter.
    """
    if isinstance(spec, Judge):
        return spec

    if isinstance(spec, Mapping) and ("base_url" in spec) != ("path" in spec):
        # Those of the judge itself are told from those of its model by their names.
        settings: dict[str, Any] = {}
        values: dict[str, Any] = {}
        for name, value in cast("Parameters", spec).items():
            (settings if name in _SETTINGS else values)[name] = value
        local = LocalImageModel if settings.get("image") else LocalModel
        factory = Server if "base_url" in values else local
        check_parameters(f"judge of '{metric}'", factory, values)
        return Judge(factory(**values), **settings)

    if not isinstance(spec, Mapping) and isinstance(spec, Backend):
        return Judge(spec)

    raise HarnessError(
        f"{metric}: judge is {spec!r:.80}; expected {{base_url: ..., model: "
        f"...}} for a server, {{path: FOLDER}} for a local model, "
        "or an object with signature() and complete()",
        parameter="judge",
        value=cast("object", spec),
    )
