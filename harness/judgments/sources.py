"""Judgment sets as :class:`~harness.contracts.Judgments`, read from files of any of the usual forms."""

from __future__ import annotations

from harness.contracts import Judgments
from harness.errors import InputError
from harness.files.records import fingerprint
from harness.files.user_path import user_path
from harness.judgments.collection import Collection
from harness.judgments.forms import FORMS
from harness.judgments.tables import column, lookup, rows
from harness.judgments.values import number
from harness.spec.judgment_models import JudgmentSource


def missing_files(source: JudgmentSource) -> list[str]:
    """Return the files of a source that do not exist."""
    paths = [*source.paths, *(table.path for table in (source.references, source.system_scores) if table is not None)]
    return [path for path in paths if not user_path(path).exists()]


def read_judgments(source: JudgmentSource, limit: int | None = None) -> Judgments:
    """Return the judgments of a source, those of its first ``limit`` items.

    Raises :class:`InputError` with the place of a mistake, and for fewer than two items: intervals resample items.
    """
    collection = Collection(source, limit)
    FORMS[source.form](collection)
    if len(collection.items) < 2:
        count = "one item" if collection.items else "no item"
        raise InputError(f"holds judgments of {count}; expected at least two items", collection.place)
    notes = [f"{collection.strangers} captions by people are not among the references of their item"]
    return Judgments(
        collection.place, tuple(collection.items), tuple(collection.judged), tuple(collection.pairs), _systems(source),
        notes if collection.strangers else (),
    )  # fmt: skip


def _systems(source: JudgmentSource) -> dict[str, float]:
    """Return the human scores of whole systems: system -> score."""
    table = source.system_scores
    if table is None:
        return {}
    out: dict[str, float] = {}
    for record in rows([table.path]):
        name = str(lookup(record.fields, str(column(table.system, (), record, "system"))))
        value = number(lookup(record.fields, str(column(table.score, (), record, "score"))))
        if value is None:
            raise InputError(f"'{table.score}' of the system '{name}' is no number", record.where)
        out[name] = value
    return out


def source_fingerprint(source: JudgmentSource) -> str:
    """Return a hash of the source's parameters and files."""
    params = source.model_dump(mode="json", exclude={"path", "get"})
    paths = [*source.paths, *(table.path for table in (source.references, source.system_scores) if table is not None)]
    for table in ("references", "system_scores"):
        if params[table]:
            params[table].pop("path")
    return fingerprint("judgments", [user_path(path) for path in paths], params)
