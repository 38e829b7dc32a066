"""Paired comparisons of the systems of a run within slices of its examples
(:mod:`harness.rundir.slices`).

The tests are those of all examples (:mod:`harness.analysis.paired_family`) on the
examples of a slice. Their p-values are adjusted by Holm over all slices and pairs of a
metric together, apart from those of the comparisons of all examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.analysis.compare import DRAWS, adjusted, row_name, select_metrics
from harness.analysis.comparison_frame import Frame
from harness.analysis.comparison_rows import comparison_row, row_without_verdict
from harness.analysis.comparisons import Comparison
from harness.analysis.paired_family import PairedMetric, SystemData, paired_tests
from harness.analysis.pairs import ComparedRun, Pair, pairs, pairs_against
from harness.analysis.stored_comparisons import StoredComparisons
from harness.contracts import Parameters
from harness.run.finished import Run
from harness.run.progress import bar
from harness.rundir.slices import Slice, find_slices
from harness.stats.bootstrap import number_clusters
from harness.stats.draws import DrawFamily

ADJUSTED = (
    "p (Holm) of slices: adjusted over all slices and pairs of systems of a metric "
    "together"
)
"""Sentence on the p-values, for notes below tables."""


def compare_slices(
    run: str | Path | Run,
    columns: Sequence[str],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    show: bool = False,
) -> list[Comparison]:
    """Return the comparisons of the systems of a run within each slice,
    one row per slice, pair and metric.

    Those of a run in a directory are kept in its ``comparisons.json``, beside those of
    all examples.

    Parameters
    ----------
    run : str, Path or Run
        A run directory, or a run.
    columns : sequence of str
        Columns of the metadata; every value of each is a slice.
    baseline, metrics, draws, seed, show
        As for :func:`harness.compare`.

    Raises
    ------
    InputError
        As :func:`harness.rundir.slices.slice_values`.
    HarnessError
        The run has fewer than two systems, or no such baseline or metric.
    """
    side = ComparedRun.open(run)
    compared = pairs([side]) if baseline is None else pairs_against([side], baseline)
    frame = Frame()
    for pair in compared:
        frame.add(pair)

    jobs = [(pair, name) for pair in compared for name in select_metrics(pair, metrics)]
    slices = _slices(side, frame, columns)
    store = StoredComparisons.of([side.run], draws, seed)
    keys = {
        piece.name: [f"{row_name(*job)}|{piece.name}" for job in jobs]
        for piece in slices
    }
    missing = [
        piece
        for piece in slices
        if any(key not in store.rows for key in keys[piece.name])
    ]
    if missing:
        count = len(missing) * len(jobs)
        with (
            bar("comparisons of slices", count, show=show, unit="tests") as advance,
            store.adding() as add,
        ):
            for piece in missing:
                rows = _compare(frame, jobs, piece, draws, seed)
                for key, row in zip(keys[piece.name], rows):
                    add(key, row)
                    advance(1)

    return adjusted(
        [
            replace(store.rows[key], signature=pair.signature(name))
            for piece in slices
            for key, (pair, name) in zip(keys[piece.name], jobs)
        ]
    )


def _slices(side: ComparedRun, frame: Frame, columns: Sequence[str]) -> list[Slice]:
    """Return the slices of the examples of a frame,
    from the metadata of the samples.
    """
    metas: dict[str, Parameters] = {}
    metadata = side.run.samples.metadata
    for system in side.run.samples.systems:
        metas.update(
            (example, metadata[int(row)])
            for example, row in zip(system.examples, system.rows)
        )
    limited = side.run.provenance.spec.get("limit") is not None
    return find_slices(
        lambda: (metas[example] for example in frame.examples), columns, limited=limited
    )


def _compare(
    frame: Frame, jobs: Sequence[tuple[Pair, str]], piece: Slice, draws: int, seed: int
) -> list[Comparison]:
    """Return the comparisons of pairs and metrics on the examples of one slice,
    before they are adjusted.
    """
    clusters = frame.clusters()
    if clusters is not None:
        clusters = number_clusters(clusters[piece.mask])
    units = int(piece.mask.sum()) if clusters is None else int(clusters.max()) + 1
    family = DrawFamily(units, draws, seed)

    differing = [pair.size_difference(name) for pair, name in jobs]
    # of one system for all its pairs, whose numbers are then computed once
    sides: dict[int, SystemData] = {}
    items: list[PairedMetric] = []
    for (pair, name), text in zip(jobs, differing):
        if not text:
            item = frame.item(pair, name)
            narrow = item.restrict(piece.mask)
            a, b = (
                sides.setdefault(id(whole), data)
                for whole, data in ((item.a, narrow.a), (item.b, narrow.b))
            )
            items.append(PairedMetric(item.metric, a, b))
    tests = paired_tests(items, family, clusters)

    # by pair: examples that both systems have, and that one of them has
    counts: dict[int, tuple[int, int]] = {}
    rows: list[Comparison] = []
    for (pair, name), text in zip(jobs, differing):
        if id(pair) not in counts:
            counts[id(pair)] = _count_examples(frame, pair, piece)
        in_both, in_one = counts[id(pair)]
        if text:  # its numbers are those of all examples
            row = replace(
                row_without_verdict(pair, name, text), a=None, b=None, n=in_both
            )
        else:
            row = comparison_row(pair, name, next(tests))
        rows.append(replace(row, slice=piece.name, left_out=in_one - row.n))
    return rows


def _count_examples(frame: Frame, pair: Pair, piece: Slice) -> tuple[int, int]:
    """Return the number of examples of a slice that both systems of a pair have, and
    that at least one of them has.
    """
    names = [name for name, is_in in zip(frame.examples, piece.mask) if is_in]
    has_a, has_b = (
        np.array([example in system.row_of for example in names])
        for system in (pair.a, pair.b)
    )
    return int((has_a & has_b).sum()), int((has_a | has_b).sum())
