"""Events of a row of samples.parquet as records."""

from __future__ import annotations

from harness.contracts import Event, EventSet
from harness.rundir.parquet import RECORDS, column_kinds, encode_columns, table_of
from harness.rundir.sample_events import (
    EVENT_FIELDS,
    EVENTS,
    EventColumn,
    event_records,
    event_type,
)
from tests.support.event_runs import times

FIRST = times(("a dog", 0.0, 2.5), ("a cat", 2, 4))
SECOND = times(("a pet", 1.0, 3.0))
BOX = EventSet((Event("a", (1.0, 2.0, 3.0, 4.0), 0.25, "dog"),)).to_text()
CORNERS = tuple(float(k) for k in range(24))
SOLID = EventSet((Event("b", CORNERS, 1),)).to_text()


def test_candidates_come_before_annotators_and_positions_begin_at_zero():
    records = event_records([FIRST], [SECOND, EventSet(()).to_text(), FIRST])
    keys = [(r["side"], r["number"], r["position"], r["text"]) for r in records]
    assert keys == [
        ("candidate", 0, 0, "a dog"),
        ("candidate", 0, 1, "a cat"),
        ("annotator", 0, 0, "a pet"),
        ("annotator", 2, 0, "a dog"),
        ("annotator", 2, 1, "a cat"),
    ]
    assert [(r["start"], r["end"]) for r in records[:2]] == [(0.0, 2.5), (2.0, 4.0)]
    assert {tuple(record) for record in records} == {EVENT_FIELDS}


def test_places_of_other_geometries_are_numbers_too():
    box, solid = event_records([BOX], [SOLID])
    assert [box[n] for n in ("left", "top", "right", "bottom")] == [1.0, 2.0, 3.0, 4.0]
    assert (box["score"], box["label"]) == (0.25, "dog")
    assert (box["start"], box["end"], box["corners"]) == (None, None, None)
    assert (solid["corners"], solid["left"]) == (list(CORNERS), None)
    assert (solid["score"], solid["label"]) == (1.0, None)


def test_captions_and_missing_sets_have_no_events():
    missing = EventSet((), missing=True).to_text()
    assert event_records(["a dog", missing], []) == []


def test_lone_surrogates_are_escaped():
    text = EventSet((Event("é\ud800", (0.0, 1.0), label="\udc80"),)).to_text()
    (record,) = event_records([text], [])
    assert (record["text"], record["label"]) == ("é\\ud800", "\\udc80")


def test_a_column_reads_its_texts_when_it_is_asked():
    column = EventColumn([[FIRST], ["no set"]], [[SECOND], []])
    assert len(column) == 2 and column[-1] == [] == list(column)[1]
    assert column[0] == event_records([FIRST], [SECOND]) == column[:1][0]


def test_arrow_holds_the_records_of_every_geometry(tmp_path):
    column = EventColumn([[FIRST], [BOX], [SOLID], []], [[SECOND], [], [], []])
    table = table_of({EVENTS: list(column)}, {EVENTS: event_type()})
    assert table[EVENTS].to_pylist() == list(column)
    assert table.schema.field(EVENTS).type == event_type()
    path = tmp_path / "s.parquet"
    path.write_bytes(encode_columns({EVENTS: list(column)}, [(0, 4)]))
    assert column_kinds(path) == {EVENTS: RECORDS}
