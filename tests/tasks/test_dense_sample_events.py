"""Events of the sample that ships as rows of a table."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pyarrow.parquet as parquet
import pytest

import harness
import harness.api
from harness.analysis.identical import compare_identical
from harness.contracts import EventSet
from harness.hub import push
from harness.results import Run, SampleTable
from harness.run.execution import Options
from harness.run.merge import merge
from harness.run.shard_grid import Part
from harness.rundir.sample_events import EVENT_FIELDS, EVENTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The directory of a run of the shipped task."""
    path = tmp_path_factory.mktemp("sample") / "run"
    harness.evaluate("dense-sample", output=path)
    return path


@pytest.mark.slow
def test_exploded_events_are_those_of_the_texts(folder):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(folder / "samples.parquet")
    rows = frame[["model", "example", "events"]].explode("events").dropna()
    events = pandas.json_normalize(rows["events"].tolist())
    assert list(events.columns) == list(EVENT_FIELDS)

    sets = [
        (model, example, side, number, EventSet.from_text(text))
        for model, example, candidates, references in zip(
            frame["model"], frame["example"], frame["candidates"], frame["references"]
        )
        for side, texts in (("candidate", candidates), ("annotator", references))
        for number, text in enumerate(texts)
    ]
    expected = [
        (model, example, side, number, position, event.text, *event.place)
        for model, example, side, number, own in sets
        for position, event in enumerate(own.events)
    ]
    names = ["side", "number", "position", "text", "start", "end"]
    found = zip(rows["model"], rows["example"], *(events[name] for name in names))
    assert list(found) == expected and len(expected) > 200


@pytest.mark.slow
def test_the_column_is_no_score_and_needs_no_text(folder):
    run = Run.open(folder)
    assert EVENTS in run.samples.names
    assert EVENTS not in (*run.samples.metrics, *run.samples.scored_columns)
    assert EVENTS in run.samples_frame().columns
    pytest.importorskip("datasets")
    (first, *_) = run.to_dataset()[EVENTS]
    assert first == run.samples[EVENTS][0]


@pytest.mark.slow
def test_references_that_are_left_out_are_not_among_the_events(folder, tmp_path):
    for name, references in (("with", True), ("without", False)):
        push(folder, to=tmp_path / name, references=references)
        table = parquet.read_table(tmp_path / name / "samples.parquet")
        assert (EVENTS in table.column_names) is references
        assert ("references" in table.column_names) is references


@pytest.mark.slow
def test_a_file_of_an_earlier_version_is_read_and_is_identical(folder, tmp_path):
    run = Run.open(folder)
    path = tmp_path / "samples.parquet"
    parquet.write_table(run.samples.to_arrow().drop_columns([EVENTS]), path)
    earlier = replace(run, samples=SampleTable.open(path))
    assert set(run.samples.names) - set(earlier.samples.names) == {EVENTS}
    assert earlier.samples.metrics == run.samples.metrics
    for pair in ((run, earlier), (earlier, run), (run, run)):
        assert compare_identical(*pair).differences == ()


@pytest.mark.slow
def test_parts_shards_and_a_resumed_run_have_the_same_events(folder, tmp_path):
    whole = Run.open(folder).samples.to_dict()
    parts = [tmp_path / f"p{k}" for k in (1, 2)]
    for k, part in enumerate(parts, 1):
        options = Options(shard_size=5, part=Part(k, 2))
        harness.api.evaluate_all("dense-sample", output=part, options=options)
    assert merge(parts, tmp_path / "merged").samples.to_dict() == whole
    assert harness.evaluate("dense-sample").samples.to_dict() == whole

    data = (folder / "samples.parquet").read_bytes()
    shutil.copytree(folder, tmp_path / "again")
    for name in ("results.json", "samples.parquet"):
        (tmp_path / "again" / name).unlink()
    harness.evaluate("dense-sample", output=tmp_path / "again")
    assert (tmp_path / "again" / "samples.parquet").read_bytes() == data
