"""Fast variations of inputs that hypothesis has drawn: altered bytes, exchanged parts
of JSON values, batches of caption sets.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

from tools.fuzz.fuzz_inputs import TOKENS, alter

LONGEST = 1 << 16
SIZES = (1, 2, 3, 5, 8, 16, 32, 64)
"""Numbers of caption sets in a batch."""
TESTED_SIZES = (1, 2, 3, 5, 8)
"""The same with p-values, which take some hundred scorings."""
LONG = 300
"""Texts of more characters are rare in a batch."""
REFUSED = re.compile("[\\0\ud800-\udfff]")
"""Characters for which a whole batch is refused: texts with them are rare as well."""


def vary(pool: Sequence[bytes], generator: random.Random) -> bytes:
    """Return a variation of an input of the pool: two JSON values exchange parts,
    or bytes are altered.
    """
    data = generator.choice(pool)
    if generator.random() < 0.6:
        try:
            return crossed(
                json.loads(data), json.loads(generator.choice(pool)), generator
            )
        except (ValueError, RecursionError):
            pass
    changes = [
        (
            generator.random(),
            generator.randrange(6),
            generator.randrange(65),
            generator.choice(TOKENS)
            if generator.random() < 0.5
            else generator.randbytes(generator.randint(1, 8)),
        )
        for _ in range(generator.randint(1, 4))
    ]
    return alter(data, changes)


def vary_items(pool: Sequence[bytes], generator: random.Random) -> bytes:
    """Return a variation of a JSON list whose items are altered each by itself,
    so that the list keeps its size.
    """
    items = json.loads(generator.choice(pool))
    others = json.loads(generator.choice(pool))
    if generator.random() < 0.3:
        items = [items[0], items[0]]
    items = [
        json.loads(crossed(item, other, generator))
        if generator.random() < 0.5
        else item
        for item, other in zip(items, others, strict=True)
    ]
    return json.dumps(items).encode()


def crossed(value: Any, other: Any, generator: random.Random) -> bytes:
    """Return a JSON value in which one or two parts are replaced by parts of another,
    or texts are joined.
    """
    for _ in range(generator.randint(1, 2)):
        value = _replaced(value, generator, _part(other, generator))
    data = json.dumps(value).encode()
    return data if len(data) < LONGEST else json.dumps(other).encode()


def _part(value: Any, generator: random.Random) -> Any:
    """Return a random part of a value, deeper ones with decreasing probability."""
    while isinstance(value, list | dict) and value and generator.random() < 0.75:
        value = generator.choice(
            list(value.values()) if isinstance(value, dict) else value
        )
    return value


def _replaced(value: Any, generator: random.Random, part: Any) -> Any:
    """Return a copy with a random place replaced, removed or repeated; two texts that
    meet are joined at random places.
    """
    if isinstance(value, str) and isinstance(part, str) and generator.random() < 0.7:
        return (
            value[: generator.randint(0, len(value))]
            + part[generator.randint(0, len(part)) :]
        )
    if not isinstance(value, list | dict) or not value or generator.random() < 0.1:
        return part
    if isinstance(value, dict):
        key = generator.choice(list(value))
        copy = dict(value)
        if generator.random() < 0.05:
            del copy[key]
        else:
            copy[key] = _replaced(value[key], generator, part)
        return copy
    at = generator.randrange(len(value))
    kind = generator.random()
    if kind < 0.05:
        return value[:at] + value[at + 1 :]
    if kind < 0.15:
        return [*value, value[at]]
    return [*value[:at], _replaced(value[at], generator, part), *value[at + 1 :]]


def batch_of_sets(pool: Sequence[bytes], generator: random.Random) -> bytes:
    """Return an input of the target ``metrics``: a metric, whether it is tested, and up
    to 64 caption sets of texts of the pool.
    """
    drawn = [json.loads(data) for data in pool]
    texts = [
        text for _, _, sets in drawn for pair in sets for side in pair for text in side
    ]
    short = [
        text for text in texts if len(text) <= LONG and not REFUSED.search(text)
    ] or [""]

    def text() -> str:
        kind = generator.random()
        if kind < 0.002:
            return generator.choice(texts)
        first = generator.choice(short)
        if kind < 0.6:
            return first
        second = generator.choice(short)
        return (
            first[: generator.randint(0, len(first))]
            + second[generator.randint(0, len(second)) :]
        )

    tested = generator.random() < 0.1
    size = generator.choice(TESTED_SIZES if tested else SIZES)
    most = generator.choice((1, 2, 3)) if tested else generator.choice((1, 2, 3, 5))
    equal = generator.random() < 0.5
    shape = generator.randint(1, most), generator.randint(1, most)
    sets = [
        [
            [text() for _ in range(count if equal else generator.randint(1, most))]
            for count in shape
        ]
        for _ in range(size)
    ]
    return json.dumps([generator.choice(drawn)[0], tested, sets]).encode()


def halves(data: bytes) -> list[bytes]:
    """Return the two halves of a batch of caption sets; none of a single one."""
    name, tested, sets = json.loads(data)
    middle = len(sets) // 2
    return (
        [
            json.dumps([name, tested, part]).encode()
            for part in (sets[:middle], sets[middle:])
        ]
        if middle
        else []
    )
