"""Events and their pairs as tables."""

from __future__ import annotations

import csv
import io
import itertools
import json
import logging

import pytest

import harness
from harness.contracts import Event, EventSet
from harness.errors import InputError
from harness.reporting.event_matching import find_matches
from harness.reporting.event_tables import event_tables
from harness_metrics.dense.matched import MatchedProtocol
from tests.support.event_runs import run_of, small_run, times


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_per_event_and_a_row_per_pair():
    run = small_run()
    tables = {name: rows(text) for name, text in event_tables(run)}
    events, pairs = tables["events.csv"], tables["pairs.csv"]

    # two annotators with two events and one, two videos, two systems
    sides = [row["side"] for row in events]
    assert (sides.count("annotator"), sides.count("candidate")) == (12, 4)
    assert {row["model"] for row in events} == {"good", "empty"}
    assert (events[0]["text"], events[0]["end"]) == ("a man runs", "4.0")

    matches = find_matches(run, ["v", "w"])
    expected = [
        (pair.prediction, pair.annotator, pair.reference, pair.overlap, pair.score)
        for of_system in matches.systems
        for (own,) in of_system.values()
        for pair in own
    ]
    names = ("prediction", "annotator", "reference", "overlap", "score")
    assert [tuple(float(row[name]) for name in names) for row in pairs] == expected
    assert {row["metric"] for row in pairs} == {matches.label}


def test_each_pair_names_two_events():
    tables = {name: rows(text) for name, text in event_tables(small_run())}
    keys = {
        (r["model"], r["example"], r["side"], r["number"], r["position"])
        for r in tables["events.csv"]
    }
    for row in tables["pairs.csv"]:
        own = row["model"], row["example"]
        assert (*own, "candidate", row["candidate"], row["prediction"]) in keys
        assert (*own, "annotator", row["annotator"], row["reference"]) in keys


def test_corners_are_a_list_in_one_cell():
    points = itertools.product((0.0, 1.0), repeat=3)
    corners = tuple(itertools.chain.from_iterable(points))
    box = EventSet((Event("a chair", corners),)).to_text()
    text = dict(event_tables(run_of({"s": {"v": [box]}}, {"v": [box]})))["events.csv"]
    assert [json.loads(row["corners"]) for row in rows(text)] == [list(corners)] * 2


def test_without_pairs_the_reason_is_said(monkeypatch, caplog):
    caplog.set_level(logging.WARNING)
    tables = dict(event_tables(small_run(["dense:protocol=soda-c"])))
    assert list(tables) == ["events.csv"]
    assert "no pairs.csv" in caplog.text
    assert "no metric of the run matches events one to one" in caplog.text

    run = small_run()
    changed = MatchedProtocol.scores_of
    monkeypatch.setattr(MatchedProtocol, "scores_of", lambda *a: changed(*a) + 0.01)
    assert list(dict(event_tables(run))) == ["events.csv"]
    assert "computes other scores than those of the run" in caplog.text


def test_captions_are_refused():
    run = run_of({"s": {"v": ["a dog"]}}, {"v": ["a dog"]}, ["rouge"])
    with pytest.raises(InputError, match="the captions are no sets of events"):
        list(event_tables(run))


def test_files_of_a_run_directory(tmp_path):
    one = times(("a dog", 0.0, 4.0))
    harness.score({"s": {"v": [one]}}, {"v": [one]}, "dense", output=tmp_path / "run")
    files = harness.export(tmp_path / "run", "events", tmp_path / "out")
    assert [path.name for path in files] == ["events.csv", "pairs.csv"]
    (pair,) = rows(files[1].read_text("utf-8"))
    assert (pair["overlap"], pair["decoding"]) == ("1.0", "{}")
