"""Outputs of capevalkit: the scores of the captions of one system by id.

A metric has an object of its own, ``{"Polos": {"score": mean, "per_item": {ID:
score}}}``, or several share one, ``{"CLIPScore": mean, "per_item": {ID: {"CLIPScore":
score}}}``. The output of its ``benchmark`` has either below ``raw_metric_output``, with
an object for each item that holds ``score``, ``scores`` by name where there are
several, and the ``caption``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, cast

from harness.contracts import Values
from harness.errors import InputError
from harness.files.strict_json import load_json

PER_ITEM = "per_item"
"""Key of the scores by id."""
BENCHMARK = "raw_metric_output"
"""Key of the scores in the output of a benchmark."""
ITEM_KEYS = frozenset(
    ("score", "scores", "ground_truth_score", "caption", "image", "references")
)
"""Keys of an item of a benchmark, which are no names of scores."""


class ItemScore(NamedTuple):
    """The score of an item."""

    score: object
    caption: str | None
    """None where the output does not have it."""


ScoresById = dict[str, ItemScore]


def read_per_item(path: Path, column: str | None) -> Mapping[str, ItemScore] | None:
    """Return id -> score of an output of capevalkit; None for any other file.

    Raises :class:`InputError` where the output has several scores and ``column`` names
    none of them.
    """
    if path.suffix != ".json":
        return None
    content = load_json(path)
    if not isinstance(content, Mapping):
        return None
    output = cast("Mapping[str, object]", content)
    raw = output.get(BENCHMARK)
    if isinstance(raw, Mapping):
        # The score that the benchmark was about.
        column = column or str(output.get("score_name", "")) or None
        output = cast("Mapping[str, object]", raw)
    scores = _scores_by_name(output)
    if not scores:
        return None
    if column is None and len(scores) == 1:
        return next(iter(scores.values()))
    if column not in scores:
        text = "has several scores: set column to one of them"
        if column is not None:
            raise InputError.of_name(
                "no score", column, scores, "scores are", str(path), parameter="column"
            )
        raise InputError(f"{text} ({', '.join(scores)})", str(path), parameter="column")
    return scores[column]


def _scores_by_name(content: Mapping[str, object]) -> dict[str, ScoresById]:
    """Return name -> id -> score of an output; empty for other content."""
    by_name: dict[str, ScoresById] = {}
    for name, value in content.items():
        if isinstance(value, Mapping) and isinstance(
            of_item := cast(Values, value).get(PER_ITEM), Mapping
        ):
            items = cast("Mapping[str, object]", of_item)
            by_name[name] = {item: _own_score(entry) for item, entry in items.items()}
    shared = content.get(PER_ITEM)
    if isinstance(shared, Mapping):
        for item, entry in cast("Mapping[str, object]", shared).items():
            for name, score in _shared_scores(entry).items():
                by_name.setdefault(name, {})[item] = score
    return by_name


def _own_score(entry: object) -> ItemScore:
    """Return the score of an item below the name of its metric."""
    if not isinstance(entry, Mapping):
        return ItemScore(entry, None)
    fields = cast(Values, entry)
    return ItemScore(fields.get("score"), fields.get("caption"))


def _shared_scores(entry: object) -> dict[str, ItemScore]:
    """Return name -> score of an item of which several metrics have scores."""
    if not isinstance(entry, Mapping):
        return {}
    fields = cast(Values, entry)
    scores = fields.get("scores")
    if not isinstance(scores, Mapping):
        scores = {name: fields[name] for name in fields if name not in ITEM_KEYS}
        # The one score of an item that has no name.
        scores = scores or {name: fields[name] for name in ("score",) if name in fields}
    return {
        name: ItemScore(score, fields.get("caption"))
        for name, score in cast(Values, scores).items()
    }
