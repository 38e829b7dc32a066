"""Paired comparisons of systems, within slices too, and the equality of two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

from harness.analysis import compare as paired
from harness.analysis.comparisons import Comparisons
from harness.analysis.differing_examples import differing_most
from harness.analysis.identical import Identity, compare_identical
from harness.analysis.pairs import ComparedRun, Pair, open_sides, pairs, pairs_against
from harness.analysis.rankings import rankings
from harness.analysis.score_declarations import Bounds
from harness.analysis.slices import compare_slices
from harness.errors import HarnessError, InputError
from harness.run.finished import Run

SHOWN_EXAMPLES = 3
"""Number of examples that the comparison of one pair shows."""


@overload
def compare(
    run_a: str | Path, run_b: str | Path, *, identical: Literal[True]
) -> Identity: ...


@overload
def compare(
    run_a: str | Path | Run,
    run_b: str | Path | Run | None = None,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    by: Sequence[str] = (),
    force: bool = False,
    equalise: bool = False,
    anytime: bool = False,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    bounds: Bounds | Mapping[str, Bounds] | None = None,
    examples: int | None = None,
    draws: int = paired.DRAWS,
    seed: int = 0,
    show: bool = False,
) -> Comparisons: ...


def compare(
    run_a: str | Path | Run,
    run_b: str | Path | Run | None = None,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    by: Sequence[str] = (),
    force: bool = False,
    equalise: bool = False,
    anytime: bool = False,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    bounds: Bounds | Mapping[str, Bounds] | None = None,
    examples: int | None = None,
    identical: bool = False,
    draws: int = paired.DRAWS,
    seed: int = 0,
    show: bool = False,
) -> Comparisons | Identity:
    """Return paired comparisons of the systems of one run or of two, one row per pair
    and metric.

    Parameters
    ----------
    run_a, run_b, baseline, metrics, force, equalise, anytime, lower_is_better,
        higher_is_better, bounds, draws, seed, show
        As for :func:`harness.analysis.compare.compare`.
    by : sequence of str
        Columns of the metadata: one run is compared within the slices that their values
        make (:func:`harness.analysis.slices.compare_slices`).
    examples : int, optional
        Number of examples on which the systems of a single pair differ most; default:
        3 where there is one pair.
    identical : bool
        Return instead whether two whole runs have the same numbers, intervals,
        p-values, captions and scores.

    Raises
    ------
    HarnessError
        The runs share no system, no example or no metric, or differ in what ``force``
        names; a metric of a log has no clear direction, or scores outside its bounds.
    """
    if identical:
        return _compare_whole(run_a, run_b)
    if by:
        others = {
            "a second run": run_b,
            "equalise=True": equalise,
            "anytime=True": anytime,
            f"examples={examples}": examples,
        }
        return _compare_within(
            run_a,
            by,
            others,
            baseline=baseline,
            metrics=metrics,
            draws=draws,
            seed=seed,
            show=show,
        )

    runs = [run_a, *([run_b] if run_b else [])]
    pair = _only_pair(runs, baseline, examples)
    rows = paired.compare(
        run_a,
        run_b,
        baseline=baseline,
        metrics=metrics,
        force=force,
        equalise=equalise,
        anytime=anytime,
        lower_is_better=lower_is_better,
        higher_is_better=higher_is_better,
        bounds=bounds,
        draws=draws,
        seed=seed,
        show=show,
    )
    count = SHOWN_EXAMPLES if examples is None else examples
    top_examples = differing_most(pair, rows[0].metric, count) if pair else ()
    return Comparisons(rows, rows.notes, rankings(rows), top_examples)


def _compare_whole(run_a: str | Path | Run, run_b: str | Path | Run | None) -> Identity:
    if run_b is None or "::" in f"{run_a}{run_b}":
        raise InputError(
            "identical=True compares two whole runs, RUN_A and RUN_B",
            parameter="identical",
        )
    return compare_identical(run_a, run_b)


def _compare_within(
    run: str | Path | Run,
    by: Sequence[str],
    others: Mapping[str, object],
    **options: Any,
) -> Comparisons:
    """Return the comparisons within slices; raise :class:`HarnessError` for ``others``,
    parameters of other comparisons.
    """
    for name, value in others.items():
        if value:
            raise HarnessError(
                "by compares the systems of one run within slices, "
                f"and cannot be combined with {name}",
                parameter="by",
            )
    return Comparisons(compare_slices(run, by, **options))


def _only_pair(
    runs: Sequence[str | Path | Run], baseline: str | None, examples: int | None
) -> Pair | None:
    """Return the pair of systems where there is one alone; raise :class:`HarnessError`
    for ``examples`` of several pairs.
    """
    if examples == 0:
        return None
    sides: Sequence[ComparedRun] = open_sides(runs)
    if any(side.run.provenance.kind for side in sides):
        if examples:
            raise HarnessError(
                "examples belongs to systems of models; "
                "a run of judgments compares metrics",
                parameter="examples",
            )
        return None
    compared = pairs(sides) if baseline is None else pairs_against(sides, baseline)
    if len(compared) != 1 and examples:
        raise HarnessError(
            f"examples belongs to one pair of systems; there are {len(compared)}: "
            "choose with RUN::MODEL",
            parameter="examples",
        )
    return compared[0] if len(compared) == 1 else None
