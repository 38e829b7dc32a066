"""The plan of a task of judgments: metrics created, statistics and groups checked,
files looked for and read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from harness import __version__
from harness.contracts import Example, Judgments, Values
from harness.errors import HarnessError, InputError, did_you_mean
from harness.files.media import check_media
from harness.files.record_files import SCORES
from harness.files.user_files import fingerprint
from harness.files.user_path import user_path
from harness.files.yaml_source import Located
from harness.judgments.collection import Collection
from harness.judgments.fields import column, lookup, number, rows
from harness.judgments.forms import FORMS
from harness.judgments.layouts import is_segment_file, list_text_files
from harness.judgments.reference_policy import ScoringSets, scoring_sets
from harness.judgments.rows import JudgmentRows, distinct_captions
from harness.judgments.system_agreement import system_names
from harness.registry.manifest_schema import PluginFailure
from harness.run.metric_plan import MetricPlan
from harness.run.planned_components import planned_metrics
from harness.run.provenance import manifest_of
from harness.run.resources import check_sets
from harness.rundir.format import JsonObject
from harness.spec.judgment_models import (
    PAIR_STATISTICS,
    SYSTEM_STATISTICS,
    JudgmentSource,
    JudgmentSpec,
)
from harness.spec.loading import LoadedJudgments

KIND = "judgments"
"""Value of ``kind`` in the manifest of a run of judgments."""


@dataclass(frozen=True)
class JudgmentPlan:
    """Everything that a run of judgments will do."""

    kind: ClassVar = KIND
    spec: JudgmentSpec
    metrics: tuple[MetricPlan, ...]
    missing: tuple[str, ...] = ()
    """Files of the judgment set that do not exist."""

    @property
    def absence(self) -> str:
        """One line that names the missing file and tells how to get the set;
        empty when the files exist.
        """
        if not self.missing:
            return ""
        get = " ".join(self.spec.judgments.get.split())
        return f"{self.spec.task}: not there: {', '.join(self.missing)}" + (
            f"; how to get it: {get}" if get else ""
        )

    @property
    def obstacle(self) -> str:
        """One line that tells why the set cannot be judged: missing files, or the
        mistake in them; empty where all is well.
        """
        if self.absence:
            return self.absence
        try:
            check_sets(self.metrics, self.prepare()[1].sets)
        except HarnessError as error:
            return f"{self.spec.task}: left out: {error}"
        return ""

    def describe(self) -> Values:
        """Return the form of the judgments, the statistics,
        and the line of missing files.
        """
        reader = f"judgments ({self.spec.judgments.form})"
        return {
            "reader": reader,
            "statistics": list(self.spec.statistics),
            "missing": self.absence,
        }

    def read(self) -> Judgments:
        """Return the judgments, those of the first ``limit`` items.

        Raises :class:`InputError` when a file of the set is missing, and for media
        outside of its folders.
        """
        if self.missing:
            raise InputError(self.absence)
        judgments = read_judgments(self.spec.judgments, self.spec.limit)
        places = [
            value
            for _, value in Located(self.spec.judgments.model_dump(mode="json")).walk()
        ]
        places += [metric.params.get("images") for metric in self.metrics]
        list(
            check_media(
                (
                    Example(item.id, item.references, item.media)
                    for item in judgments.items
                ),
                places,
            )
        )
        return judgments

    @property
    def compares_systems(self) -> bool:
        """True where a statistic needs the systems of the captions."""
        return any(
            name in SYSTEM_STATISTICS or self.spec.grouping_of(name) == "system"
            for name in self.spec.statistics
        )

    def prepare(self) -> tuple[JudgmentRows, ScoringSets]:
        """Return the judgments as rows, and the caption sets of the reference policy,
        checked for what the task computes.
        """
        rows = JudgmentRows(self.read(), self.spec)
        rows.check()
        if self.compares_systems:
            system_names(rows)
        blind = (
            []
            if rows.judgments.items[0].references
            else [m.label for m in self.metrics if "references" in m.metric.spec.needs]
        )
        if blind:
            text = (
                "the judgments have no column of references, "
                f"which {', '.join(blind)} needs"
            )
            raise InputError(
                f"{text} (name it with judgments.columns.references)",
                rows.judgments.source,
            )
        by = self.spec.groups.by if self.spec.groups else "category"
        columns = [
            name for metric in self.metrics for name in metric.metric.spec.meta_columns
        ]
        sets = scoring_sets(
            rows.judgments,
            self.spec.references,
            self.spec.seed,
            by,
            list(dict.fromkeys(columns)),
        )
        return rows, sets


def make_judgment_plan(loaded: LoadedJudgments) -> JudgmentPlan:
    """Return the plan of a task of judgments; raise :class:`InputError` with
    ``file:line`` for what does not fit together.
    """
    spec = loaded.spec
    metrics: list[MetricPlan] = []
    for plan in planned_metrics(loaded):
        if not isinstance(plan, MetricPlan):
            raise InputError(
                f"metric '{plan.label}' judges token scores of a model, "
                "not captions: it has no agreement with people",
                loaded.where("metrics"),
            )
        metrics.append(plan)
    if spec.judgments.form in ("pairs", "foil", "keyed-pairs"):
        wrong = next(
            (
                name
                for name in spec.statistics
                if name not in (*PAIR_STATISTICS, *SYSTEM_STATISTICS)
            ),
            None,
        )
        if wrong is not None:
            raise InputError(
                f"{wrong} needs rated captions; judgments of form "
                f"{spec.judgments.form} have accuracy and statistics of systems",
                loaded.where("statistics"),
                value=wrong,
            )
    for index, table in enumerate(spec.published):
        if table.statistic is not None and table.statistic not in spec.statistics:
            hint = did_you_mean(table.statistic, spec.statistics)
            raise InputError(
                f"published values of {table.statistic}{hint}, "
                "which the task does not compute",
                loaded.where("published", index),
            )
    return JudgmentPlan(spec, tuple(metrics), tuple(missing_files(spec.judgments)))


# --------------------------------------------------------------------------- manifest
def manifest(
    plan: JudgmentPlan, judgments: Judgments, failures: Sequence[PluginFailure] = ()
) -> JsonObject:
    """Return the content of manifest.json.

    The digest covers the data and the scored reference lists, not metrics and
    statistics: a further metric, another statistic or another tie policy continues a
    run and reuses its scores.
    """
    spec = plan.spec
    data = {
        "reader": f"judgments ({spec.judgments.form})",
        "fingerprint": source_fingerprint(spec.judgments),
        "source": judgments.source,
        "examples": len(judgments.items),
        "captions": len(set(distinct_captions(judgments).tolist())),
        "ratings": sum(len(caption.ratings) for caption in judgments.captions),
        "pairs": len(judgments.pairs),
        "references": sorted({len(item.references) for item in judgments.items}),
    }
    return {
        "kind": plan.kind,
        **manifest_of(
            spec, signature(plan), digest(plan), data, plan.metrics, failures
        ),
    }


def digest(plan: JudgmentPlan) -> str:
    """Return a hash of the data, the reference policy, the limit,
    the seed and the version.
    """
    spec = plan.spec
    contents = [
        __version__,
        source_fingerprint(spec.judgments),
        spec.references.model_dump(mode="json"),
        spec.limit,
        spec.seed,
        spec.task,
    ]
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()


def signature(plan: JudgmentPlan) -> str:
    """Return a short identity of the run:
    ``judgments/thumb|kendall_c|own:item|seed:0|harness:0.1.0``.
    """
    spec = plan.spec
    fields = [spec.task, "+".join(spec.statistics), spec.references.describe()]
    if any(name in PAIR_STATISTICS for name in spec.statistics):
        fields.append(f"ties:{spec.ties}")
    if spec.limit is not None:
        fields.append(f"limit:{spec.limit}")
    return "|".join([*fields, f"seed:{spec.seed}", f"harness:{__version__}"])


def missing_files(source: JudgmentSource) -> list[str]:
    """Return the files of a source that do not exist."""
    return [str(path) for path in _list_files(source) if not user_path(path).exists()]


def _list_files(source: JudgmentSource) -> list[str | Path]:
    """Return the files of a source: judgments,
    the texts of a test set that they judge, and tables.
    """
    texts = [
        file
        for path in source.paths
        if is_segment_file(path) and user_path(path).exists()
        for file in list_text_files(path).values()
    ]
    return [
        *source.paths,
        *texts,
        *(
            table.path
            for table in (source.references, source.system_scores)
            if table is not None
        ),
    ]


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
    strangers = (
        f"{collection.strangers} captions by people are not among the references of "
        "their item"
    )
    notes = [strangers] if collection.strangers else []
    for sign, order in ((1, "first"), (-1, "second")):
        if collection.pairs and all(
            sign * pair.preference > 0 for pair in collection.pairs
        ):
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
        name = str(
            lookup(record.fields, str(column(table.system, (), record, "system")))
        )
        raw = lookup(record.fields, str(column(table.score, (), record, "score")))
        value = number(raw)
        if raw is None and Path(table.path).suffix == SCORES:
            continue
        if value is None:
            raise InputError(
                f"'{table.score}' of the system '{name}' is no number", record.where
            )
        out[name] = value
    return out


def source_fingerprint(source: JudgmentSource) -> str:
    """Return a hash of the source's parameters and files."""
    params = source.model_dump(mode="json", exclude={"path", "get"})
    for table in ("references", "system_scores"):
        if params[table]:
            params[table].pop("path")
    return fingerprint(
        "judgments", [user_path(path) for path in _list_files(source)], params
    )
