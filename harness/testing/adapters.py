"""The checks of an adapter: captions in order, from the seeds alone, failures told and not raised."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness.contracts import Decoding, Example, Failure, Generation, Prepares, Scorer, TaskView
from harness.errors import HarnessError
from harness.stats.seeds import derive
from harness.testing import shared_checks as making
from harness.testing import side_effects as watching
from harness.testing.base_subject import Observed, add_conduct
from harness.testing.results import Checks, NotApplicable, ensure

ADAPTER_CHECKS = Checks("adapters")
SEED = 0


@dataclass(eq=False)
class AdapterSubject(Observed[list[Generation | Failure]]):
    """One adapter, and the examples and the decoding it is checked with."""

    gives, told_by = "captions", "generates"

    adapter: Any
    examples: Sequence[Example]
    decoding: Decoding = field(default_factory=Decoding)
    first_fingerprint: str = ""

    def observe(self) -> list[Generation | Failure]:
        self.first_fingerprint = self.adapter.fingerprint()
        return self.generate(self.examples)

    def generate(
        self,
        examples: Sequence[Example],
        *,
        adapter: Any = None,
        decoding: Decoding | None = None,
        seed: int = SEED,
        task: Sequence[Example] | None = None,
    ) -> list[Generation | Failure]:
        """What the adapter gives some examples of the task (all of the kit's), after it was shown the whole task."""
        adapter, decoding = adapter or self.adapter, decoding or self.decoding
        shown: Any = adapter
        if isinstance(shown, Prepares):
            shown.prepare(TaskView(list(task or self.examples), decoding))
        seeds = [derive(seed, example.id) for example in examples]
        return [_plain(item) for item in adapter.generate(list(examples), decoding, seeds)]


def _plain(item: Any) -> Generation | Failure:
    if isinstance(item, (Generation, Failure)):
        return item
    ensure(
        isinstance(item, (tuple, list)) and all(isinstance(text, str) for text in item),
        f"generate gave {item!r:.60}; expected captions, a Generation or a Failure",
    )
    return Generation(tuple(item))


@ADAPTER_CHECKS.add
def described(subject: AdapterSubject) -> None:
    """The class has a docstring."""
    making.described(subject.adapter)


@ADAPTER_CHECKS.add
def fingerprint(subject: AdapterSubject) -> None:
    """``fingerprint()`` is one line, steady, and the same for a second such adapter."""
    making.steady_identity(subject.adapter, lambda adapter: adapter.fingerprint(), "fingerprint")


@ADAPTER_CHECKS.add
def generates(subject: AdapterSubject) -> None:
    """One result per example, at least one of them with captions: the other checks stand on this one."""
    if subject.first_error is not None:
        raise subject.first_error
    made, count = subject.base, len(subject.examples)
    ensure(len(made) == count, f"gave {len(made)} results for {count} examples")
    reasons = [item.reason for item in made if isinstance(item, Failure)]
    ensure(any(_captions(made)), "gave no caption at all" + (f": {reasons[0]}" if reasons else ""))


@ADAPTER_CHECKS.add
def results(subject: AdapterSubject) -> None:
    """Captions are text, a failure has a reason, and what is said of captions is said of each."""
    for example, item in zip(subject.examples, subject.base):
        if isinstance(item, Failure):
            ensure(isinstance(item.reason, str) and item.reason, f"{example.id}: a failure without a reason")
            continue
        ensure(isinstance(item.candidates, tuple), f"{example.id}: candidates are no tuple")
        for name in ("log_probs", "lengths", "stop_reasons"):
            given = getattr(item, name)
            ensure(
                given is None or len(given) == len(item.candidates),
                f"{example.id}: {name} has {len(given or ())} entries for {len(item.candidates)} candidates",
            )
        left = item.references
        ensure(left is None or set(left) <= set(example.references), f"{example.id}: references that it never had")
        ensure(left is None or left or not item.candidates, f"{example.id}: no reference is left to score against")


@ADAPTER_CHECKS.add
def candidates(subject: AdapterSubject) -> None:
    """Asked for k candidates it gives k, or all of a fixed number that it has: never fewer than it could."""
    _ = subject.base
    own = min((len(texts) for texts in _captions(subject.base) if texts), default=0)
    strategy = "sample" if subject.decoding.strategy == "greedy" else subject.decoding.strategy
    for wanted in (1, 2):
        asked = replace(subject.decoding, candidates=wanted, strategy=strategy)
        try:
            made = subject.generate(subject.examples, decoding=asked)
        except HarnessError as error:
            raise NotApplicable(f"takes no {wanted} candidates by {strategy}: {error}") from error
        least = min((len(texts) for texts in _captions(made) if texts), default=0)
        ensure(least >= min(wanted, own), f"asked for {wanted} candidates it gives {least}")


@ADAPTER_CHECKS.add
def same_seeds_same_captions(subject: AdapterSubject) -> None:
    """The same captions again from the same seeds, whatever the global random state."""
    with watching.seeded(1):
        again = subject.generate(subject.examples)
    _same(subject.base, again, subject.examples, "when asked again with the same seeds")


@ADAPTER_CHECKS.add
def batch_split(subject: AdapterSubject) -> None:
    """Batches of any size give an example the same captions."""
    base, examples = subject.base, subject.examples
    for size in (1, 4):
        made: list[Generation | Failure] = []
        for start in range(0, len(examples), size):
            made.extend(subject.generate(examples[start : start + size]))
        _same(base, made, examples, f"in batches of {size}")


@ADAPTER_CHECKS.add
def example_order(subject: AdapterSubject) -> None:
    """Results come in the order of the examples, and the order changes no caption."""
    base, order = subject.base, np.random.default_rng(0).permutation(len(subject.examples)).tolist()
    turned = subject.generate([subject.examples[k] for k in order])
    _same([base[k] for k in order], turned, [subject.examples[k] for k in order], "in another order")


@ADAPTER_CHECKS.add
def failures_yielded(subject: AdapterSubject) -> None:
    """An example whose media cannot be read is a Failure (or is captioned without it); the others stay as they were."""
    base, examples = subject.base, list(subject.examples)
    broken = replace(examples[1], media="no-such-folder/no-such-file.png")
    task = [examples[0], broken, *examples[2:]]
    try:
        made = subject.generate(task, task=task)
    except HarnessError as error:
        raise NotApplicable(f"finds it before anything is generated: {error}") from error
    ensure(len(made) == len(task), f"gave {len(made)} results for {len(task)} examples")
    others = [k for k in range(len(task)) if k != 1]
    _same([base[k] for k in others], [made[k] for k in others], [task[k] for k in others], "beside a broken example")


@ADAPTER_CHECKS.add
def score_references(subject: AdapterSubject) -> None:
    """Token scores: one entry per reference, log-probabilities of at most 0, as many ranks and tokens."""
    if not isinstance(subject.adapter, Scorer):
        raise NotApplicable("does not score references")
    _ = subject.base
    made = list(subject.adapter.score_references(list(subject.examples)))
    ensure(len(made) == len(subject.examples), f"scored {len(made)} of {len(subject.examples)} examples")
    for example, entries in zip(subject.examples, made):
        count = len(example.references)
        ensure(len(entries) == count, f"{example.id}: {len(entries)} entries for {count} references")
        for entry in entries:
            shape = np.shape(entry.log_probs)
            ensure(len(shape) == 1 and shape[0] > 0, f"{example.id}: log_probs of shape {shape}; expected (L,)")
            ensure((np.asarray(entry.log_probs) <= 1e-9).all(), f"{example.id}: a log-probability above 0, or NaN")
            ensure(np.shape(entry.ranks) == shape, f"{example.id}: ranks of shape {np.shape(entry.ranks)}, not {shape}")
            ensure((np.asarray(entry.ranks) >= 0).all(), f"{example.id}: a rank below 0")
            ensure(len(entry.tokens) in (0, shape[0]), f"{example.id}: {len(entry.tokens)} tokens, {shape[0]} scores")


@ADAPTER_CHECKS.add
def inputs_unchanged(subject: AdapterSubject) -> None:
    """The examples stay as they were."""
    _, before = subject.base, copy.deepcopy(list(subject.examples))
    subject.generate(subject.examples)
    ensure(before == list(subject.examples), "changes the examples")


@ADAPTER_CHECKS.add
def random_state(subject: AdapterSubject) -> None:
    """Global random states are left alone."""
    _ = subject.base
    watching.leaves_random_state_alone(lambda: subject.generate(subject.examples))


@ADAPTER_CHECKS.add
def fingerprint_in_use(subject: AdapterSubject) -> None:
    """Generating does not change the fingerprint."""
    _ = subject.base
    ensure(subject.adapter.fingerprint() == subject.first_fingerprint, "the fingerprint changes when captions are made")


@ADAPTER_CHECKS.add
def parameters(subject: AdapterSubject) -> None:
    """A parameter that changes the captions changes the fingerprint."""
    _ = subject.base
    making.told_apart(
        subject.adapter,
        lambda adapter: adapter.fingerprint(),
        lambda adapter: subject.generate(subject.examples, adapter=adapter),
        lambda one, other: one == other,
    )


@ADAPTER_CHECKS.add
def json_safe(subject: AdapterSubject) -> None:
    """What it returns can be written to a shard and read back."""
    for example, item in zip(subject.examples, subject.base):
        if isinstance(item, Failure):
            continue
        row = {name: getattr(item, name) for name in ("candidates", "references", "log_probs", "lengths")}
        try:
            json.dumps(row, allow_nan=False)
        except (TypeError, ValueError) as error:
            ensure(False, f"{example.id}: {error}; give plain text and numbers")


add_conduct(ADAPTER_CHECKS, offline=False)


def _captions(made: Sequence[Generation | Failure]) -> list[tuple[str, ...]]:
    return [() if isinstance(item, Failure) else item.candidates for item in made]


def _same(
    one: Sequence[Generation | Failure], other: Sequence[Generation | Failure], examples: Sequence[Example], when: str
) -> None:
    ensure(len(one) == len(other), f"gives {len(other)} results instead of {len(one)} {when}")
    for example, a, b in zip(examples, _captions(one), _captions(other)):
        ensure(a == b, f"{example.id} gets {b[:1]!r:.60} instead of {a[:1]!r:.60} {when}")
    for example, a, b in zip(examples, one, other):
        left = [item.references if isinstance(item, Generation) else None for item in (a, b)]
        ensure(left[0] == left[1], f"{example.id} is left other references {when}")
