"""The ``consensus`` adapter: one caption per example that a judge model writes from the
candidates of another model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from queue import SimpleQueue
from typing import Annotated, Any

from harness.contracts import (
    Candidates,
    Decoding,
    Example,
    Failure,
    Generation,
    TaskView,
)
from harness.contracts.models import Adapter, GeneratesUnordered, Prepares, StoreResult
from harness.contracts.parameters import Ge, check_arguments
from harness.registry import resolve
from harness_metrics.judges.summariser import Summariser, plain

JUDGED = 64
"""Number of examples for which the model is asked before their captions are stored:
what waits for the judge is lost with a kill.
"""


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
        For fewer than 2 candidates, a judge that cannot be created, and a prompt
        without its place.

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
        self.candidates = candidates
        self.summariser = Summariser(judge, prompt)
        self.model: Any = resolve("adapters", model)
        if isinstance(self.model, GeneratesUnordered):
            self.generate_unordered = self._pass_on

    def fingerprint(self) -> str:
        """Return the number of candidates, the signature of the judge and the
        fingerprint of the model.
        """
        judge = self.summariser.signature()
        return f"consensus|{self.candidates}|{judge}|{self.model.fingerprint()}"

    def prepare(self, task: TaskView) -> None:
        """Call ``prepare`` of the model, if it has that method."""
        if isinstance(self.model, Prepares):
            self.model.prepare(
                replace(
                    task, decoding=replace(task.decoding, candidates=self.candidates)
                )
            )

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield a :class:`Generation` with one caption per example; a :class:`Failure`
        where model or judge give none.
        """
        results = iter(
            self.model.generate(
                examples, replace(decoding, candidates=self.candidates), seeds
            )
        )
        while batch := list(islice(results, JUDGED)):
            yield from self._summarise(batch)

    def _pass_on(
        self,
        examples: Sequence[Example],
        decoding: Decoding,
        seeds: Sequence[int],
        store: StoreResult,
    ) -> None:
        """Store the results of a model that gives them in any order: while it goes on,
        the judge summarises those that are there.
        """
        inner = replace(decoding, candidates=self.candidates)
        for start in range(0, len(examples), JUDGED):
            part = slice(start, start + JUDGED)
            arrived = SimpleQueue[tuple[int, Any]]()
            request = (
                examples[part],
                inner,
                seeds[part],
                lambda k, result, put=arrived.put: put((k, result)),
            )

            with ThreadPoolExecutor(1) as pool:
                answers = pool.submit(self.model.generate_unordered, *request)
                # the last one
                answers.add_done_callback(lambda _, put=arrived.put: put((-1, None)))
                is_last = False
                while not is_last:
                    # What has arrived in the meantime is one request to the judge.
                    count = max(1, arrived.qsize())
                    pairs = [arrived.get() for _ in range(count)]
                    is_last = any(k == -1 for k, _ in pairs)
                    pairs = [(k, item) for k, item in pairs if item is not None]
                    summaries = self._summarise([item for _, item in pairs])
                    for (k, _), result in zip(pairs, summaries):
                        store(start + k, result)
            answers.result()

    def _summarise(
        self, results: Sequence[Candidates | Generation | Failure]
    ) -> Iterator[Generation | Failure]:
        """Yield one caption for each result of the model,
        which the judge is asked for together.
        """
        sets = [
            () if isinstance(item, Failure) else _captions(item) for item in results
        ]

        judged = [captions for captions in sets if captions]
        verdicts = iter(self.summariser.summaries(judged))
        for item, captions in zip(results, sets):
            if isinstance(item, Failure):
                yield item
            elif not captions:
                yield Failure("the model has no caption to summarise")
            else:
                verdict = next(verdicts)
                if verdict.value is None:
                    yield Failure(f"the answer of the judge is {verdict.status}")
                    continue
                caption = (plain(verdict.value),)
                if isinstance(item, Generation):
                    yield Generation(caption, item.references, held_out=item.held_out)
                else:
                    yield Generation(caption)


def _captions(item: Any) -> tuple[str, ...]:
    return tuple(item.candidates if isinstance(item, Generation) else item)
