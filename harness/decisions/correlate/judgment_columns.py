"""Human judgments of captions as a table with metric columns and columns of judgments,
per caption or per system.

Files hold rated captions, one per record or all captions of an item in one record
(:mod:`harness.judgments.forms`). A caption that is one of the references is scored
without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import JudgedCaption, Judgments
from harness.decisions.correlate.column_table import ColumnTable, RowKind, from_records
from harness.errors import InputError
from harness.judgments.collection import Collection
from harness.judgments.forms import FORMS
from harness.judgments.judgment_models import JudgmentSource, ReferencePolicy
from harness.judgments.reference_policy import scoring_sets
from harness.registry.permissions import typed_by_user
from harness.run import score as scoring
from harness.run.metric_plan import MetricPlan, caption_plans, metric_plans
from harness.run.scored import Scored

HUMAN = "human"
"""Column of the mean rating, where the ratings are a list."""


def read_judgments(*paths: Path) -> Judgments:
    """Return all rated captions of files; raise :class:`InputError` with the line of a
    mistake.
    """
    collection = Collection(
        JudgmentSource(form="captions", path=[str(path) for path in paths])
    )
    try:
        FORMS["captions"](collection)
    except InputError as error:
        hint = (
            "columns of rated captions are read; a task with 'judgments:' reads "
            "pairs, foils and other columns (harness run)"
        )
        raise InputError(f"{error.message}; {hint}", error.where) from error

    judgments = Judgments(
        collection.place, tuple(collection.items), tuple(collection.judged)
    )
    if not all(item.references for item in judgments.items):
        raise InputError("has no column of references", collection.place)
    for caption in judgments.captions:
        if not _human(caption):
            raise InputError(
                f"the caption {caption.texts[0]!r:.60} has no judgments",
                collection.place,
            )
    return judgments


def _human(caption: JudgedCaption) -> dict[str, float]:
    """Return the human scores of a caption by column."""
    if caption.scores:
        return dict(caption.scores)
    return {HUMAN: float(np.mean(caption.ratings))} if caption.ratings else {}


def judgment_table(
    paths: Path | Sequence[Path], metrics: Sequence[Any], rows: RowKind = "example"
) -> ColumnTable:
    """Return the columns of metrics and of judgments,
    with one row per caption or per system.

    Parameters
    ----------
    paths : Path or sequence of Path
        Files of judgments.
    metrics : sequence
        Metrics, as for :func:`harness.score`. Corpus state (document frequencies) comes
        from the scored reference lists.
    rows : {"example", "system"}
        One row per caption, or per system with corpus numbers and mean judgments.
        Captions without a system belong to the system of their position in the item.
    """
    files = [paths] if isinstance(paths, Path) else list(paths)
    judgments = read_judgments(*files)
    with typed_by_user():
        plans = caption_plans(metric_plans(metrics))

    # A caption that is one of the references is scored without it, and a set that
    # several captions share once.
    sets = scoring_sets(judgments, ReferencePolicy(own="caption", corpus="sets"), 0)
    results = scoring.score_sets(
        [plan.metric for plan in plans],
        sets.sets,
        references=sets.corpora[0].references,
    )
    scored = {plan.label: result for plan, result in zip(plans, results)}
    set_of = sets.index[:, 0, 0]

    systems = _systems(judgments)
    human = [_human(caption) for caption in judgments.captions]
    if rows == "example":
        values = {
            plan.label: scored[plan.label].per_example(plan.metric)[set_of]
            for plan in plans
        }
        records = [
            {
                "item": judgments.items[caption.item].id,
                "system": systems[k],
                **{label: _cell(column[k]) for label, column in values.items()},
                **human[k],
            }
            for k, caption in enumerate(judgments.captions)
        ]
    else:
        records = [
            _system_record(name, systems, human, plans, scored, set_of)
            for name in dict.fromkeys(systems)
        ]
    ids = frozenset({"item", "system", *(name for scores in human for name in scores)})
    return replace(from_records(judgments.source, records), unselected=ids)


def _systems(judgments: Judgments) -> list[str]:
    """Return the system of each caption, its position in the item where the file names
    none.
    """
    counts: dict[int, int] = {}
    out: list[str] = []
    for caption in judgments.captions:
        position = counts[caption.item] = counts.get(caption.item, -1) + 1
        out.append(caption.system or str(position))
    return out


def _system_record(
    system: str,
    systems: Sequence[str],
    human: Sequence[Mapping[str, float]],
    plans: Sequence[MetricPlan],
    scored: Mapping[str, Scored],
    set_of: np.ndarray,
) -> dict[str, object]:
    """Return the corpus numbers of a system's captions and the means of its
    judgments.
    """
    members = np.flatnonzero([name == system for name in systems])
    record: dict[str, object] = {"system": system}
    for plan in plans:
        result = scored[plan.label]
        sets = set_of[members]
        stats = result.stats[sets][result.defined[sets]]
        value = float(plan.metric.reduce(stats)) if len(stats) else float("nan")
        record[plan.label] = _cell(value)

    judged = [human[int(k)] for k in members]
    for name in judged[0]:
        record[name] = float(np.mean([scores[name] for scores in judged]))
    return record


def _cell(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
