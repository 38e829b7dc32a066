"""Agreement of one metric with people: every statistic of a task as a function of item
weights.
"""

from __future__ import annotations

from harness.judgments.judgment_models import PAIR_STATISTICS, SYSTEM_STATISTICS
from harness.judgments.metric_scores import COUNTS, Agreement, MetricScores, mean_of
from harness.judgments.pair_credit import PairCredit
from harness.judgments.rated_agreement import agree_on_ratings
from harness.judgments.rows import ALL, MEAN, JudgmentRows
from harness.judgments.system_agreement import system_agreement


def agreements(
    rows: JudgmentRows, metric: MetricScores, statistic: str
) -> dict[str, Agreement]:
    """Return group -> agreement of a metric with people by one statistic."""
    if statistic in SYSTEM_STATISTICS:
        return {ALL: system_agreement(rows, metric, statistic)}

    names = [name for name in rows.group_names if name != MEAN]
    if statistic in PAIR_STATISTICS:
        credit = PairCredit.of(rows, metric)
        of_group = {name: credit.agreement(credit.mask(name)) for name in names}
    else:
        of_group = {
            name: agree_on_ratings(rows, metric, statistic, name) for name in names
        }
    if MEAN in rows.group_names:
        members = [agreement for name, agreement in of_group.items() if name != ALL]
        of_group[MEAN] = _mean(members, of_group[ALL])
    return of_group


def _mean(members: list[Agreement], of_all: Agreement) -> Agreement:
    """Return the mean over groups, with the numbers of items and captions of all."""
    counts = of_all.details
    return Agreement(
        mean_of([agreement.reduce for agreement in members]),
        sum(agreement.n for agreement in members),
        sum(agreement.skipped for agreement in members),
        {name: counts[name] for name in COUNTS if name in counts},
    )
