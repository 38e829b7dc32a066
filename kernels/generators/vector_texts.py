"""Texts of the test vectors: written for them or put together from lists of words here,
never taken from a data set.

The draws use ``random.Random(seed).random()`` alone, whose values Python guarantees for
all its releases.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

Case = dict[str, Any]
T = TypeVar("T")

SUBJECTS = (
    "a dog",
    "two brown dogs",
    "a man in a red hat",
    "the old woman",
    "three children",
    "a grey cat",
    "a group of people",
    "an empty bus",
    "a small boat",
    "a girl with an umbrella",
    "the cook",
    "someone",
    "a horse and its rider",
    "the player",
    "a mother and her son",
    "a train",
)
ACTIONS = (
    "runs across",
    "sits on",
    "stands next to",
    "jumps over",
    "looks at",
    "sleeps under",
    "is riding past",
    "walks along",
    "waits beside",
    "plays near",
    "is parked behind",
    "moves toward",
)
PLACES = (
    "the beach",
    "a wooden bench",
    "a busy street",
    "green grass",
    "the kitchen table",
    "a parked car",
    "an open door",
    "tall trees",
    "a stone wall",
    "the river",
    "a white fence",
    "the station",
)
ENDINGS = (
    "",
    "at night",
    "in the rain",
    "on a sunny day",
    "while it snows",
    "with a ball",
    "after lunch",
    "in front of a crowd",
    "slowly",
    "and smiles",
)
STRANGE_WORDS = (
    "caf\xe9",
    "cafe\u0301",
    "Stra\xdfe",
    "STRASSE",
    "\u72ac",
    "\u72d7",
    "\u0441\u043e\u0431\u0430\u043a\u0430",
    "\u03b7\u03bc\u03ad\u03c1\u03b1",
    "\u05db\u05dc\u05d1",
    "\U0001f415",
    "\U0001d4b3",
    "\ufb01sh",
    "a\xa0b",
    "x\u2009y",
    "\u3000",
    "\ufeffbom",
    "\u0130stanbul",
    "\xad",
    "\x00",
    "tab\there",
    "\U0001f468\u200d\U0001f33e",
)
MARKS = (
    ",",
    ".",
    ";",
    ":",
    "!",
    "?",
    "--",
    "...",
    "''",
    "``",
    "-lrb-",
    "-rrb-",
    "'s",
    "n't",
    "&",
    "%",
    "#",
    "*",
    "/",
    "@",
    "'",
    '"',
)
NUMBERS = (
    "1",
    "2",
    "3",
    "12",
    "1,000",
    "3.5",
    "3\xa01/2",
    "1/2",
    "2:30",
    "1990s",
    "50%",
    "$5",
    "-7",
    "+3",
    "0",
    "00",
    "1e9",
    "\xbd",
    "\u0663",
)


class Draws:
    """Choices that are the same in every release of Python.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, size: int) -> int:
        """Return a whole number from 0 to ``size - 1``."""
        return int(self._random.random() * size)

    def one(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def happens(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random.random() < probability

    def number(self, low: float, high: float) -> float:
        """Return a number from ``low`` to ``high``."""
        return low + (high - low) * self._random.random()


def caption(draws: Draws) -> str:
    """Return a caption."""
    parts = [
        draws.one(SUBJECTS),
        draws.one(ACTIONS),
        draws.one(PLACES),
        draws.one(ENDINGS),
    ]
    return " ".join(part for part in parts if part)


def altered(draws: Draws, text: str, rate: float, others: Sequence[str]) -> str:
    """Return a text of which some words are dropped, replaced by ``others``,
    doubled or swapped.
    """
    words = text.split(" ")
    out: list[str] = []
    for word in words:
        if not draws.happens(rate):
            out.append(word)
            continue
        change = draws.below(4)
        if change == 1:
            out.append(draws.one(others))
        elif change == 2:
            out += [word, word]
        elif change == 3:
            out.insert(max(0, len(out) - 1), word)
    return " ".join(out)


def example(
    draws: Draws, n_references: int, others: Sequence[str], rate: float = 0.35
) -> tuple[str, list[str]]:
    """Return a candidate and references that describe one scene."""
    scene = caption(draws)
    return altered(draws, scene, rate, others), [
        altered(draws, scene, rate, others) for _ in range(n_references)
    ]


def corpus(kind: str, examples: list[tuple[str, list[str]]]) -> Case:
    """Return the inputs of one case: candidates and references of its examples."""
    return {
        "kind": kind,
        "candidates": [candidate for candidate, _ in examples],
        "references": [references for _, references in examples],
    }


def ngram_cases(seed: int, scale: int) -> Iterator[Case]:
    """Yield the inputs of BLEU, ROUGE-L and CIDEr;
    ``scale`` is the number of drawn cases of most kinds.
    """
    draws = Draws(seed)
    plain = [word for text in (*SUBJECTS, *PLACES) for word in text.split(" ")]
    for _ in range(2 * scale):
        sizes = [1 + draws.below(4) for _ in range(1 + draws.below(4))]
        yield corpus("plain", [example(draws, size, plain) for size in sizes])

    for kind, others, rate in (
        ("unicode", STRANGE_WORDS, 0.6),
        ("punctuation", MARKS, 0.5),
        ("numbers", NUMBERS, 0.5),
    ):
        for _ in range(scale):
            yield corpus(
                kind,
                [example(draws, 1 + draws.below(3), others, rate) for _ in range(2)],
            )

    for _ in range(scale):
        yield corpus(
            "repeated words",
            [
                (_repetitive(draws), [_repetitive(draws) for _ in range(2)])
                for _ in range(2)
            ],
        )

    for _ in range(scale // 2):
        yield corpus("single document", [example(draws, 1 + draws.below(4), plain)])
        yield corpus(
            "many references",
            [example(draws, 8 + draws.below(13), plain), example(draws, 3, plain)],
        )

    for _ in range(scale):
        references = [[caption(draws)] for _ in range(3)]
        unseen = [
            " ".join(draws.one(("zebra", "quartz", "violin", *plain)) for _ in range(5))
            for _ in range(3)
        ]
        yield corpus("unseen n-grams", list(zip(unseen, references)))

    yield corpus(
        "surrogates",
        [
            ("a \ud83d dog", ["a \ud83d \udc15", "a dog"]),
            ("\udc15 \ud83d", ["\udc15\ud83d", "\udc15 \ud83d \ud83d"]),
        ],
    )

    yield from _tied_cases(draws, scale // 2)
    yield from _empty_cases()
    yield from _token_cases(draws, scale)
    for size in (150, 260):
        yield corpus(
            "long",
            [(_long(draws, size), [_long(draws, size), _long(draws, size // 2)])],
        )


def _repetitive(draws: Draws) -> str:
    return " ".join(
        draws.one(("the", "the", "a", "dog", "dog", "red"))
        for _ in range(1 + draws.below(12))
    )


def _long(draws: Draws, size: int) -> str:
    words: list[str] = []
    while len(words) < size:
        words += caption(draws).split(" ")
    return " ".join(words[:size])


def _tied_cases(draws: Draws, count: int) -> Iterator[Case]:
    """Yield references of equal distance in length, equal references,
    and candidates of equal scores.
    """
    for _ in range(count):
        words = _long(draws, 12).split(" ")
        yield corpus(
            "ties",
            [
                (
                    " ".join(words[:6]),
                    [" ".join(words[:7]), " ".join(words[1:6]), " ".join(words[:8])],
                )
            ],
        )
        yield corpus(
            "ties",
            [
                (" ".join(words[:4]), [" ".join(words[2:6]), " ".join(words[2:6])]),
                (" ".join(words[4:8]), [" ".join(words[4:8])]),
            ],
        )
    yield corpus(
        "ties", [("a b", ["b a", "a c", "c b"]), ("b a", ["b a", "a c", "c b"])]
    )


def _empty_cases() -> Iterator[Case]:
    """Yield texts without words, or with several blanks between words."""
    texts = ("", " ", "a dog runs", "  a  dog ", "\u00a0", "\t", "a")
    for candidate in texts:
        yield corpus(
            "empty", [(candidate, ["a dog runs", "a dog"]), ("a cat sat", ["one cat"])]
        )
        yield corpus(
            "empty", [("a dog runs", [candidate, "a dog"]), ("a cat sat", ["one cat"])]
        )
        yield corpus("empty", [(candidate, [candidate])])


def _token_cases(draws: Draws, count: int) -> Iterator[Case]:
    """Yield sequences of token ids, ended by the id 0,
    with the texts that they stand for.
    """
    for number in range(count):
        vocabulary = (
            (3, 8) if number % 3 == 0 else (1, 5, 7, 12, 99, 1000, 65535, (1 << 24) - 1)
        )

        def draw(vocabulary: tuple[int, ...] = vocabulary) -> list[int]:
            tokens = [draws.one(vocabulary) for _ in range(draws.below(12))]
            return [*tokens, *([0, *tokens[:2]] if draws.happens(0.7) else [])]

        candidates = [draw() for _ in range(3)]
        references = [[draw(), draw()] for _ in range(3)]
        keep_end = number % 2 == 1
        yield {
            "kind": "token ids",
            "tokens": {
                "candidates": candidates,
                "references": references,
                "end": 0,
                "keep_end": keep_end,
            },
            "candidates": [_token_text(tokens, keep_end) for tokens in candidates],
            "references": [
                [_token_text(tokens, keep_end) for tokens in group]
                for group in references
            ],
        }


def _token_text(tokens: list[int], keep_end: bool) -> str:
    stop = tokens.index(0) + keep_end if 0 in tokens else len(tokens)
    return " ".join(map(str, tokens[:stop]))
