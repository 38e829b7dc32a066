"""Tasks of human judgments, as a kind of task: the entry ``judgments`` of
``task_kinds``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.judgments.judgment_models import JudgmentSpec
from harness.judgments.plan import JudgmentPlan, make_judgment_plan
from harness.reporting.table import Table
from harness.results import Comparison, Run
from harness.run.execution import Options
from harness.rundir.directory_check import Mode
from harness.spec.loading import LoadedTask


class JudgmentTasks:
    """Metrics on human judgments."""

    spec = JudgmentSpec

    def split(self, spec: JudgmentSpec) -> list[JudgmentSpec]:
        """Return one task per aspect of judgments whose column of scores is a mapping
        from aspects; else the task itself.
        """
        source = spec.judgments
        if not isinstance(source.columns.score, dict):
            return [spec]
        tasks: list[JudgmentSpec] = []
        for aspect, column in source.columns.score.items():
            columns = source.columns.model_copy(update={"score": column})
            judgments = source.model_copy(update={"columns": columns})
            changes = {"task": f"{spec.task}-{aspect}", "judgments": judgments}
            tasks.append(spec.model_copy(update=changes))
        return tasks

    def plan(self, loaded: LoadedTask[JudgmentSpec]) -> JudgmentPlan:
        """Return the plan of a task."""
        return make_judgment_plan(loaded)

    def execute(
        self,
        plan: JudgmentPlan,
        *,
        output: Path | None,
        mode: Mode,
        show: bool,
        options: Options | None,
    ) -> Run:
        """Execute a plan and return the finished run."""
        from harness.judgments.execute import execute

        return execute(plan, output=output, mode=mode, show=show, options=options)

    def compare(
        self,
        runs: Sequence[Run],
        baseline: str | None,
        metrics: Sequence[str] | None,
    ) -> list[Comparison]:
        """Return the tests between the metrics of a run."""
        from harness.judgments.metric_comparisons import metric_comparisons

        return metric_comparisons(runs, baseline, metrics)

    def table_of_run(self, run: Run) -> Table:
        """Return the metrics of a run by agreement."""
        from harness.judgments.league import LeagueSet
        from harness.judgments.league_tables import set_table

        return set_table(LeagueSet(run))

    def table_of_runs(self, runs: Sequence[Run]) -> Table:
        """Return metrics by sets."""
        from harness.judgments.league import League, LeagueSet
        from harness.judgments.league_tables import league_table

        return league_table(League(tuple(LeagueSet(run) for run in runs)))


TASKS = JudgmentTasks()
