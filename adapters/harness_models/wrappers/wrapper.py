"""Base class of adapters around another adapter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

from harness.contracts import (
    Candidates,
    Decoding,
    Example,
    Failure,
    Generation,
    TaskView,
    TokenScores,
)
from harness.contracts.models import (
    Prepares,
    Scorer,
    StoreResult,
    find_refusal,
    needs_whole_task,
)
from harness.errors import HarnessError


class Wrapper:
    """Adapter that gives the captions and scores of ``model``, under a decoding of its
    own where it overrides :meth:`inner_decoding`.
    """

    kind: ClassVar[str]
    """Registered name of the wrapper, for messages."""
    whole_task: ClassVar[bool] = False
    """True if the wrapper itself needs all examples of the task."""
    model: Any
    """The adapter inside."""

    def inner_decoding(self, decoding: Decoding) -> Decoding:
        """Return the decoding of the model for that of the run."""
        return decoding

    def refuse_decoding(self, decoding: Decoding) -> str:
        """Return why the model cannot decode so, or an empty text."""
        return find_refusal(self.model, self.inner_decoding(decoding))

    @property
    def prepare_only_checks(self) -> bool:
        """True where captions depend on their example alone."""
        return not self.whole_task and not needs_whole_task(self.model)

    def prepare(self, task: TaskView) -> None:
        """Call ``prepare`` of the model, if it has that method,
        with the decoding of the model.
        """
        if isinstance(self.model, Prepares):
            self.model.prepare(
                replace(task, decoding=self.inner_decoding(task.decoding))
            )

    def finish(
        self, result: Candidates | Generation | Failure, decoding: Decoding
    ) -> Candidates | Generation | Failure:
        """Return what the wrapper makes of a result of the model."""
        return result

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Candidates | Generation | Failure]:
        """Yield one result per example in order, each as soon as the model has given
        its own; the seeds are those of the run.
        """
        inner = self.inner_decoding(decoding)
        for result in self.model.generate(examples, inner, seeds):
            yield self.finish(result, decoding)

    def _pass_on(
        self,
        examples: Sequence[Example],
        decoding: Decoding,
        seeds: Sequence[int],
        store: StoreResult,
    ) -> None:
        """Store the results of a model that gives them in any order;
        ``generate_unordered`` of a wrapper around such a one.
        """

        def finish(position: int, result: Generation | Failure) -> None:
            store(position, cast("Generation | Failure", self.finish(result, decoding)))

        self.model.generate_unordered(
            examples, self.inner_decoding(decoding), seeds, finish
        )

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterable[list[TokenScores]]:
        """Yield the reference scores of the model, one list per example;
        they do not depend on the decoding.

        Raises :class:`HarnessError` if the model does not score references.
        """
        if not isinstance(self.model, Scorer):
            raise HarnessError(
                f"{self.kind}: {type(self.model).__name__} does not score references"
            )
        return self.model.score_references(examples)
