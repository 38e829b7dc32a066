"""Judged captions with references of their own."""

from __future__ import annotations

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.judgments.judgment_models import ReferencePolicy
from harness.judgments.reference_policy import scoring_sets

ITEMS = (
    JudgedItem("a", ("r0", "r1", "r2", "r3", "r4")),
    JudgedItem("b", ("s0", "s1", "s2")),
)


def captions(*rows):
    return tuple(
        JudgedCaption(item, (text,), own_references=own) for item, text, own in rows
    )


SET = Judgments(
    "f", ITEMS, captions((0, "x", (1,)), (0, "y", ()), (0, "z", (3,)), (1, "x", ()))
)


PAIRS = Judgments(
    "f",
    ITEMS,
    captions((0, "x", (1,)), (0, "y", (2,)), (1, "u", ()), (1, "v", ())),
    (
        JudgedPair(0, 1, (1.0,), {"category": "HC"}),
        JudgedPair(2, 3, (-1.0,), {"category": "MM"}),
    ),
)


def references(judgments, **policy):
    sets = scoring_sets(judgments, ReferencePolicy(**policy), 0)
    return [
        [sets.sets[k].references for k in row.ravel() if k >= 0] for row in sets.index
    ]
