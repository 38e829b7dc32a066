"""Checks of a program behind a component: order, batches, unusual texts, failures, and
a clean end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

from harness.contracts import Decoding, Parameters, Values
from harness.programs.client import ProgramClient
from harness.programs.components import (
    ProgramAdapter,
    ProgramComponent,
    ProgramDistance,
    ProgramMetric,
)
from harness.programs.exchange import Chunk
from harness.programs.protocol import unpack_vector
from harness.testing import sample_captions
from harness.testing.results import Checks, Instance, ensure

PROGRAM_CHECKS = Checks("programs")
LARGE_BATCH = 1000
"""Requests of the largest batch that is checked."""
TOLERANCE = 1e-5
"""Difference, as a share of the larger number, of values of other batches: those of
networks depend in the last digits on what is computed together.
"""
UNICODE = (
    "Ein Hündchen läuft über die Straße",
    "一只狗在跑",
    "a dog \N{DOG FACE} and a \N{FAMILY}\N{ZERO WIDTH JOINER}",
    "two\u2028lines\u0085and\x0bmore",
    'quotes " and \\ and \t and \x00',
)
"""Captions whose characters break programs that read lines or bytes."""


@PROGRAM_CHECKS.add
def request_order(subject: Instance) -> None:
    """The value of an item does not depend on its place among the requests."""
    items = _items(subject)
    forward = _answers(subject.component, items, LARGE_BATCH)
    backward = _answers(subject.component, items[::-1], LARGE_BATCH)[::-1]
    _ensure_equal(forward, backward, "in the reverse order")


@PROGRAM_CHECKS.add
def batch_size(subject: Instance) -> None:
    """Batches of 1 and of 1,000 requests have the same values."""
    items = _items(subject)
    many = [items[number % len(items)] for number in range(LARGE_BATCH)]
    together = _answers(subject.component, many, LARGE_BATCH)
    alone = _answers(subject.component, items, 1)
    _ensure_equal(together[: len(items)], alone, "in batches of 1")


@PROGRAM_CHECKS.add
def repeated_items(subject: Instance) -> None:
    """Equal requests have equal answers."""
    items = [_items(subject)[0]] * 3
    first, *others = _answers(subject.component, items, LARGE_BATCH)
    for other in others:
        _ensure_equal([first], [other], "when it is repeated")


@PROGRAM_CHECKS.add
def unusual_texts(subject: Instance) -> None:
    """Empty captions, and characters of any language, are answered."""
    texts = ["", "  ", *UNICODE]
    item = _items(subject)[0]
    items = [_with_text(item, text) for text in texts]
    answers = _answers(subject.component, items, LARGE_BATCH)
    ensure(len(answers) == len(items), "does not answer all unusual texts")


@PROGRAM_CHECKS.add
def failing_item(subject: Instance) -> None:
    """A request without its fields is answered, by an error as a rule, and the requests
    after it as well.
    """
    items = _items(subject)
    expected = _answers(subject.component, items[:2], LARGE_BATCH)
    answers = _answers(
        subject.component, [items[0], {"unknown": True}, items[1]], LARGE_BATCH
    )
    _ensure_equal(expected, [answers[0], answers[2]], "beside a failing one")


@PROGRAM_CHECKS.add
def same_in_another_process(subject: Instance) -> None:
    """Two processes of the program have the same values."""
    items = _items(subject)
    first = _answers(subject.component, items, LARGE_BATCH)
    second = _answers(subject.component, items, LARGE_BATCH)
    _ensure_equal(first, second, "in another process")


@PROGRAM_CHECKS.add
def clean_end(subject: Instance) -> None:
    """After ``end`` the program ends by itself, with the exit code 0."""
    client = _client(subject.component, LARGE_BATCH)
    _ask(client, _items(subject))
    (child,) = client.children()
    client.close()
    code = child.process.returncode
    ensure(
        code == 0,
        f"ends with the exit code {code} after 'end'; expected 0 within some seconds",
    )


def _items(subject: Instance) -> Sequence[Parameters]:
    """Return the fields of some requests of the component's kind."""
    component = subject.component
    if isinstance(component, ProgramMetric):
        return component.requests(subject.sets)
    if isinstance(component, ProgramAdapter):
        examples = sample_captions.examples()
        seeds = range(1 << 40, (1 << 40) + len(examples))
        return component.requests(examples, Decoding(candidates=2), seeds)
    texts = [text for scene in sample_captions.SCENES for text in scene[:3]]
    if isinstance(component, ProgramDistance):
        pairs = pairwise(texts)
        return [{"hypothesis": first, "reference": second} for first, second in pairs]
    return [{"text": text} for text in texts]


def _with_text(item: Parameters, text: str) -> Parameters:
    """Return a request with another caption."""
    changed: Values = {}
    for name in ("candidate", "hypothesis", "text", "source"):
        if name in item:
            changed[name] = text
    if "candidates" in item:
        changed["candidates"] = [text]
    return {**item, **changed}


def _client(component: ProgramComponent, batch: int) -> ProgramClient:
    """Return a client of the component's program that keeps no answers."""
    program = component.program
    limits = replace(program.limits, batch=batch, replicas=1)
    client = component.client
    return ProgramClient(
        replace(program, limits=limits), client.kind, client.parameters, stored=False
    )


def _ask(client: ProgramClient, items: Iterable[Parameters]) -> list[Values]:
    """Return the answers to requests, in their order."""
    answers: dict[int, Sequence[Values | None]] = {}

    def completed(chunk: Chunk) -> None:
        answers[chunk.first] = chunk.answers

    client.ask(client.chunks(items), "request {}".format, completed)
    return [
        {
            key: unpack_vector(value) if isinstance(value, bytes) else value
            for key, value in cast(Values, answer).items()
            if key != "id"
        }
        for first in sorted(answers)
        for answer in answers[first]
    ]


def _answers(
    component: ProgramComponent, items: Sequence[Parameters], batch: int
) -> list[Values]:
    """Return the answers of a new process, in the order of the requests."""
    client = _client(component, batch)
    try:
        return _ask(client, items)
    finally:
        client.close()


def _ensure_equal(left: Sequence[Any], right: Sequence[Any], place: str) -> None:
    for first, second in zip(left, right):
        ensure(
            _nearly_equal(first, second),
            f"answers {json.dumps(first):.60} and, {place}, {json.dumps(second):.60}",
        )


def _nearly_equal(left: object, right: object) -> bool:
    """Return whether two answers are equal, numbers within :data:`TOLERANCE`."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(
            _nearly_equal(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_nearly_equal, left, right))
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return left == right
