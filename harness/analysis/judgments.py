"""Human judgments of captions as a table with metric columns and columns of judgments, per caption or per system.

A file of judgments is JSON Lines (gzipped or not) with one item per line: ``references``, and either ``systems`` (system -> record, as
in THumB) or ``candidates`` (a list of records, as in Composite). A record has a ``caption`` and numbers (the judgments). With
``is_own_reference`` the caption is one of the references, which is then removed before the caption is scored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.analysis.column_table import ColumnTable, RowKind, from_records
from harness.contracts import CaptionSet, Parameters
from harness.errors import InputError
from harness.files.records import open_binary
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan, caption_plans, metric_plans


@dataclass(frozen=True, slots=True)
class Judged:
    """One caption of one system for one item, with its human judgments."""

    item: str
    system: str
    caption: str
    references: tuple[str, ...]
    scores: Mapping[str, float]


def read_judgments(path: Path) -> list[Judged]:
    """Return all judged captions of a file; raise :class:`InputError` with the line of a mistake."""
    if not path.is_file():
        raise InputError("no such file of judgments", str(path))
    judged: list[Judged] = []
    with open_binary(path) as file:
        for number, line in enumerate(file, 1):
            where = f"{path}:{number}"
            try:
                item = json.loads(line.decode("utf-8"))
                references = tuple(item["references"])
                records = item["systems"].items() if "systems" in item else enumerate(item["candidates"])
                name = str(next((item[key] for key in ("id", "image_id", "file_name") if key in item), number))
                judged.extend(_judged(name, str(system), record, references, where) for system, record in records)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise InputError(
                    f"expected a judged item (references, and systems or candidates): {error!r}", where
                ) from error
    if not judged:
        raise InputError("holds no judgments", str(path))
    return judged


def _judged(item: str, system: str, record: Parameters, references: tuple[str, ...], where: str) -> Judged:
    caption = str(record["caption"])
    if record.get("is_own_reference"):
        index = _own_reference(caption, references, where)
        references = references[:index] + references[index + 1 :]
    if not references:
        raise InputError(f"no references are left for the caption {caption!r:.60}", where)
    scores = {
        name: float(value)
        for name, value in record.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    if not scores:
        raise InputError(f"the caption {caption!r:.60} has no judgments", where)
    return Judged(item, system, caption, references, scores)


def _own_reference(caption: str, references: tuple[str, ...], where: str) -> int:
    """Return the index of the reference most similar to the caption, which may differ in case and punctuation.

    Raises :class:`InputError` when no reference has a similarity of at least 0.9.
    """
    import difflib

    def plain(text: str) -> str:
        return "".join(character for character in text.lower() if character.isalnum())

    ratios = [difflib.SequenceMatcher(None, plain(caption), plain(text)).ratio() for text in references]
    if max(ratios, default=0) < 0.9:
        raise InputError(
            f"the caption {caption!r:.60} is marked as a reference, but no reference is similar to it", where
        )
    return int(np.argmax(ratios))


def judgment_table(path: Path, metrics: Sequence[Any], rows: RowKind = "example") -> ColumnTable:
    """Return the columns of metrics and of judgments, with one row per caption or per system.

    Parameters
    ----------
    path : Path
        File of judgments.
    metrics : sequence
        Metrics, as for :func:`harness.score`. Corpus state (document frequencies) comes from the references of all items.
    rows : {"example", "system"}
        One row per caption, or per system with corpus numbers and mean judgments.
    """
    judged, plans = read_judgments(path), caption_plans(metric_plans(metrics))
    sets = [CaptionSet(f"{j.item}/{j.system}", (j.caption,), j.references) for j in judged]
    features = FeatureCache([item.references for item in sets])
    parts = scoring.batches(sets, features)
    scored = {plan.label: scoring.score(plan.metric, parts, features, None, 0) for plan in plans}
    if rows == "example":
        values = {plan.label: scored[plan.label].per_example(plan.metric) for plan in plans}
        records = [
            {"item": j.item, "system": j.system, **{m: _cell(v[k]) for m, v in values.items()}, **j.scores}
            for k, j in enumerate(judged)
        ]
        return from_records(str(path), records)
    return from_records(str(path), [_system_record(name, judged, plans, scored) for name in _systems(judged)])


def _systems(judged: Sequence[Judged]) -> list[str]:
    return list(dict.fromkeys(j.system for j in judged))


def _system_record(
    system: str, judged: Sequence[Judged], plans: Sequence[MetricPlan], scored: Mapping[str, scoring.Scored]
) -> dict[str, object]:
    """Return the corpus numbers of a system's captions and the means of its judgments."""
    members = np.array([j.system == system for j in judged])
    record: dict[str, object] = {"system": system}
    for plan in plans:
        stats = scored[plan.label].stats[members & scored[plan.label].defined]
        record[plan.label] = _cell(float(plan.metric.reduce(stats)) if len(stats) else float("nan"))
    judgments = [j.scores for j, member in zip(judged, members) if member]
    return {**record, **{name: float(np.mean([scores[name] for scores in judgments])) for name in judgments[0]}}


def _cell(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
