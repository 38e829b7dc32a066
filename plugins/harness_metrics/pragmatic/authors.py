"""The authors' evaluation script: case-sensitive substrings, with its side effects.

Results differ from the script only for input on which it fails: its relevance divides
by zero for six different features (here: NaN), and its parser fails for an empty
caption (here: no feature is mentioned). The script tags words with spaCy to count false
ones; :mod:`harness_metrics.pragmatic.tagging` replaces it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from harness.errors import InputError
from harness_metrics.pragmatic.rows import Rows
from harness_metrics.pragmatic.tagging import nouns_and_adjectives
from harness_tasks.a3ds.scene import FACTORS, PHRASES, indices

_COLOURS = ("red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink")
_SIZES = ("tiny", "small", "medium", "middle sized", "big", "large", "huge", "giant")
_PLACES = ("middle", "corner", "left", "right")
_NEVER_FALSE = frozenset(
    (
        "picture",
        "front",
        "wall",
        "floor",
        "unk",
        "pad",
        "standing",
        "a",
        "on",
        "in",
        "the",
        "of",
    )
)


class Target(NamedTuple):
    """Expressions that the script searches for in captions of a scene."""

    values: tuple[int, ...]
    """Six factor indices."""
    expressions: tuple[str, ...]
    """Six expressions, one per factor."""
    joined: str
    """The expressions joined by spaces."""
    shape: str
    """Phrase of the shape."""


@lru_cache(maxsize=1 << 17)
def expressions_of(scene: int) -> Target:
    """Return the six expressions of a scene.

    A hue of a single part is searched for alone, other hues with their noun. Places are
    searched for without ``in the`` and ``on the``, except for the straight view when
    exactly one part is red: the script compares the angle 0 with the hue 0.
    """
    values: tuple[int, ...] = tuple(indices([scene])[0].tolist())
    hues = values[:3]
    shape = PHRASES[4][values[4]]
    nouns = ("floor", "wall", shape, "", "", "")
    expressions: list[str] = []
    for factor, (index, noun) in enumerate(zip(values, nouns)):
        phrase = PHRASES[factor][index]
        if factor < 3:
            alone = hues.count(index) == 1
        else:
            # 0.0 is the label of the red hue, the block and the straight view, which
            # the script confuses
            is_zero = (factor == 4 and index == 0) or (factor == 5 and index == 7)
            alone = is_zero and hues.count(0) == 1

        expression = phrase
        if not alone:
            expression = f"{phrase} {noun}".strip()
            expression = expression.replace("in the ", "").replace("on the ", "")
        expressions.append(expression)
    return Target(values, tuple(expressions), " ".join(expressions), shape)


def evaluate_script(rows: Rows, *, order_dependent: bool = False) -> dict[str, Any]:
    """Return the columns of the script as arrays ``(N,)``.

    The additional column ``num_false_true_of_dist`` counts false words that are true of
    the distractor.

    Parameters
    ----------
    rows : Rows
        N captions with their games.
    order_dependent : bool, default False
        Keep the object-hue flag of the previous row, as the script does.

    Raises
    ------
    InputError
        For several distractors per row, which the script does not support.
    """
    if rows.distractors.shape[1] != 1:
        raise InputError(
            "the mode authors-script needs one distractor per row", parameter="mode"
        )
    columns: dict[str, list[Any]] = defaultdict(list)
    flag = 0
    tagged = nouns_and_adjectives(rows.predictions)
    games = zip(rows.targets.tolist(), rows.distractors[:, 0].tolist())
    for text, words, game in zip(rows.predictions, tagged, games):
        target, distractor = map(expressions_of, game)
        if not order_dependent:
            flag = 0
        row, flag = _row(text, words, target, distractor, flag)
        for name, value in row.items():
            columns[name].append(value)

    out = {
        "target_id": rows.targets,
        "distractor_id": rows.distractors[:, 0],
        "prediction": rows.predictions,
    }
    return out | {name: np.array(values) for name, values in columns.items()}


def _row(
    text: str, words: list[str], target: Target, distractor: Target, flag: int
) -> tuple[dict[str, Any], int]:
    """Return the columns of one row and the object-hue flag after it;
    ``words`` are its nouns and adjectives.
    """
    different = [k for k in range(6) if target.values[k] != distractor.values[k]]
    present = [expression in text for expression in target.expressions]
    contrastive = [k for k in different if present[k]]
    c = len(contrastive)
    z = len(different)
    shared = sum(present) - c

    # Unlike the paper, the script divides by the number of different features.
    if z == 1:
        efficiency = float(c == 1)
    else:
        efficiency = 1 - (c - 1) / (z - 1) if c else 0.0

    false = [w for w in words if w not in _NEVER_FALSE and w not in target.joined]
    mentions = _mentions(text, target, distractor, 1 if 2 in contrastive else flag)
    row: dict[str, Any] = {
        "binary_contrastiveness": int(c > 0),
        "contrastive_efficiency": efficiency,
        "relevance": 1 - shared / (6 - z) if z < 6 else float("nan"),
        **{f"is_{name}": value for name, value in zip(FACTORS, mentions)},
        **{f"is_{name}_disc": int(k in contrastive) for k, name in enumerate(FACTORS)},
        "num_mentioned_features": sum(mentions),
        "num_nondiscriminative": shared,
        "num_discriminative": c,
        "num_false": len(false),
        "num_false_true_of_dist": sum(word in distractor.joined for word in false),
    }
    return row, mentions[2]


def _mentions(
    text: str, target: Target, distractor: Target, flag: int
) -> tuple[int, ...]:
    """Return the six mention flags of the script;
    ``flag`` is the current value of its object-hue flag.
    """
    if not flag:
        flag = int(target.expressions[2].split(" ")[0] in text)
        if target.values[2] == distractor.values[2]:
            flag = int(flag and target.shape in text)
    return (
        int(any(f"{colour} floor" in text for colour in _COLOURS)),
        int(any(f"{colour} wall" in text for colour in _COLOURS)),
        flag,
        int(any(size in text for size in _SIZES)),
        int(target.shape in text),
        int(any(position in text for position in _PLACES)),
    )
