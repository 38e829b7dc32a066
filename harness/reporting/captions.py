"""Views of texts: per example the references beside the candidates of every model (Chan
et al. 2022, Figure 4 and appendix B.8).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from harness.errors import HarnessError
from harness.reporting.table import Table, number, shown_names, shown_quantity
from harness.reporting.views import shown_view
from harness.rundir.records import ResultRecord, text_of_fields, varying_fields
from harness.rundir.samples import SampleTable, System
from harness.spec.models import ViewSpec

DEFAULT_EXAMPLES = 6
"""Number of examples of a view that names none."""


def texts_table(
    view: ViewSpec, samples: SampleTable, records: Sequence[ResultRecord] = ()
) -> Table:
    """Return the table of a ``texts`` view: a row per example, its references beside
    the candidates of every model.

    Equal texts of a cell are one line with their number: ten greedy captions are one
    caption, ten times. ``examples`` rows are selected by the differences of the metric
    ``y``, or evenly for ``"*"``; ties follow the order of the run. The data have a row
    per distinct text. Metrics have the names that the ``records`` of the run give them.
    Raises :class:`HarnessError` with the nearest name for a metric that has no score
    per example.
    """
    metric = "" if view.metrics == ["*"] else view.metrics[0]
    scored = samples.scored_columns
    if metric and metric not in scored:
        raise HarnessError.of_name(
            "a view of texts asks for the scores of", metric, scored, "there are"
        )

    systems = samples.systems
    ids = list(dict.fromkeys(samples.texts("example")))
    scores = [system.scores(metric) for system in systems] if metric else None
    selected = select_examples(ids, systems, scores, view.examples or DEFAULT_EXAMPLES)

    name = shown_quantity(metric, shown_names(records))
    heads = ["references", *system_heads(systems)]
    rows: list[list[str]] = []
    data: list[list[object]] = [
        ["example", "source", metric or "score", "times", "text"]
    ]
    for example in selected:
        row = [example]
        for head, (counts, score) in zip(heads, _text_counts(example, systems, scores)):
            row.append("\n".join(_cell_lines(counts, score, name)))
            data += [
                [example, head, "" if score is None else score, times, text]
                for text, times in counts.items()
            ]
        rows.append(row)

    choice = _choice(name, len(systems), len(rows), len(ids))
    return Table(
        ["example", *heads],
        rows,
        "l" * (1 + len(heads)),
        f"{shown_view(view, records).heading}: {choice}",
        [view.remark] if view.remark else [],
        data=data,
    )


def _choice(metric: str, systems: int, rows: int, examples: int) -> str:
    """Return the sentence on the choice of the examples."""
    if metric and systems > 1:
        return (
            f"the {rows} of {examples} examples whose {metric} differs most, "
            "largest difference first"
        )
    order = f"highest {metric} first" if metric else "evenly spread over the run"
    return f"{rows} of {examples} examples, {order}"


def system_heads(systems: Sequence[System]) -> tuple[str, ...]:
    """Return the names of the models of a run,
    with what tells their decodings apart where it has several.
    """
    varying = varying_fields(system.decoding for system in systems)
    return tuple(
        f"{system.model} {text_of_fields(system.decoding, varying)}".strip()
        for system in systems
    )


def select_examples(
    ids: Sequence[str],
    systems: Sequence[System],
    scores: Sequence[np.ndarray] | None,
    count: int,
) -> list[str]:
    """Return the examples whose scores differ most between the systems, of one system
    the best ones, without scores some of them evenly.
    """
    count = min(count, len(ids))
    if scores is None:
        # the middle of each of ``count`` equal parts of the run
        return [ids[(2 * i + 1) * len(ids) // (2 * count)] for i in range(count)]

    def weight(example: str) -> float:
        values = [
            s[system.row_of[example]]
            for system, s in zip(systems, scores)
            if example in system.row_of
        ]
        defined = [float(value) for value in values if not math.isnan(value)]
        # an example that some system lacks comes after all others
        if len(defined) < len(systems):
            return -math.inf
        return max(defined) - min(defined) if len(systems) > 1 else defined[0]

    # a stable sort: ties keep the order of the run
    return sorted(ids, key=weight, reverse=True)[:count]


def _text_counts(
    example: str, systems: Sequence[System], scores: Sequence[np.ndarray] | None
) -> Iterator[tuple[Counter[str], float | None]]:
    """Yield the texts of an example with their numbers and the score of the set: its
    references, then each system's candidates.
    """
    positions = [system.row_of.get(example) for system in systems]
    sets = [
        None if position is None else system.caption_sets([position])[0]
        for system, position in zip(systems, positions)
    ]

    # the references are those of the first system that has the example
    references = next((item.references for item in sets if item is not None), ())
    yield Counter(references), None

    for index, (position, item) in enumerate(zip(positions, sets)):
        if position is None or item is None:
            yield Counter(), None
            continue
        score = math.nan if scores is None else float(scores[index][position])
        yield Counter(item.candidates), None if math.isnan(score) else score


def _cell_lines(
    counts: Counter[str], score: float | None, metric: str
) -> Iterator[str]:
    """Yield the score of a set and its texts, a line each."""
    if score is not None:
        yield f"{metric} {number(score)}"
    for text, times in counts.items():
        line = " ".join(text.split())
        yield line if times == 1 else f"{line} (x {times})"
