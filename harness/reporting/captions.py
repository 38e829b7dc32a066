"""Views of texts: per example the references beside the candidates of every model (Chan et al. 2022, Figure 4 and appendix B.8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import HarnessError, did_you_mean
from harness.rundir.samples import SampleTable, System
from harness.spec.models import ViewSpec

DEFAULT_EXAMPLES = 6
"""Number of examples of a view that names none."""


@dataclass(frozen=True)
class Texts:
    """Texts in their order, equal ones once with their number of occurrences, and the score of the set."""

    counted: tuple[tuple[str, int], ...]
    score: float | None = None

    @classmethod
    def of(cls, texts: Sequence[str], score: float | None = None) -> Texts:
        """Return the texts with equal ones counted: ten greedy captions are one caption, ten times."""
        counts: dict[str, int] = {}
        for text in texts:
            counts[text] = counts.get(text, 0) + 1
        return cls(tuple(counts.items()), score)


@dataclass(frozen=True)
class TextsRow:
    """One example; ``cells`` follow the heads of the table, None where a model has no candidates."""

    example: str
    references: Texts
    cells: tuple[Texts | None, ...]


@dataclass(frozen=True)
class TextsTable:
    """Table with a row per example and a column per model and decoding."""

    metric: str
    """Metric whose scores are shown and order the examples; empty: none."""
    heads: tuple[str, ...]
    rows: tuple[TextsRow, ...]
    of: int
    """Number of examples of the run."""

    @property
    def choice(self) -> str:
        """Sentence on the choice of the examples."""
        if self.metric and len(self.heads) > 1:
            return (
                f"the {len(self.rows)} of {self.of} examples whose {self.metric} differs most, largest difference first"
            )
        if self.metric:
            return f"{len(self.rows)} of {self.of} examples, highest {self.metric} first"
        return f"{len(self.rows)} of {self.of} examples, evenly spread over the run"


def texts_table(view: ViewSpec, samples: SampleTable) -> TextsTable:
    """Return the table of a ``texts`` view: ``examples`` rows, selected by the differences of the metric ``y``, or evenly for ``"*"``.

    Ties follow the order of the run. Raises :class:`HarnessError` with the nearest name for a metric that has no score per
    example.
    """
    metric = "" if view.metrics == ["*"] else view.metrics[0]
    scored = samples.scored_columns
    if metric and metric not in scored:
        raise HarnessError(
            f"a view of texts asks for the scores of '{metric}'{did_you_mean(metric, scored)}; there are {', '.join(scored)}"
        )
    systems = samples.systems
    ids = list(dict.fromkeys(samples.texts("example")))
    scores = [system.scores(metric) for system in systems] if metric else None
    selected = _chosen(ids, systems, scores, view.examples or DEFAULT_EXAMPLES)
    rows = tuple(_row(name, systems, scores) for name in selected)
    return TextsTable(metric, system_heads(systems), rows, len(ids))


def system_heads(systems: Sequence[System]) -> tuple[str, ...]:
    """Return the names of the models, with the decoding where a run has several."""
    several = len({system.decoding_key for system in systems}) > 1
    return tuple(system.label if several else system.model for system in systems)


def _chosen(
    ids: Sequence[str], systems: Sequence[System], scores: Sequence[np.ndarray] | None, count: int
) -> list[str]:
    count = min(count, len(ids))
    if scores is None:
        return [ids[(2 * i + 1) * len(ids) // (2 * count)] for i in range(count)]

    def weight(example: str) -> float:
        values = [s[system.row_of[example]] for system, s in zip(systems, scores) if example in system.row_of]
        defined = [float(value) for value in values if not math.isnan(value)]
        if len(defined) < len(systems):
            return -math.inf
        return max(defined) - min(defined) if len(systems) > 1 else defined[0]

    return sorted(ids, key=weight, reverse=True)[:count]  # a stable sort: ties keep the order of the run


def _row(example: str, systems: Sequence[System], scores: Sequence[np.ndarray] | None) -> TextsRow:
    cells: list[Texts | None] = []
    references: tuple[str, ...] = ()
    for index, system in enumerate(systems):
        if example not in system.row_of:
            cells.append(None)
            continue
        position = system.row_of[example]
        row = int(system.rows[position])
        references = references or system.table.lists("references")[row]
        score = None if scores is None else float(scores[index][position])
        cells.append(Texts.of(system.table.lists("candidates")[row], None if score != score else score))
    return TextsRow(example, Texts.of(references), tuple(cells))
