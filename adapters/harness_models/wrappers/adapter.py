"""Adapters around another adapter: ``with-decoding``, ``mbr`` and ``consensus``,
and their base class.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from queue import SimpleQueue
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from harness.contracts import (
    Candidates,
    Decoding,
    Distance,
    Example,
    Failure,
    Generation,
    TaskView,
    TokenScores,
)
from harness.contracts.models import (
    Adapter,
    GeneratesUnordered,
    Prepares,
    Scorer,
    StoreResult,
    needs_whole_task,
)
from harness.contracts.parameters import Ge, check_arguments
from harness.errors import HarnessError, did_you_mean
from harness.registry import resolve
from harness.run.features import FeatureCache
from harness_metrics.judges.summariser import Summariser, plain
from harness_models.baselines.central import sum_distances


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
        for result in self.model.generate(
            examples, self.inner_decoding(decoding), seeds
        ):
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


# --------------------------------------------------------------------------- adapter
# The ``with-decoding`` adapter: a model with some decoding settings fixed.
#
# A run has one grid of decodings for all its models. With this adapter several search
# techniques (Chan et al. 2022, Figure 6) are models of one run, although one ignores
# the temperature and another needs filters that a third does not have.
Count = Annotated[int, Field(ge=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


SETTINGS: dict[str, Any] = {
    "strategy": str,
    "temperature": Annotated[Finite, Field(gt=0)],
    "top_p": Annotated[float, Field(gt=0, le=1)],
    "top_k": Count,
    "beams": Count,
    "length_penalty": Finite,
    "max_length": Count,
    "options": dict[str, Any],
}
"""Types and ranges of the fields of :class:`~harness.contracts.Decoding` that can be
fixed: all except ``candidates``.

A field whose default is None can also be None.
"""


class WithDecoding(Wrapper):
    """``model`` with the settings ``decoding`` in place of those of the run.

    Parameters
    ----------
    model
        An adapter: its name, ``{name: {parameters}}``, or an instance.
    decoding
        Fields of the ``decoding`` of a spec except ``candidates``, one value each.
        ``options`` are merged with those of the run.

    Raises
    ------
    HarnessError
        For an empty mapping, an unknown field, a list, and a value out of range.

    References
    ----------
    Chan et al. (2022), Distribution Aware Metrics for Conditional Natural Language
    Generation, Figure 6.
    """

    kind = "with-decoding"

    def __init__(
        self, *, model: str | Mapping[str, Any] | Adapter, decoding: Mapping[str, Any]
    ) -> None:
        self.fixed = check_settings(decoding)
        self.model: Any = resolve("adapters", model)
        if isinstance(self.model, GeneratesUnordered):
            self.generate_unordered = self._pass_on

    def fingerprint(self) -> str:
        """Return the fixed settings and the fingerprint of the model."""
        return f"with-decoding|{json.dumps(self.fixed, sort_keys=True)}|{self.model.fingerprint()}"

    def inner_decoding(self, decoding: Decoding) -> Decoding:
        """Return the decoding of the run with the fixed settings applied."""
        options = {**decoding.options, **self.fixed.get("options", {})}
        return replace(decoding, **{**self.fixed, "options": options})


def check_settings(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with values converted to their types; raise
    :class:`HarnessError` for the first that does not fit.
    """
    expected = f"expected some of {', '.join(SETTINGS)}"
    if not isinstance(decoding, Mapping) or not decoding:
        raise HarnessError(f"with-decoding: decoding is {decoding!r}; {expected}")
    for name, value in decoding.items():
        if name not in SETTINGS:
            hint = did_you_mean(str(name), SETTINGS)
            raise HarnessError(
                f"with-decoding: decoding has no '{name}' here{hint}; {expected}"
            )
        if isinstance(value, list):
            raise HarnessError(
                f"with-decoding: {name} is a list; an axis belongs to the decoding "
                "of the run"
            )
    return {name: convert_setting(name, value) for name, value in decoding.items()}


def convert_setting(name: str, value: Any) -> Any:
    """Return a value converted to the type of the setting; raise :class:`HarnessError`
    with the value and its range.
    """
    if value is None and getattr(Decoding(), name) is None:
        return None
    try:
        return TypeAdapter(SETTINGS[name]).validate_python(value)
    except ValidationError as error:
        message = (
            error.errors()[0]["msg"]
            .replace("Input should be", "expected", 1)
            .replace(" a valid ", " a ")
        )
        hint = (
            " (use strategy: greedy for the limit of 0)"
            if name == "temperature" and value == 0
            else ""
        )
        raise HarnessError(
            f"with-decoding: {name} is {value!r}; {message}{hint}",
            parameter=name,
            value=value,
        ) from error


# --------------------------------------------------------------------------- adapter
# The ``mbr`` adapter: minimum-Bayes-risk choice among the captions of a model, by any
# distance.


KEPT_POOLS = 256
"""Number of pools after which what was computed of their texts is dropped."""


class Mbr(Wrapper):
    """The captions of ``model`` with the smallest mean distance to its other captions
    of the same example, best first.

    The model gives ``pool`` captions under the decoding of the run, which should be a
    sample; the ``candidates`` of the run (default 1) are chosen from them. Different
    captions come before repeated ones. Corpus statistics of the distance come from the
    examples of the run; the captions to choose from serve as their references.

    Parameters
    ----------
    model
        An adapter: its name, ``{name: {parameters}}``, or an instance.
    distance
        A distance by name or ``{name: {params}}``, or an instance; a caption is the
        hypothesis, the others are the references.
    pool
        Number of captions to choose from, at least 2.

    Raises
    ------
    HarnessError
        For a pool of fewer than 2 captions, or fewer than the candidates of the run.

    References
    ----------
    Kumar & Byrne (2004), Minimum Bayes-Risk Decoding for Statistical Machine
    Translation; Eikema & Aziz (2022), Sampling-Based Approximations to Minimum Bayes
    Risk Decoding for Neural Machine Translation (a sample as the references).
    """

    kind = "mbr"
    whole_task = True  # the statistics of the distance are those of all examples

    @check_arguments
    def __init__(
        self,
        *,
        model: str | Mapping[str, Any] | Adapter,
        distance: str | Mapping[str, Any] | Distance = "meteor",
        pool: Annotated[int, Ge(2)] = 16,
    ) -> None:
        self.model: Any = resolve("adapters", model)
        self.distance: Distance = resolve("distances", distance)
        self.pool = pool
        self._features: FeatureCache | None = None
        self._ranked = 0
        if isinstance(self.model, GeneratesUnordered):
            self.generate_unordered = self._pass_on

    def fingerprint(self) -> str:
        """Return the pool, the distance and the fingerprint of the model."""
        return f"mbr|pool={self.pool}|{self.distance.signature()}|{self.model.fingerprint()}"

    def inner_decoding(self, decoding: Decoding) -> Decoding:
        """Return the decoding with ``pool`` candidates; raise :class:`HarnessError`
        when the run asks for more.
        """
        if (decoding.candidates or 1) > self.pool:
            raise HarnessError(
                f"mbr: {decoding.candidates} candidates cannot be chosen from a pool "
                f"of {self.pool}"
            )
        return replace(decoding, candidates=self.pool)

    def prepare(self, task: TaskView) -> None:
        """Fit the distance on the references of the task,
        and call ``prepare`` of the model with the pool.
        """
        self._features = FeatureCache([example.references for example in task.examples])
        super().prepare(task)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Candidates | Generation | Failure]:
        """Yield the chosen captions of each example;
        the failures of the model are passed on.
        """
        if self._features is None:
            self._features = FeatureCache([example.references for example in examples])
        return super().generate(examples, decoding, seeds)

    def finish(
        self, result: Candidates | Generation | Failure, decoding: Decoding
    ) -> Generation | Failure:
        """Return the chosen captions of a pool; a failure stays."""
        if isinstance(result, Failure):
            return result
        generation = (
            result if isinstance(result, Generation) else Generation(tuple(result))
        )
        assert self._features is not None
        (order,) = rank_captions([generation.candidates], self.distance, self._features)
        self._ranked += 1
        if self._ranked % KEPT_POOLS == 0:
            self._features.next_shard()
        return select_captions(generation, order[: decoding.candidates or 1])


def rank_captions(
    pools: Sequence[Candidates], distance: Distance, features: FeatureCache
) -> list[list[int]]:
    """Return for each pool the indices of its captions, the smallest mean distance to
    the others first, repeated texts last.

    Of equal distances the earlier caption comes first. The arguments are those of
    :func:`~harness_models.baselines.central.sum_distances`.
    """
    risks = sum_distances(pools, distance, features)
    return [
        put_distinct_first(np.argsort(risk, kind="stable").tolist(), pool)
        for risk, pool in zip(risks, pools)
    ]


def put_distinct_first(order: Sequence[int], texts: Candidates) -> list[int]:
    """Return the order with the first occurrence of each text before all repetitions.

    >>> put_distinct_first([2, 0, 1], ("a", "b", "a"))
    [2, 1, 0]
    """
    seen: set[str] = set()
    repeated = {
        index: texts[index] in seen or bool(seen.add(texts[index])) for index in order
    }
    return sorted(order, key=lambda index: repeated[index])


def select_captions(generation: Generation, order: Sequence[int]) -> Generation:
    """Return the generation with the captions of some indices, and their
    log-probabilities, lengths and stop reasons.
    """
    fields = {
        name: tuple(values[index] for index in order)
        for name in ("candidates", "log_probs", "lengths", "stop_reasons")
        if (values := getattr(generation, name)) is not None
    }
    return replace(generation, **fields)


# --------------------------------------------------------------------------- adapter
# The ``consensus`` adapter: one caption per example that a judge model writes from the
# candidates of another model.


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
        return f"consensus|{self.candidates}|{self.summariser.signature()}|{self.model.fingerprint()}"

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
                positions: tuple[int, ...] = ()
                while -1 not in positions:
                    positions, results = zip(
                        *(arrived.get() for _ in range(max(1, arrived.qsize())))
                    )
                    for k, result in zip(
                        positions,
                        self._summarise([item for item in results if item is not None]),
                    ):
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
        verdicts = iter(
            self.summariser.summaries([captions for captions in sets if captions])
        )
        for item, captions in zip(results, sets):
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
                        yield Generation(
                            caption, item.references, held_out=item.held_out
                        )
                    else:
                        yield Generation(caption)


def _captions(item: Any) -> tuple[str, ...]:
    return tuple(item.candidates if isinstance(item, Generation) else item)
