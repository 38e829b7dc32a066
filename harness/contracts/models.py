"""Protocols of models and data sets: adapters, scorers, listeners, readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from harness.contracts.data import (
    Candidates,
    Decoding,
    Example,
    Failure,
    Generation,
    TaskView,
    TokenScores,
)

StoreResult = Callable[[int, Generation | Failure], None]
"""Takes the position of an example and its result."""


@runtime_checkable
class Adapter(Protocol):
    """A model, or a stand-in for one.

    Its constructor takes the parameters of the spec.
    """

    def fingerprint(self) -> str:
        """Return a text that changes whenever weights, files or configuration change:
        part of every cache key.
        """
        ...

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterable[Candidates | Generation | Failure]:
        """Yield one result per example, in order.

        ``seeds`` holds one 63-bit integer per example, derived from the run seed and
        the example id, so that batch size, order and sharding never change a caption.
        """
        ...


@runtime_checkable
class GeneratesUnordered(Protocol):
    """An adapter whose results arrive in any order, as those of a server do: each is
    stored at once, not after those before it.
    """

    def generate_unordered(
        self,
        examples: Sequence[Example],
        decoding: Decoding,
        seeds: Sequence[int],
        store: StoreResult,
    ) -> None:
        """Call ``store(position, result)`` once per example, as soon as its result is
        there, in any thread but one call at a time.

        The results are those of :meth:`Adapter.generate`.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """An adapter that scores references token by token."""

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterable[list[TokenScores]]:
        """Yield for each example one :class:`TokenScores` per reference."""
        ...


@runtime_checkable
class Listener(Protocol):
    """An adapter that plays the listener of the reference game."""

    def listen(
        self, examples: Sequence[Example], captions: Sequence[str]
    ) -> np.ndarray:
        """Return choices (B,), int: 0 for the target, 1, 2, ... for the distractors
        (``Example.meta``).
        """
        ...


@runtime_checkable
class Prepares(Protocol):
    """An adapter that looks at the whole task before captions are generated (to find
    missing predictions, for example).

    The class attribute ``prepare_only_checks = True`` states that captions depend on
    their example alone all the same. Answers of such an adapter stay valid when other
    examples change, and actors of a Ray cluster generate them.
    """

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`~harness.errors.InputError` for a task that cannot work,
        before anything is generated.
        """
        ...


def needs_whole_task(adapter: object) -> bool:
    """Return True for an adapter whose captions of an example may depend on the other
    examples of the task.
    """
    return isinstance(adapter, Prepares) and not getattr(
        adapter, "prepare_only_checks", False
    )


def find_refusal(adapter: object, decoding: Decoding) -> str:
    """Return the reason for which an adapter cannot decode so, or an empty text.

    An adapter whose strategies are known without its weights says so in a method
    ``refuse_decoding(decoding)``, which a plan calls before anything is generated or
    trained.
    """
    refuse = getattr(adapter, "refuse_decoding", None)
    return str(refuse(decoding)) if callable(refuse) else ""


@runtime_checkable
class Describes(Protocol):
    """A reader or an adapter with a description of its source for the provenance of a
    run.
    """

    def describe(self) -> str | Mapping[str, object]:
        """Return a sentence or JSON-compatible values."""
        ...


@runtime_checkable
class Reader(Protocol):
    """A data set reader.

    Its constructor takes the spec's ``dataset`` mapping without ``reader``.
    """

    def fingerprint(self) -> str:
        """Return a text that changes whenever the content of the data set changes."""
        ...

    def __iter__(self) -> Iterator[Example]: ...


@runtime_checkable
class CountsUsage(Protocol):
    """An adapter that counts what its work costs.

    The values are stored beside the results and change no number.
    """

    def usage(self) -> Mapping[str, object]:
        """Return JSON-compatible values of the work so far, such as ``requests``,
        ``completion_tokens`` and ``cost``.
        """
        ...


@runtime_checkable
class OpensMedia(Protocol):
    """An adapter that opens ``Example.media``.

    Answers shared between runs are then keyed by the content of the file.
    """

    @property
    def media_folder(self) -> Path | None:
        """Folder of file names; None: they are paths."""
        ...


@runtime_checkable
class Timed(Protocol):
    """An adapter that measures its speed.

    The values are printed and stored beside the results and change no number.
    """

    def timings(self) -> Mapping[str, object]:
        """Return JSON-compatible values of the work so far, such as ``tokens``,
        ``seconds`` and ``tokens_per_second``.
        """
        ...
