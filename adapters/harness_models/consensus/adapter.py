"""The ``consensus`` adapter: one caption per example that a judge model writes from the candidates of another model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from harness.contracts import Adapter, Decoding, Example, Failure, Generation, Prepares, TaskView
from harness.contracts.parameters import Ge, check_arguments
from harness.registry import resolve
from harness_metrics.judges.summariser import Summariser, plain


class Consensus:
    """The candidates of ``model``, summarised to one caption by a language model.

    Parameters
    ----------
    model
        An adapter: its name, ``{name: {parameters}}``, or an instance.
    judge
        Server or local model, as in the metric ``clair``; an instance in Python.
    candidates
        Number of candidates of the model that are summarised.
    prompt
        Template with ``{candidates}``.

    Raises
    ------
    HarnessError
        For fewer than 2 candidates, a judge that cannot be created, and a prompt without its place.

    References
    ----------
    Chan et al. 2023, *IC3: Image Captioning by Committee Consensus*, section 3.
    """

    @check_arguments
    def __init__(
        self,
        *,
        model: str | Mapping[str, Any] | Adapter,
        judge: Any,
        candidates: Annotated[int, Ge(2)] = 10,
        prompt: str | None = None,
    ) -> None:
        self.candidates, self.summariser = candidates, Summariser(judge, prompt)
        self.model: Any = resolve("adapters", model)

    def fingerprint(self) -> str:
        """Return the number of candidates, the signature of the judge and the fingerprint of the model."""
        return f"consensus|{self.candidates}|{self.summariser.signature()}|{self.model.fingerprint()}"

    def prepare(self, task: TaskView) -> None:
        """Call ``prepare`` of the model, if it has that method."""
        if isinstance(self.model, Prepares):
            self.model.prepare(replace(task, decoding=replace(task.decoding, candidates=self.candidates)))

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield a :class:`Generation` with one caption per example; a :class:`Failure` where model or judge give none."""
        inner = list(self.model.generate(examples, replace(decoding, candidates=self.candidates), seeds))
        sets = [() if isinstance(item, Failure) else _captions(item) for item in inner]
        filled = [captions for captions in sets if captions]
        verdicts = iter(self.summariser.summaries(filled))
        for item, captions in zip(inner, sets):
            if isinstance(item, Failure):
                yield item
            elif not captions:
                yield Failure("the model has no caption to summarise")
            else:
                verdict = next(verdicts)
                if verdict.value is None:
                    yield Failure(f"the answer of the judge is {verdict.status}")
                else:
                    caption = (plain(verdict.value),)
                    if isinstance(item, Generation):
                        yield Generation(caption, item.references, held_out=item.held_out)
                    else:
                        yield Generation(caption)


def _captions(item: Any) -> tuple[str, ...]:
    return tuple(item.candidates if isinstance(item, Generation) else item)
