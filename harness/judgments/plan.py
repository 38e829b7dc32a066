"""The plan of a task of judgments: metrics created, statistics and groups checked, its
files looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.contracts import CaptionSet, Example, Judgments, Values
from harness.errors import HarnessError, InputError, did_you_mean
from harness.files.media import check_media
from harness.files.yaml_source import Located
from harness.judgments.judgment_models import (
    PAIR_STATISTICS,
    SYSTEM_STATISTICS,
    JudgmentSpec,
)
from harness.judgments.reference_policy import ScoringSets, scoring_sets
from harness.judgments.rows import JudgmentRows
from harness.judgments.source_files import missing_files, read_judgments
from harness.judgments.system_agreement import system_names
from harness.run.metric_plan import MetricPlan
from harness.run.planned_components import planned_metrics
from harness.run.resources import check_sets
from harness.spec.loading import LoadedTask

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
        """One line that names the missing file and tells how to get the set; empty when
        the files exist.
        """
        if not self.missing:
            return ""
        get = " ".join(self.spec.judgments.get.split())
        hint = f"; how to get it: {get}" if get else ""
        return f"{self.spec.task}: not there: {', '.join(self.missing)}{hint}"

    @property
    def obstacle(self) -> str:
        """One line that tells why the set cannot be judged: missing files, or the
        mistake in them; empty where all is well.
        """
        if self.absence:
            return self.absence
        try:
            check_sets(self.metrics, self.caption_sets())
        except HarnessError as error:
            return f"{self.spec.task}: left out: {error}"
        return ""

    def describe(self) -> Values:
        """Return the form of the judgments, the statistics, and the line of missing
        files.
        """
        return {
            "reader": f"judgments ({self.spec.judgments.form})",
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

        # Media may lie in the folders that the spec names.
        source = Located(self.spec.judgments.model_dump(mode="json"))
        names = [value for _, value in source.walk()]
        names += [metric.params.get("images") for metric in self.metrics]
        examples = (
            Example(item.id, item.references, item.media) for item in judgments.items
        )
        for _ in check_media(examples, names):
            pass
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
        self._check_references(rows.judgments)

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

    def caption_sets(self) -> Sequence[CaptionSet]:
        """Return the sets that the metrics score."""
        return self.prepare()[1].sets

    def _check_references(self, judgments: Judgments) -> None:
        """Raise :class:`InputError` for metrics that need references where the
        judgments have none.
        """
        if judgments.items[0].references:
            return
        blind = [
            metric.label
            for metric in self.metrics
            if "references" in metric.metric.spec.needs
        ]
        if blind:
            raise InputError(
                "the judgments have no column of references, "
                f"which {', '.join(blind)} needs "
                "(name it with judgments.columns.references)",
                judgments.source,
            )


def make_judgment_plan(loaded: LoadedTask[JudgmentSpec]) -> JudgmentPlan:
    """Return the plan of a task of judgments; raise :class:`InputError` with
    ``file:line`` for what does not fit together.
    """
    spec = loaded.spec
    metrics: list[MetricPlan] = []
    judges_pairs = spec.judgments.form not in ("captions", "mqm")
    for plan in planned_metrics(loaded, judges_pairs=judges_pairs):
        if not isinstance(plan, MetricPlan):
            raise InputError(
                f"metric '{plan.label}' judges token scores of a model, "
                "not captions: it has no agreement with people",
                loaded.where("metrics"),
            )
        metrics.append(plan)

    if spec.judgments.form in ("pairs", "foil", "keyed-pairs"):
        for name in spec.statistics:
            if name not in (*PAIR_STATISTICS, *SYSTEM_STATISTICS):
                raise InputError(
                    f"{name} needs rated captions; judgments of form "
                    f"{spec.judgments.form} have accuracy and statistics of systems",
                    loaded.where("statistics"),
                    value=name,
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
