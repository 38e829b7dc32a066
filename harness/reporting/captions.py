"""Views that show texts: per example the references beside what every model wrote (Chan et al. 2022, Figure 4 and appendix B.8)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, did_you_mean
from harness.reporting.console import decoding_text

Samples = Mapping[str, Sequence[Any]]
"""Columns as in samples.parquet."""
FIXED = ("model", "decoding", "example", "candidates", "references")


@dataclass(frozen=True)
class Texts:
    """Texts in their order, equal ones once with how often they occur, and the score of the whole set."""

    counted: tuple[tuple[str, int], ...]
    score: float | None = None

    @classmethod
    def of(cls, texts: Sequence[str], score: float | None = None) -> Texts:
        """``texts`` may repeat themselves: ten greedy captions are one caption, ten times."""
        counts: dict[str, int] = {}
        for text in texts:
            counts[text] = counts.get(text, 0) + 1
        return cls(tuple(counts.items()), score)


@dataclass(frozen=True)
class TextsRow:
    """One example; ``cells`` follow the table's heads, None where a model gave nothing."""

    example: str
    references: Texts
    cells: tuple[Texts | None, ...]


@dataclass(frozen=True)
class TextsTable:
    """A row per example, a column per model and decoding."""

    metric: str
    """The metric whose scores stand with the sets and order the examples; empty: none."""
    heads: tuple[str, ...]
    rows: tuple[TextsRow, ...]
    of: int
    """How many examples the run has."""

    @property
    def choice(self) -> str:
        """How the examples were chosen, in words."""
        if self.metric and len(self.heads) > 1:
            return (
                f"the {len(self.rows)} of {self.of} examples whose {self.metric} differs most, largest difference first"
            )
        if self.metric:
            return f"{len(self.rows)} of {self.of} examples, highest {self.metric} first"
        return f"{len(self.rows)} of {self.of} examples, evenly spread over the run"


def read_samples(run: Path) -> dict[str, list[Any]]:
    """The columns of a run's samples.parquet; none where it has no captions."""
    import pyarrow.parquet as pq

    file = run / "samples.parquet"
    return pq.read_table(file).to_pydict() if file.is_file() else {name: [] for name in FIXED}


def texts_table(view: Mapping[str, Any], samples: Samples) -> TextsTable:
    """The table of a ``texts`` view: ``examples`` rows; ``y`` a metric, by whose difference they are chosen, or ``"*"``.

    Ties go by the order of the run. Raises :class:`HarnessError` for a metric that has no score per example, naming the nearest.
    """
    metric = "" if view["y"] in ("*", ["*"]) else str(view["y"])
    scored = [name for name in samples if name not in FIXED]
    if metric and metric not in scored:
        raise HarnessError(
            f"a view of texts asks for the scores of '{metric}'{did_you_mean(metric, scored)}; there are {', '.join(scored)}"
        )
    columns = _columns(samples)
    heads = _heads(list(columns))
    ids = list(dict.fromkeys(samples["example"]))
    scores = samples[metric] if metric else None
    chosen = _chosen(ids, columns, scores, int(view.get("examples") or 6))
    rows = tuple(_row(name, columns, samples, scores) for name in chosen)
    return TextsTable(metric, heads, rows, len(ids))


def _columns(samples: Samples) -> dict[tuple[str, str], dict[str, int]]:
    """(model, decoding) -> example -> row of the samples, in the order of the run."""
    columns: dict[tuple[str, str], dict[str, int]] = {}
    for row, key in enumerate(zip(samples["model"], samples["decoding"])):
        columns.setdefault(key, {})[samples["example"][row]] = row
    return columns


def _heads(columns: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The models' names; with the decoding where a model has several."""
    several = len({decoding for _, decoding in columns}) > 1
    return tuple(f"{model} {decoding_text(json.loads(d))}".strip() if several else model for model, d in columns)


def _chosen(
    ids: Sequence[str],
    columns: Mapping[tuple[str, str], Mapping[str, int]],
    scores: Sequence[float | None] | None,
    count: int,
) -> list[str]:
    count = min(count, len(ids))
    if scores is None:
        return [ids[(2 * i + 1) * len(ids) // (2 * count)] for i in range(count)]

    def weight(name: str) -> float:
        own = [scores[rows[name]] for rows in columns.values() if name in rows]
        found = [float(score) for score in own if score is not None and not math.isnan(score)]
        if len(found) < len(columns):
            return -math.inf
        return max(found) - min(found) if len(columns) > 1 else found[0]

    return sorted(ids, key=weight, reverse=True)[:count]  # a stable sort: ties keep the order of the run


def _row(
    name: str,
    columns: Mapping[tuple[str, str], Mapping[str, int]],
    samples: Samples,
    scores: Sequence[float | None] | None,
) -> TextsRow:
    places = [rows.get(name) for rows in columns.values()]
    cells = [
        None if at is None else Texts.of(samples["candidates"][at], None if scores is None else scores[at])
        for at in places
    ]
    first = next(at for at in places if at is not None)
    return TextsRow(name, Texts.of(samples["references"][first]), tuple(cells))
