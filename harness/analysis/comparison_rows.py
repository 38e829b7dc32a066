"""Rows of comparisons from the tests of a pair, and without a test."""

from __future__ import annotations

from dataclasses import replace

from harness.analysis.comparisons import Comparison, finite
from harness.analysis.paired_family import PairedTests
from harness.analysis.pairs import Pair


def row_without_verdict(pair: Pair, metric: str, reason: str) -> Comparison:
    """Return the comparison of two numbers that have no common scale: the numbers,
    and why they do not compare.
    """
    return replace(
        untested_row(pair, metric, f"no verdict: {reason}"), sizes_differ=True
    )


def untested_row(pair: Pair, metric: str, note: str) -> Comparison:
    """Return the comparison of two numbers that are not tested: the numbers,
    and why.
    """
    a = pair.one.record(pair.a, metric)
    b = pair.other.record(pair.b, metric)
    common = sum(name in pair.b.row_of for name in pair.a.examples)
    row = comparison_row(pair, metric, PairedTests(None, note, None, common, 0, 0, 0))
    return replace(row, a=a and finite(a.value), b=b and finite(b.value))


def comparison_row(pair: Pair, metric: str, outcome: PairedTests) -> Comparison:
    """Return the comparison of a pair by a metric from its tests."""
    record = pair.one.record(pair.a, metric)
    reported = outcome.reported
    signs = outcome.signs
    row = Comparison(
        metric=metric,
        system_a=pair.labels[0],
        system_b=pair.labels[1],
        higher_is_better=record.higher_is_better if record is not None else None,
        note="; ".join(filter(None, (outcome.note, *pair.score_notes(metric)))),
        n=outcome.n,
        left_out=len(set(pair.a.examples) | set(pair.b.examples)) - outcome.n,
        sign_p_value=signs.p_randomisation if signs else None,
        a_larger=outcome.a_larger,
        b_larger=outcome.b_larger,
        ties=outcome.ties,
    )

    if reported is None:
        return row
    numbers = {
        name: finite(getattr(reported, name))
        for name in ("a", "b", "difference", "p_value", "p_bootstrap")
    }
    return replace(
        row, **numbers, ci95=outcome.ends, draws=reported.draws, exact=reported.exact
    )
