"""Files of a set of judgments: looked for, read and fingerprinted."""

from __future__ import annotations

from pathlib import Path

from harness.contracts import Judgments
from harness.errors import InputError
from harness.files.record_files import SCORES
from harness.files.user_files import fingerprint
from harness.files.user_path import user_path
from harness.judgments.collection import Collection
from harness.judgments.fields import column, lookup, number, rows
from harness.judgments.forms import FORMS
from harness.judgments.judgment_models import JudgmentSource
from harness.judgments.mt_metrics_eval import is_segment_file, list_text_files


def missing_files(source: JudgmentSource) -> list[str]:
    """Return the files of a source that do not exist."""
    return [str(path) for path in _list_files(source) if not user_path(path).exists()]


def _list_files(source: JudgmentSource) -> list[str | Path]:
    """Return the files of a source: judgments, the texts of a test set that they judge,
    and tables.
    """
    files: list[str | Path] = [*source.paths]
    for path in source.paths:
        # The texts are found beside the scores: without these they have no names.
        if is_segment_file(path) and user_path(path).exists():
            files += list_text_files(path).values()
    for table in (source.references, source.system_scores):
        if table is not None:
            files.append(table.path)
    return files


def read_judgments(source: JudgmentSource, limit: int | None = None) -> Judgments:
    """Return the judgments of a source, those of its first ``limit`` items.

    Raises :class:`InputError` with the place of a mistake, and for fewer than two
    items: intervals resample items.
    """
    collection = Collection(source, limit)
    FORMS[source.form](collection)
    if len(collection.items) < 2:
        count = "one item" if collection.items else "no item"
        raise InputError(
            f"holds judgments of {count}; expected at least two items", collection.place
        )

    notes: list[str] = []
    if collection.strangers:
        notes.append(
            f"{collection.strangers} captions by people are not among the references "
            "of their item"
        )
    preferences = [pair.preference for pair in collection.pairs]
    for sign, order in ((1, "first"), (-1, "second")):
        if preferences and all(sign * value > 0 for value in preferences):
            notes.append(
                f"the preferred caption always stands {order}: "
                "a judge that sees the two in the order of the file can learn it"
            )
    return Judgments(
        collection.place,
        tuple(collection.items),
        tuple(collection.judged),
        tuple(collection.pairs),
        _systems(source),
        notes,
    )


def _systems(source: JudgmentSource) -> dict[str, float]:
    """Return the human scores of whole systems: system -> score."""
    table = source.system_scores
    if table is None:
        return {}
    out: dict[str, float] = {}
    for record in rows([table.path]):
        of_system = str(column(table.system, (), record, "system"))
        of_score = str(column(table.score, (), record, "score"))
        name = str(lookup(record.fields, of_system))
        raw = lookup(record.fields, of_score)
        # Files of mt-metrics-eval name systems without a score too.
        if raw is None and Path(table.path).suffix == SCORES:
            continue
        value = number(raw)
        if value is None:
            raise InputError(
                f"'{table.score}' of the system '{name}' is no number", record.where
            )
        out[name] = value
    return out


def source_fingerprint(source: JudgmentSource) -> str:
    """Return a hash of the source's parameters and files, whatever their names."""
    params = source.model_dump(mode="json", exclude={"path", "get"})
    for table in ("references", "system_scores"):
        if params[table]:
            params[table].pop("path")
    files = [user_path(path) for path in _list_files(source)]
    return fingerprint("judgments", files, params)
