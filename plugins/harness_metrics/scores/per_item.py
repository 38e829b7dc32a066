"""Outputs of capevalkit: the scores of the captions of one system by id.

A metric has an object of its own, ``{"Polos": {"score": mean, "per_item": {ID:
score}}}``, or several share one, ``{"CLIPScore": mean, "per_item": {ID: {"CLIPScore":
score}}}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from harness.contracts import Values
from harness.errors import InputError
from harness.files.strict_json import load_json

PER_ITEM = "per_item"
"""Key of the scores by id."""


def read_per_item(path: Path, column: str | None) -> Mapping[str, object] | None:
    """Return id -> score of an output of capevalkit; None for any other file.

    Raises :class:`InputError` where the output has several scores and ``column`` names
    none of them.
    """
    if path.suffix != ".json":
        return None
    content = load_json(path)
    if not isinstance(content, Mapping):
        return None
    scores = _scores_by_name(cast("Mapping[str, object]", content))
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


def _scores_by_name(content: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """Return name -> id -> score of an output; empty for other content."""
    by_name: dict[str, Mapping[str, object]] = {}
    for name, value in content.items():
        if isinstance(value, Mapping) and isinstance(
            of_item := cast(Values, value).get(PER_ITEM), Mapping
        ):
            by_name[name] = cast(Values, of_item)
    shared = content.get(PER_ITEM)
    if not isinstance(shared, Mapping):
        return by_name
    items = cast("Mapping[str, object]", shared)
    for item, scores in items.items():
        if isinstance(scores, Mapping):
            for name, score in cast(Values, scores).items():
                by_id = cast(Values, by_name.setdefault(name, {}))
                by_id[item] = score
    return by_name
