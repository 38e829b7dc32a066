"""Inputs of every metric of the catalogue for the wrappers: caption sets, token scores,
parameters; metrics that cannot run here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import Any

from harness.contracts import CaptionSet, TokenScores
from harness.registry import current, parameters
from harness.testing.metric_subject import token_scores
from harness.testing.sample_captions import SCENES, caption_sets
from harness_metrics.judges import judge
from harness_metrics.judges.replies import Reply
from harness_tasks.readers.generated import ReferenceGames

CANNOT_RUN = {
    "clipscore": "weights of CLIP",
    "refclipscore": "weights of CLIP",
    "pac-score": "weights of CLIP",
    "ref-pac-score": "weights of CLIP",
    "pac-score-plus": "weights of CLIP",
    "ref-pac-score-plus": "weights of CLIP",
    "vqascore": "a model that sees images",
    "clip-recall": "weights of CLIP",
    "spice": "Stanford CoreNLP",
    "spider": "Stanford CoreNLP",
    "spider-max": "Stanford CoreNLP",
    "spider-fl": "Stanford CoreNLP",
    "listener-accuracy": "a listener",
    "scores": "a file of scores",
    "fleur": "images",
    "ref-fleur": "images",
}
"""Metrics that need what no package contains."""
SLOW = {"bertscore", "wmd", "object-match", "mauve"}
OF_GAMES = {
    "discriminativity",
    "contrastive-efficiency",
    "relevance",
    "optimal-discriminativity",
    "mentioned-features",
    "false-features",
    "redundant-mention",
}
"""Metrics that read the scenes of reference games in the metadata."""


class Backend:
    """The model of a judge, whose answers depend on the length of the question."""

    def signature(self) -> str:
        """Return its name."""
        return "length"

    def complete(self, conversations: Any, store: Any) -> None:
        """Answer in the forms of all judge metrics."""
        for index, talk in enumerate(conversations):
            size = len(talk[0]["content"])
            grades = dict.fromkeys(
                ("correctness", "completeness", "fluency"), 1 + size % 5
            )
            answer = {
                "score": size % 100,
                "better": ("A", "B", "tie")[size % 3],
                **grades,
            }
            store(index, Reply(json.dumps(answer), "stop", 10, 5))


JUDGE: dict[str, Any] = {"judge": judge.Judge(Backend(), cache=False)}
PARAMETERS: dict[str, dict[str, Any]] = {
    "bertscore": {"model": "minilm"},
    "best": {"metric": "bleu"},
    "redundant-mention": {"feature": "shape"},
    "clair": JUDGE,
    "rubric": JUDGE,
    "fleur": {"judge": judge.Judge(Backend(), cache=False, image=True)},
    "ref-fleur": {"judge": judge.Judge(Backend(), cache=False, image=True)},
    "win-rate": JUDGE,
}


def names() -> list[str]:
    """Return the metrics of the package ``harness_metrics``.

    Those of text spaces, which need all texts of an oracle, and those of sets of events
    have tests of their own.
    """
    return [
        entry.name
        for entry in current().entries("metrics")
        if entry.target.startswith("harness_metrics.") and "events" not in entry.needs
    ]


@dataclass(frozen=True)
class Case:
    """A metric with its parameters, and examples for it."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    sets: tuple[CaptionSet, ...] = ()
    """Empty for a metric of level ``model``."""
    scores: tuple[list[TokenScores], ...] = ()

    def part(self, start: int, stop: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of ``update`` for the examples from ``start`` to
        ``stop``.
        """
        if not self.sets:
            return (self.scores[start:stop],), {}
        sets = self.sets[start:stop]
        fields = {
            "sources": [item.source for item in sets],
            "meta": [dict(item.meta) for item in sets],
        }
        return (
            [item.candidates for item in sets],
            [item.references for item in sets],
        ), fields


@cache
def _games() -> tuple[CaptionSet, ...]:
    examples = islice(ReferenceGames(pairs=2), 6)
    return tuple(
        CaptionSet(e.id, e.references[:3], e.references[3:6], None, None, e.meta)
        for e in examples
    )


def case(name: str) -> Case:
    """Return the case of a metric."""
    factory = current().load("metrics", name)
    values = dict(PARAMETERS.get(name, {}))
    if "embedding" in parameters(factory) and name not in ("object-match",):
        values["embedding"] = "bow"  # no model
    if "distance" in parameters(factory):
        values["distance"] = "rouge"

    metric: Any = current().create("metrics", name, values)
    if metric.spec.level == "model":
        scores = token_scores(6, 2 if name == "poll" else 3)
        if name == "poll":
            scores = [
                [
                    replace(s, tokens=(word, *s.tokens[1:]))
                    for s, word in zip(row, ("yes", "no"))
                ]
                for row in scores
            ]
        return Case(name, values, (), tuple(scores))

    if name in OF_GAMES:
        return Case(name, values, _games())
    sets = caption_sets(3, 3)
    return Case(
        name,
        values,
        tuple(
            CaptionSet(s.id, s.candidates, s.references, None, SCENES[k][7])
            for k, s in enumerate(sets)
        ),
    )
