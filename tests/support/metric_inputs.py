"""Inputs of the pinned numbers of metrics: small fixed caption sets with hard cases,
and stand-ins for models and judges.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import CaptionSet, TokenScores
from harness_metrics.judges.replies import Reply

LONG = (
    "a man in a blue coat and a woman with a red hat are standing near an old wooden "
    "table in the kitchen, while two small children "
    "are playing with three brown dogs under the table and a black cat is sleeping "
    "on the couch next to the window of the room"
)
_ROWS: tuple[tuple[Sequence[str], Sequence[str], str], ...] = (
    (
        ["A brown dog runs on the wet grass."],
        [
            "A brown dog runs on the wet grass.",
            "the dog is running on a lawn after the rain",
            "Two puppies play near a red ball",
        ],
        "a big brown dog quickly runs on the very wet grass",
    ),
    (
        [
            "two children eat ice cream on a bench",
            "two children eat ice cream on a bench",
            "A boy and a girl are eating.",
        ],
        [
            "a boy and a girl are eating ice cream",
            "Children sitting on a wooden bench with ice cream!",
            "2 kids enjoy their ice cream",
            "two children eat ice cream on a bench",
        ],
        "two hungry children eat cold ice cream on a wooden bench",
    ),
    ([""], ["the red bus stops near a crossing", "a bus"], "the red bus stops"),
    (
        ["a"],
        ["a a a a a", "an old man, reading a newspaper"],
        "an old man reads a newspaper at the table",
    ),
    (
        ["Das Café in Zürich — 3,5 km entfernt", "naïve l'été 東京の犬 🐕"],
        ["café à Zürich", "Das Café in Zürich, 3.5 km"],
        "Das schöne Café in Zürich ist 3,5 km entfernt",
    ),
    (
        [LONG],
        [
            LONG.replace("blue", "green").replace("brown dogs", "cats"),
            "people and pets in a kitchen",
            "a room",
        ],
        LONG,
    ),
    (
        ["?!...", "the the the the the cat"],
        ["the cat sat on the mat", "?!..."],
        "the cat sat on the mat",
    ),
    (
        ["it's the man's $1,000.50 guitar & his dog (black)", "the man doesn't play"],
        [
            "It's a man's guitar.",
            "a man-made guitar: $1,000",
            "the U.S. man can't play it",
        ],
        "the man's guitar costs $1,000.50",
    ),
    (
        ["zebra quantum lemon", "lemon quantum zebra"],
        ["purple ideas sleep furiously"],
        "lemons",
    ),
    (["a cat", "a dog"], ["a dog", "a cat", "a cat"], "a cat and a dog"),
    (
        [
            "a plate with rice , beans and a fried egg",
            "rice and beans on a plate",
            "a dog eats pizza on a plate with the",
        ],
        [
            "a plate with rice and an egg",
            "a simple lunch on a white plate",
            "beans, rice and pizza",
        ],
        "a plate with some white rice , black beans and a fried egg",
    ),
    (
        [
            "three sailing boats leave the harbour",
            "boats leave harbour",
            "the sea the sea the sea",
        ],
        [
            "sailing boats are moving out to sea",
            "three boats sail away from the harbour",
        ],
        "three white sailing boats slowly leave the old harbour",
    ),
)
_OBJECTS = (
    ["dog"],
    ["person", "bench"],
    ["bus"],
    ["person"],
    [],
    ["person", "dog", "cat", "couch"],
    ["cat"],
    ["person", "dog"],
    ["zebra"],
    ["cat", "dog"],
    ["pizza", "bowl"],
    ["boat"],
)

MIXED: tuple[CaptionSet, ...] = tuple(
    CaptionSet(
        f"mixed-{k}",
        tuple(c),
        tuple(r),
        None,
        source,
        {
            "objects": _OBJECTS[k],
            "rating": [3.5, 4, 1, "2.25"][k % 4] if k != 5 else None,
        },
    )
    for k, (c, r, source) in enumerate(_ROWS)
)
"""Twelve examples of one to three candidates and one to four references: empty, equal,
repeated, foreign, long and short captions.
"""

_EVEN: tuple[tuple[str, ...], ...] = (
    (
        "a brown dog runs across the wet grass",
        "the dog is running on a lawn after the rain",
        "one brown dog running outside",
        "a wet dog sprints through a garden",
        "the brown dog runs over the lawn",
        "some dog is playing in the yard",
        "a dog, brown and wet, runs fast",
    ),
    (
        "two children eat ice cream on a bench",
        "two children eat ice cream on a bench",
        "a boy and a girl are eating ice cream",
        "children sitting on a wooden bench with ice cream",
        "two kids enjoy their ice cream in the park",
        "a girl and a boy sit on a bench",
        "two children eat ice cream on a bench",
    ),
    (
        "a red bus stops at the corner",
        "the bus is waiting beside a shop",
        "people get on a red bus",
        "a red bus stops at the corner",
        "the red bus stops near a crossing",
        "a bus turns left at the corner",
        "a red bus",
    ),
    ("a cat", "a cat", "a cat", "a cat", "a cat", "a cat", "a cat"),
    (
        "an old man reads a newspaper at the table",
        "a young woman holds a phone",
        "an old man reading",
        "a man with glasses is reading",
        "an elderly man drinks coffee and reads",
        "the old man reads while his coffee gets cold",
        "somebody reads at a kitchen table",
    ),
    ("one", "two", "one two", "three one", "two two", "one three two", "three"),
    (
        "a plate with rice, beans and a fried egg",
        "food on a white plate beside a fork",
        "a meal of beans and rice with an egg on top",
        "three pizzas and a cake on a table",
        "a fried egg lies on top of some rice",
        "a knife beside a bowl",
        "a simple lunch",
    ),
    (
        "three sailing boats leave the harbour",
        "boats with white sails on blue water",
        "white sails in the wind near the coast",
        "three boats sail away from the harbour",
        "a few boats on the sea in the morning",
        "sailing boats are moving out to sea",
        "boats",
    ),
)
EVEN: tuple[CaptionSet, ...] = tuple(
    CaptionSet(
        f"even-{k}",
        row[:3],
        row[3:],
        None,
        f"{row[0]} and {row[4]}",
        {"objects": ["dog", "bus", "person"][: k % 4]},
    )
    for k, row in enumerate(_EVEN)
)
"""Eight examples of three candidates and four references, among them one of equal
captions and one of single words.
"""
MIRRORED: tuple[CaptionSet, ...] = tuple(
    replace(item, id=f"mirrored-{item.id}", references=item.references[:3])
    for item in EVEN[:6]
)
"""Six examples of as many candidates as references."""
_STARTS = (
    "a dog",
    "two dogs",
    "the man's cat",
    "a red bus",
    "some children",
    "an old woman",
    "three boats",
)
_VERBS = ("runs along", "sits near", "can't see", "looks at", "stands in front of")
_ENDS = ("the beach", "a wooden table", "the street", "a field of flowers")
ODD_TEXTS = (
    "",
    " ",
    "\t\n",
    "a",
    "A dog, running.",
    "it's the man's dog; they're can't-do!",
    "don't wanna gonna cannot",
    "$1,000.50 & 3.5% (5-6) #1 @home",
    "U.S.A. vs. the U.K. e.g. Mr. Smith...",
    "\"quoted\" 'single' ``back'' “curly” ‘x’",
    "naïve café à l'été",
    "東京の犬 と 猫",
    "🐕 dog 🐕🐕",
    "a--b – c — d",
    "http://example.org/a?b=c x@y.de",
    "UPPER lower MiXeD",
    "tab\tand\nnewline",
    "ﬁne ﬂower ½ ² ①",
    "a\u00a0b\u200bc",
    "the the the",
    "1 2 3",
    "x" * 70,
    "-LRB- a -RRB- (b) [c] {d}",
    "&amp; &lt; &quot;",
    "I'd we'll you've she's o'clock",
    "re-use co-operate well-known",
    "e\u0301 vs é",
    "ß ẞ İ ı",
)
"""Texts that tokenisers treat differently."""
SENTENCES = (
    "A brown puppy sits on a couch. It is wet.",
    "Two men and three women are playing tennis with red rackets.",
    "The image shows a young girl in a blue dress holding a big umbrella.",
    "a man with glasses is reading a newspaper and drinking coffee",
    "There are 2 cats and a dog under the wooden table.",
    "A hot dog and an orange cat lie next to a toilet paper roll.",
    "the bus that is parked in front of the building is red",
    "a smiling woman rides a bike down the street while her son runs",
    "A train, which is very long, quickly passes the old station.",
    "Someone is scared; he walks away from a barking dog.",
    "black and white cows graze in a field",
    "a close up of a plate of food with a fork and a knife on it",
    "children running",
    "the tennis racket of the player broke",
    "a group of people standing around a kitchen preparing food",
    "It is raining.",
    "",
    "...",
    "12 donuts",
    "a cake topped with candles and strawberries sits on top of a table",
    "people's bags are lying on the benches and the knives on plates",
    "a bear and a teddy bear and a giraffe look at each other",
    "the sheep are eating, the geese and mice too",
    "a woman wearing a hat",
    "a stop sign is on the left side of the road",
    "there is no cat in this picture",
    "a motor bike near two cell phones",
    "a man sits and reads",
    "a dog on a couch and a chair",
    "a cat and a dog sleep and eat",
    "a man in a coat riding a horse",
    "a red and blue bird flies over a lake with a boat and swims",
    "the dog the man walks is big",
    "a large, old, wooden boat is full of fish",
)
"""Sentences for the rules that find facts and objects."""
PHRASES = (
    "a tiny red ball in the middle of a blue floor",
    "the red block close to the left corner in front of a green wall",
    "a big cube",
    "a huge orange cylinder in the right corner on a cyan floor in front of a purple "
    "wall",
    "the floor is green and the wall is blue",
    "a light blue pill nearly in the middle",
    "a small yellow block near the right corner",
    "red",
    "blue",
    "a dark green wall",
    "",
    "a giant pink ball on a purple floor , the wall is red",
    "a medium-sized cylinder on the left side",
    "medium sized pill at the right",
    "a big small block",
    "a red blue block",
    "it is in the left corner",
    "the ball is large and it is pink",
    "a Red Block on the Floor",
    "an enormous golden sphere against a navy wall, almost in the middle",
    "a thing in the centre",
    "a brown ball",
    "xyzzy block unk pad",
    "a middle-sized orb near the middle with a turquoise background",
    "a green block on a green floor in front of a green wall",
    "the pale green can next to the left side",
    "small tiny red red ball",
    "a ball that is light",
    "a wall of dark",
    "a red",
    "it is dark",
    "deep blue",
    "a ball on red",
    "against pale pink",
    "a ball is green , the floor is green colored",
    "a green ball , a red ball",
    "a tiny ball is tiny and it is huge",
    "the floor ball is blue",
    "the ground object is green",
    "is red",
    "in it is blue",
    "yellow",
    "is yellow on a floor",
)
"""Captions of 3D Shapes, right and wrong."""
SHORT: tuple[CaptionSet, ...] = tuple(
    CaptionSet(
        f"short-{k}", candidates, references, None, candidates[0], {"objects": []}
    )
    for k, (candidates, references) in enumerate(
        (
            (("a", "b"), ("a", "c")),
            (("", ""), ("", "")),
            (("the", "a"), ("", "dog")),
            (("dog", "dog"), ("dog", "dog")),
        )
    )
)
"""Captions of at most one word."""


def _made(number: int) -> str:
    return (
        f"{_STARTS[number * number % 7]} {_VERBS[(number // 3) % 5]} "
        f"{_ENDS[(number * 5 + number // 7) % 4]}"
    )


WIDE: tuple[CaptionSet, ...] = tuple(
    CaptionSet(
        f"wide-{k}",
        (_made(2 * k), _made(3 * k + 1)),
        (_made(2 * k + 3), _made(5 * k), _made(k + 11))[: 1 + k % 3],
        None,
        _made(k),
    )
    for k in range(22)
)
"""Twenty-two examples, as many as some intervals need."""
HUNDRED: tuple[CaptionSet, ...] = tuple(
    CaptionSet(f"hundred-{k}", (_made(3 * k + k // 9),), (_made(2 * k + k // 5),))
    for k in range(103)
)
"""A hundred and three examples of one candidate and one reference,
from which some intervals are corrected.
"""


class Letters:
    """Embedding of texts by their letters: small whole numbers, positive and negative,
    exact on every processor.
    """

    name = "letters"

    def signature(self) -> str:
        """Return its name."""
        return "letters"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Learn nothing."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return vectors of seven numbers."""
        out = np.zeros((len(texts), 7), dtype=np.float32)
        for row, text in enumerate(texts):
            for position, letter in enumerate(text):
                out[row, ord(letter) % 7] += (
                    ord(letter) * (position % 9 + 3)
                ) % 23 - 11
        return out


class Judging:
    """The model of a judge, whose answers depend on the words of the question; some are
    refusals, cut off or without a value.
    """

    def signature(self) -> str:
        """Return its name."""
        return "length"

    def complete(self, conversations: Any, store: Any) -> None:
        """Answer in the forms of all judge metrics."""
        for index, talk in enumerate(conversations):
            size = sum(
                position * len(word)
                for position, word in enumerate(talk[0]["content"].split())
            )
            grades = {
                name: 1 + (size + k) % 5
                for k, name in enumerate(("correctness", "completeness", "fluency"))
            }

            answer = {
                "score": size % 101,
                "better": ("A", "B", "tie")[size % 3],
                **grades,
            }
            texts = {
                7: "I'm sorry, I can't help with that.",
                8: "",
                9: "{}",
                10: '{"score": 700}',
            }

            finish: Any = "length" if size % 13 == 11 else "stop"
            text = texts.get(
                size % 13, json.dumps(answer) if finish == "stop" else '{"sco'
            )

            digits: list[dict[str, float]] = [
                {"0": -0.1, "1": -2.4},
                {".": 0.0},
                {str(size % 10): -0.7, str((size + 3) % 10): -1.2, "x": -3.0},
                {"5": -0.2, "6": -1.8},
            ]

            store(index, Reply(text, finish, size, 5 + size % 3, digits))


def _row(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def likelihoods(options: int = 3, count: int = 12) -> list[list[TokenScores]]:
    """Return token scores of ``count`` examples with so many options each: ties, ranks
    of 0 and above, one to six tokens.
    """
    out: list[list[TokenScores]] = []
    for example in range(count):
        row: list[TokenScores] = []
        for option in range(options):
            length = 1 + (example * 5 + option * 3) % 6
            values = [
                -((example * 7 + option * 11 + position * 3) % 9 + 1) / 8
                for position in range(length)
            ]
            ranks = np.array(
                [(example + option * 2 + position) % 4 for position in range(length)]
            )
            words = tuple(
                f"w{(example + option + position) % 5}" for position in range(length)
            )

            row.append(TokenScores(_row(*values), ranks, words))
        if example == 5:  # options of one likelihood
            row = [
                replace(
                    item,
                    log_probs=row[0].log_probs,
                    ranks=row[0].ranks,
                    tokens=row[0].tokens,
                )
                for item in row
            ]

        out.append(row)
    return out


def groups(size: int, count: int = 4) -> list[list[TokenScores]]:
    """Return token scores of groups of ``size`` captions and images,
    own caption first.
    """
    out: list[list[TokenScores]] = []
    for group in range(count):
        for image in range(size):
            order = [image, *(k for k in range(size) if k != image)]
            near = 0 if group % 2 else 2
            values = {
                k: [
                    -(
                        (group * 5 + image * 3 + k * 2 + p) % 7
                        + (near if k == image else 2)
                    )
                    / 4
                    for p in range(2 + k)
                ]
                for k in order
            }
            out.append(
                [
                    TokenScores(
                        _row(*values[k]),
                        np.zeros(2 + k, dtype=int),
                        (f"caption-{group}-{k}",),
                    )
                    for k in order
                ]
            )
    return out


def polls(count: int = 12, unread: bool = False) -> list[list[TokenScores]]:
    """Return token scores of two answers each, the correct one first; with ``unread``
    some have the probability 0.
    """
    out: list[list[TokenScores]] = []
    for k in range(count):
        words = [("▁Yes", "."), ("No", "</s>")] if k % 3 else [("no",), ("YES",)]
        values = [
            _row(-((k * 5) % 7 + 1) / 4, -0.5)[: len(words[0])],
            _row(-((k * 3) % 5 + 1) / 4, -0.25)[: len(words[1])],
        ]
        if unread and k in (2, 3, 7):
            values = [_row(*[-math.inf] * len(value)) for value in values]
        out.append(
            [
                TokenScores(value, np.zeros(len(value), dtype=int), word)
                for value, word in zip(values, words)
            ]
        )
    return out
