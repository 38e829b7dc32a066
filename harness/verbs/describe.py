"""Description of captions: how a file is read, sizes, lengths, vocabulary, repeated
captions, events and their gaps, and the agreement of people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.analysis.description import describe_captions
from harness.analysis.event_description import describe_event_sets
from harness.api import MetricResult, score
from harness.contracts import (
    Events,
    EventSet,
    Reading,
    Values,
    VerbResult,
    arrow_table,
    is_event_set,
)
from harness.errors import InputError, escape_controls
from harness.reporting.table import Table, heading, interval_text, number
from harness.run.advice_spelling import KEYWORD_SPELLING, respell
from harness.run.captions_by_id import read_described
from harness.run.file_options import FileOptions

SHOWN_CHARACTERS = 100
"""Number of characters of a caption that a reading shows."""


@dataclass(frozen=True)
class Description(VerbResult):
    """Numbers of the captions of some files, and how the files are read."""

    files: Sequence[str]
    numbers: Mapping[str, float]
    """Name of a number -> number."""
    agreement: Mapping[str, MetricResult]
    """Metric -> score of one caption of each example against its others."""
    readings: Sequence[Reading]
    compared: int
    """Number of examples with two or more captions."""

    def to_dict(self) -> Values:
        """Return numbers, agreement and readings."""
        return {
            "numbers": dict(self.numbers),
            "agreement": {
                name: {"value": result.value, "ci95": result.ci95}
                for name, result in self.agreement.items()
            },
            "readings": [reading.to_dict() for reading in self.readings],
        }

    def to_arrow(self) -> Any:
        """Return a row for each number, and for each metric of the agreement."""
        rows = [{"name": name, "value": float(v)} for name, v in self.numbers.items()]
        rows += [
            {"name": f"agreement, {name}", "value": result.value, "ci95": result.ci95}
            for name, result in self.agreement.items()
        ]
        return arrow_table(rows)

    def blocks(self) -> Iterator[Table | str]:
        """Yield the readings with their first captions, then the table."""
        for reading in self.readings:
            yield from _reading_lines(reading)

        rows = [
            [name, f"{value:,}" if isinstance(value, int) else number(value), ""]
            for name, value in self.numbers.items()
        ]
        for result in self.agreement.values():
            name = heading(result.metric, result.higher_is_better)
            interval = interval_text(result.ci95)
            rows.append([f"agreement, {name}", number(result.value), interval])
        note = (
            f"agreement: one caption of each of {self.compared:,} examples with two or "
            "more against its others"
        )
        headers = ["", "value", "95 % interval"]
        title = ", ".join(self.files)
        groups = frozenset({len(self.numbers)})
        yield Table(headers, rows, "lrr", title, [note], groups=groups)


def describe(
    *files: str | Path,
    metrics: Sequence[str] | None = None,
    events: Events | None = None,
    seed: int = 0,
) -> Description:
    """Describe the captions of a file of references or candidates, or of several files
    that each have some references of all examples.

    Parameters
    ----------
    *files : str or Path
        Files in any form of docs/data-formats.md.
    metrics : sequence of str, optional
        Metrics of the agreement, the score of one caption of each example, drawn at
        random, against the others; default: those of :func:`harness.score`.
    events : {"paragraph", "separate", "sets"}, optional
        Texts with times, as for :func:`harness.score`; default: sets of events, whose
        lengths, gaps and overlaps are described. Their agreement needs ``metrics`` of
        events.
    seed : int
        Seed of the drawn captions.

    Raises
    ------
    InputError
        A file cannot be read, no example has a caption, or ``metrics`` are given and no
        example has two.
    """
    paths = [str(file) for file in files]
    try:
        captions, readings = _read(paths, events)
    except InputError as error:
        raise respell(error, KEYWORD_SPELLING) from error
    if not captions:
        raise InputError("no example has a reference", paths[0])
    texts = [text for of_example in captions.values() for text in of_example]
    is_of_events = bool(texts) and all(map(is_event_set, texts))
    candidates, others = _draw_captions(captions, seed)
    if metrics and not candidates:
        raise InputError(
            "the agreement needs an example with two captions; no example has two",
            paths[0],
        )
    agreement: Mapping[str, MetricResult] = {}
    if candidates and (metrics or not is_of_events):
        agreement = score(candidates, others, metrics or None, seed=seed)
    if is_of_events:
        numbers = describe_event_sets(
            {key: [*map(EventSet.from_text, own)] for key, own in captions.items()}
        )
    else:
        numbers = describe_captions(captions)
    return Description(paths, numbers, agreement, readings, len(candidates))


def _read(
    paths: Sequence[str], events: Events | None
) -> tuple[dict[str, tuple[str, ...]], list[Reading]]:
    """Return the captions by id and the readings of files; without a choice texts with
    times or boxes are sets of events.
    """
    try:
        return read_described(paths, FileOptions(events=events or ""))
    except InputError as error:
        if events is not None or error.parameter != "events":
            raise
    return read_described(paths, FileOptions(events="sets"))


def _draw_captions(
    captions: Mapping[str, Sequence[str]], seed: int
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return a random caption of each example that has two or more, and its others."""
    rng = np.random.default_rng(seed)
    candidates: dict[str, str] = {}
    others: dict[str, list[str]] = {}
    for key, references in captions.items():
        texts = [text for text in references if text.strip()]
        if len(texts) > 1:
            drawn = [texts[k] for k in rng.permutation(len(texts))]
            candidates[key] = drawn[0]
            others[key] = drawn[1:]
    return candidates, others


def _reading_lines(reading: Reading) -> Iterator[str]:
    """Yield how a file is read in one role, with its first captions."""
    yield f"as {reading.role}: {escape_controls(reading.line())}"
    for key, texts in reading.examples.items():
        captions = [
            _events_text(text) if is_event_set(text) else text for text in texts
        ]
        cut = [
            text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
            for text in captions
        ]
        quoted = ", ".join(map(repr, cut)) or "none"
        yield f"  {key!r}: {escape_controls(quoted)}"


def _events_text(text: str) -> str:
    """Return the first events of a set as a line."""
    events = EventSet.from_text(text).events
    parts = [
        f"{event.place[0]:g} to {event.place[1]:g} s: {event.text}"
        if event.geometry == "time"
        else f"{event.label or 'a box'}: {event.text}"
        for event in events[:SHOWN_CHARACTERS]
    ]
    return "; ".join(parts) or "no events"
