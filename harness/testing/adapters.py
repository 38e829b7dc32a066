"""Checks of an adapter: captions in order, determined by the seeds alone;
failures returned, not raised.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness.contracts import (
    Adapter,
    Decoding,
    Example,
    Failure,
    Generation,
    Prepares,
    Scorer,
    TaskView,
)
from harness.errors import HarnessError
from harness.stats.seeds import derive
from harness.testing import sample_captions, shared_checks
from harness.testing.base_subject import BaseSubject
from harness.testing.results import Checks, Instance, NotApplicable, Violation, ensure

ADAPTER_CHECKS = Checks("adapters")
SEED = 0
Results = list[Generation | Failure]


@dataclass(eq=False)
class AdapterSubject(BaseSubject[Results]):
    """An adapter, and the examples and the decoding with which it is checked (default:
    examples of the kit, greedy).
    """

    noun = "captions"
    base_check = "generates"
    identity_method = "fingerprint"

    examples: Sequence[Example] = field(
        default_factory=sample_captions.examples, kw_only=True
    )
    decoding: Decoding = field(default_factory=Decoding, kw_only=True)

    def __post_init__(self) -> None:
        self.examples_before = copy.deepcopy(list(self.examples))

    def compute(self, component: Instance = None) -> Results:
        """Return the results of the adapter for :attr:`examples`."""
        return self.generate(self.examples, adapter=component)

    def generate(
        self,
        examples: Sequence[Example],
        *,
        adapter: Instance = None,
        decoding: Decoding | None = None,
        task: Sequence[Example] | None = None,
    ) -> Results:
        """Return the results for some examples of a task (default: all of
        :attr:`examples`), after ``prepare(task)``.
        """
        model: Adapter = adapter or self.adapter
        decoding = decoding or self.decoding
        if isinstance(model, Prepares):
            model.prepare(TaskView(list(task or self.examples), decoding))

        seeds = [derive(SEED, example.id) for example in examples]
        return [
            _as_result(item) for item in model.generate(list(examples), decoding, seeds)
        ]

    @property
    def adapter(self) -> Instance:
        """The adapter under check."""
        return self.component

    def difference(self, expected: Results, actual: Results) -> str:
        """Return the first example with other captions or references."""
        return results_difference(self.examples, expected, actual)


def _as_result(item: Instance) -> Generation | Failure:
    if isinstance(item, (Generation, Failure)):
        return item
    ensure(
        isinstance(item, (tuple, list)) and all(isinstance(text, str) for text in item),
        f"generate returned {item!r:.60}; expected captions, a Generation or a Failure",
    )
    return Generation(tuple(item))


def captions(results: Sequence[Generation | Failure]) -> list[tuple[str, ...]]:
    """Return the captions of each result; a failure has none."""
    return [() if isinstance(item, Failure) else item.candidates for item in results]


def results_difference(
    examples: Sequence[Example],
    expected: Sequence[Generation | Failure],
    actual: Sequence[Generation | Failure],
) -> str:
    """Return the first example whose captions or references differ;
    empty when the results are equal.
    """
    if len(expected) != len(actual):
        return f"{len(actual)} results instead of {len(expected)}"
    for example, left, right in zip(examples, captions(expected), captions(actual)):
        if left != right:
            return f"{example.id} gets {right[:1]!r:.60} instead of {left[:1]!r:.60}"
    for example, left, right in zip(examples, expected, actual):
        references = [
            item.references if isinstance(item, Generation) else None
            for item in (left, right)
        ]
        if references[0] != references[1]:
            return f"{example.id} has other references"
    return ""


ADAPTER_CHECKS.extend([shared_checks.described, shared_checks.fingerprint])


@ADAPTER_CHECKS.add
def generates(subject: AdapterSubject) -> None:
    """There is one result per example, and at least one has captions;
    the other checks depend on this one.
    """
    results = subject.ensure_runs()
    count = len(subject.examples)
    ensure(
        len(results) == count, f"returned {len(results)} results for {count} examples"
    )

    # an adapter may fail at some examples, but one that fails at all cannot be checked
    reasons = [item.reason for item in results if isinstance(item, Failure)]
    ensure(
        any(captions(results)),
        "returned no caption" + (f": {reasons[0]}" if reasons else ""),
    )


@ADAPTER_CHECKS.add
def results(subject: AdapterSubject) -> None:
    """Captions are texts, a failure has a reason,
    and values of captions have one entry for each.
    """
    for example, item in zip(subject.examples, subject.base):
        if isinstance(item, Failure):
            ensure(
                isinstance(item.reason, str) and item.reason,
                f"{example.id}: a failure without a reason",
            )
            continue
        ensure(
            isinstance(item.candidates, tuple),
            f"{example.id}: candidates are not a tuple",
        )
        for name in ("log_probs", "lengths", "stop_reasons"):
            values = getattr(item, name)
            ensure(
                values is None or len(values) == len(item.candidates),
                f"{example.id}: {name} has {len(values or ())} entries for "
                f"{len(item.candidates)} candidates",
            )

        # what is not held out is left to score
        references = item.references
        ensure(
            references is None or set(references) <= set(example.references),
            f"{example.id}: returns references that the example does not have",
        )
        remaining = [
            text
            for i, text in enumerate(example.references)
            if i not in (item.held_out or ())
        ]
        ensure(
            item.held_out is None or list(references or ()) == remaining,
            f"{example.id}: held_out is {item.held_out}, and other references are left",
        )
        ensure(
            references is None or references or not item.candidates,
            f"{example.id}: no reference is left to score",
        )


@ADAPTER_CHECKS.add
def candidates(subject: AdapterSubject) -> None:
    """With ``decoding.candidates`` of k there are k captions,
    or all that the adapter has when it has fewer.
    """
    available = min(
        (len(texts) for texts in captions(subject.base) if texts), default=0
    )
    strategy = (
        "sample" if subject.decoding.strategy == "greedy" else subject.decoding.strategy
    )

    for count in (1, 2):
        decoding = replace(subject.decoding, candidates=count, strategy=strategy)
        try:
            generated = subject.generate(subject.examples, decoding=decoding)
        except HarnessError as error:
            raise NotApplicable(
                f"does not accept {count} candidates by {strategy}: {error}"
            ) from error

        minimum = min((len(texts) for texts in captions(generated) if texts), default=0)
        ensure(
            minimum >= min(count, available),
            f"returns {minimum} captions for decoding.candidates = {count}",
        )


@ADAPTER_CHECKS.add
def same_seeds_same_captions(subject: AdapterSubject) -> None:
    """The same seeds give the same captions, whatever the global random state."""
    shared_checks.deterministic(subject)


@ADAPTER_CHECKS.add
def batch_split(subject: AdapterSubject) -> None:
    """The captions of an example do not depend on the size of the batch."""
    base = subject.base
    examples = subject.examples
    for size in (1, 4):
        generated: Results = []
        for start in range(0, len(examples), size):
            generated.extend(subject.generate(examples[start : start + size]))
        _ensure_same(examples, base, generated, f"in batches of {size}")


@ADAPTER_CHECKS.add
def example_order(subject: AdapterSubject) -> None:
    """Results are in the order of the examples, and the order changes no caption."""
    base = subject.base
    order = np.random.default_rng(0).permutation(len(subject.examples)).tolist()
    permuted = [subject.examples[k] for k in order]
    _ensure_same(
        permuted,
        [base[k] for k in order],
        subject.generate(permuted),
        "in another order",
    )


@ADAPTER_CHECKS.add
def failures_yielded(subject: AdapterSubject) -> None:
    """An example with unreadable media is a Failure or is captioned without it; the
    other examples do not change.
    """
    base = subject.base
    examples = list(subject.examples)

    broken = replace(examples[1], media="no-such-folder/no-such-file.png")
    task = [examples[0], broken, *examples[2:]]
    try:
        generated = subject.generate(task, task=task)
    except HarnessError as error:
        raise NotApplicable(
            f"reports it before generating captions: {error}"
        ) from error

    ensure(
        len(generated) == len(task),
        f"returned {len(generated)} results for {len(task)} examples",
    )

    others = [k for k in range(len(task)) if k != 1]
    expected = [base[k] for k in others]
    actual = [generated[k] for k in others]
    _ensure_same(
        [task[k] for k in others],
        expected,
        actual,
        "beside an example with unreadable media",
    )


def _ensure_same(
    examples: Sequence[Example], expected: Results, actual: Results, condition: str
) -> None:
    difference = results_difference(examples, expected, actual)
    ensure(not difference, f"{difference} {condition}")


@ADAPTER_CHECKS.add
def score_references(subject: AdapterSubject) -> None:
    """Token scores have one entry per reference, log-probabilities of at most 0,
    and as many ranks and tokens.
    """
    if not isinstance(subject.adapter, Scorer):
        raise NotApplicable("does not score references")
    _ = subject.base

    scored = list(subject.adapter.score_references(list(subject.examples)))
    ensure(
        len(scored) == len(subject.examples),
        f"scored {len(scored)} of {len(subject.examples)} examples",
    )
    for example, entries in zip(subject.examples, scored):
        count = len(example.references)
        ensure(
            len(entries) == count,
            f"{example.id}: {len(entries)} entries for {count} references",
        )

        for entry in entries:
            shape = np.shape(entry.log_probs)
            ensure(
                len(shape) == 1 and shape[0] > 0,
                f"{example.id}: log_probs of shape {shape}; expected (L,)",
            )
            ensure(
                (np.asarray(entry.log_probs) <= 1e-9).all(),
                f"{example.id}: a log-probability above 0, or NaN",
            )
            ensure(
                np.shape(entry.ranks) == shape,
                f"{example.id}: ranks of shape {np.shape(entry.ranks)}, not {shape}",
            )
            ensure(
                (np.asarray(entry.ranks) >= 0).all(), f"{example.id}: a rank below 0"
            )
            ensure(
                len(entry.tokens) in (0, shape[0]),
                f"{example.id}: {len(entry.tokens)} tokens, {shape[0]} scores",
            )


@ADAPTER_CHECKS.add
def inputs_unchanged(subject: AdapterSubject) -> None:
    """The examples are not modified."""
    subject.base  # noqa: B018  (runs the adapter)
    ensure(list(subject.examples) == subject.examples_before, "modifies the examples")


ADAPTER_CHECKS.extend(
    [
        shared_checks.random_state,
        shared_checks.fingerprint_in_use,
        shared_checks.parameters,
    ]
)


@ADAPTER_CHECKS.add
def json_safe(subject: AdapterSubject) -> None:
    """Results are plain data that can be written to a shard and read back."""
    for example, item in zip(subject.examples, subject.base):
        if isinstance(item, Failure):
            continue
        row = {
            name: getattr(item, name)
            for name in ("candidates", "references", "log_probs", "lengths")
        }
        try:
            json.dumps(row, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise Violation(
                f"{example.id}: {error}; expected plain texts and numbers"
            ) from error


ADAPTER_CHECKS.extend(shared_checks.LOCAL_CONDUCT)
