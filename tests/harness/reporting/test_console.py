"""The table of results in the terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

import harness
from harness.reporting import console, main_table
from harness.reporting.console import MAX_FAILURES, print_run
from harness.reporting.export import table_of_view
from harness.reporting.formats.terminal import console_for_tables, least_width
from harness.reporting.result_groups import SIZE_NOTE, p_notes
from harness.reporting.table import Table
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

SIZES = {"candidates": [1], "references": [5]}


def test_the_table_says_why_sizes_are_apart_and_why_p_values_are_missing(run, capsys):
    first = run.records[0]
    few = {"candidates": [1], "references": [2]}
    records = (
        replace(first, level="set"),
        replace(first, level="set", model="few", sizes=few, value=99.0),
        replace(first, metric="x[b]", p_value=None, p_note="reads a scene"),
        replace(first, metric="y", p_value=None, p_note="reads a scene"),
        replace(first, metric="z", p_value=None, p_note="has no direction"),
    )
    text = output(replace(run, records=records), capsys)
    assert text.index("1 + 2") > text.index("2 + 2"), (
        "the larger value of another size is no better"
    )
    assert f"length: {SIZE_NOTE}" in text
    assert text.count("– [1]") == 2
    assert text.count("– [2]") == 1
    assert "[1] no p-value for x[b], y, which reads a scene" in text
    assert "[2] no p-value for z, which has no direction" in text
    assert p_notes(records) == {
        "reads a scene": ["x[b]", "y"],
        "has no direction": ["z"],
    }


def test_systems_of_many_examples_are_not_compared(run, monkeypatch):
    two = replace(run, records=(run.records[0], replace(run.records[0], model="other")))
    compared: list[object] = []
    monkeypatch.setattr(
        main_table, "clusters_of_run", lambda run, budget: compared.append(run)
    )
    for examples, calls in ((console.BOLD_EXAMPLES, 1), (console.BOLD_EXAMPLES + 1, 0)):
        compared.clear()
        clusters = console.quick_clusters(
            replace(
                two,
                records=tuple(replace(record, n=examples) for record in two.records),
            )
        )
        assert len(compared) == calls
    assert clusters.notes == (
        "no value is bold: the systems are not compared; harness compare does",
    )
    assert console.quick_clusters(run) is None, "one system"


def test_values_of_leading_systems_are_bold(run, monkeypatch):
    first = run.records[0]
    two = replace(
        run, records=(first, replace(first, model="other", value=first.value - 1))
    )
    leading = frozenset({(first.metric, first.model, first.decoding_key)})
    monkeypatch.setattr(
        console, "quick_clusters", lambda run: main_table.RunClusters(leading=leading)
    )
    table = console.results_table(two)
    assert table.bold == {(0, table.headers.index("value"))}


def test_the_column_p_appears_where_only_reasons_exist(run, capsys):
    records = (replace(run.records[0], p_value=None, p_note="reads a scene"),)
    assert "– [1]" in output(replace(run, records=records), capsys)
    assert "no p-value" not in output(
        replace(run, records=(replace(run.records[0], p_value=None),)), capsys
    )


@pytest.fixture
def run(project):
    return harness.evaluate("spec.yaml", significance="exact", output="r")


def output(run, capsys) -> str:
    print_run(run)
    return capsys.readouterr().out


def test_the_table_has_values_intervals_and_the_directory(run, capsys):
    text = output(run, capsys)
    assert "length ↑" in text
    assert "95 % interval" in text
    assert re.search(r"4\.5000 [ │]+–", text), "equal scores have no interval"
    assert (
        "no 95 % interval: length (every resample of the examples gives the same "
        "number)" in text
    )
    assert "2 + 2" in text
    assert "run: r  (harness report r makes a page of it)" in text
    assert "decoding" not in text, "columns without content are left out"


def test_a_run_with_p_values_has_the_calibrated_one_and_the_harmonic_mean(run, capsys):
    record = replace(run.records[0], p_value=1e-305, p={"harmonic_mean": 0.0625})
    text = output(replace(run, records=(record,)), capsys)
    assert re.search(r"p ┃ harmonic p ┃", text)
    assert re.search(r"< 1e-300 │ +0.0625", text)
    untested = output(
        replace(run, records=(replace(record, p_value=None, p=None),)), capsys
    )
    assert "harmonic p" not in untested


def test_markup_in_names_is_printed_as_it_is(run, capsys):
    records = tuple(replace(item, model="[red]x", metric="[m]") for item in run.records)
    text = output(replace(run, records=records), capsys)
    assert "[red]x" in text
    assert "[m] ↑" in text


def test_several_decodings_have_a_column(run, capsys):
    records = (run.records[0], replace(run.records[0], decoding={"temperature": 0.5}))
    text = output(replace(run, records=records), capsys)
    assert "decoding" in text
    assert "T=0.5" in text


def test_failures_are_cut_and_notes_follow(run, capsys):
    failed = {f"echo/e{i}": f"reason {i}" for i in range(MAX_FAILURES + 3)}
    text = output(replace(run, failed=failed, notes=["a note on sizes"]), capsys)
    assert text.count("failed echo/") == MAX_FAILURES
    assert "... and 3 more failed" in text
    assert "note a note on sizes" in text


def test_table_views_are_printed_with_published_values(project, capsys):
    view = {
        "plot": "table",
        "x": "metric",
        "y": "length",
        "by": "model",
        "title": "Lengths",
        "note": "words",
    }
    views = [{**view, "reference": {"length": 9.5}}]
    text = output(harness.evaluate("spec.yaml", views=views), capsys)
    assert "Lengths" in text
    assert "published" in text
    assert "9.5000" in text
    assert "words" in text.splitlines()[-1]


def test_a_wide_view_is_printed_with_its_heads_as_rows(project, capsys):
    models = [
        {"echo": {"n": 1, "label": f"model-with-a-long-name-{i}"}} for i in range(6)
    ]
    text = output(
        harness.evaluate(
            "spec.yaml",
            models=models,
            views=[{"plot": "table", "x": "model", "title": "T"}],
        ),
        capsys,
    )
    assert len(re.findall(r"^model-with-a-long-name-\d │ 4", text, flags=re.M)) == 6


@pytest.mark.parametrize("less", [0, 1])
def test_a_view_that_just_fits_is_printed_as_it_is(project, capsys, monkeypatch, less):
    models = [
        {"echo": {"n": 1, "label": f"model-with-a-long-name-{i}"}} for i in range(6)
    ]
    run = harness.evaluate(
        "spec.yaml",
        models=models,
        views=[{"plot": "table", "x": "model", "title": "T"}],
    )
    table = table_of_view(run.provenance.views[0], run)
    monkeypatch.setattr(
        "harness.reporting.console.console_for_tables",
        lambda: console_for_tables(least_width(table) - less),
    )
    heads = re.findall(
        r"^model-with-a-long-name-\d │ 4", output(run, capsys), flags=re.M
    )
    assert len(heads) == 6 * less


def test_many_results_are_printed_in_short_and_all_on_request(run, capsys):
    first = run.records[0]
    records = tuple(
        replace(first, metric=f"metric-{k}", model=model)
        for k in range(30)
        for model in ("one", "two")
    )
    view = {
        "plot": "table",
        "title": "Two numbers",
        "x": "metric",
        "by": "model",
        "y": ["metric-1", "metric-29"],
    }
    content = {
        **run.provenance.content,
        "spec": {**run.provenance.spec, "views": [view]},
    }
    many = replace(
        run, records=records, provenance=replace(run.provenance, content=content)
    )
    short = output(many, capsys)
    assert "20 of 30 rows; --all prints all 60 results, with intervals" in short
    assert "--all prints 1 view too: Two numbers" in short
    assert (
        "metric-19" in short
        and "metric-20" not in short
        and len(short.splitlines()) < 40
    )
    print_run(many, all_results=True)
    everything = capsys.readouterr().out
    assert (
        everything.count("│ two") >= 30
        and "metric-29" in everything
        and "Two numbers" in everything
    )


@pytest.mark.parametrize(("count", "is_short"), [(40, False), (41, True)])
def test_forty_results_are_printed_whole(run, capsys, count, is_short):
    records = tuple(replace(run.records[0], metric=f"metric-{k}") for k in range(count))
    assert ("--all prints" in output(replace(run, records=records), capsys)) is is_short


def made(*records: ResultRecord, **content) -> Run:
    """A run in memory."""
    return Run(
        Provenance({"task": "t", "signature": "s|1", **content}),
        records,
        SampleTable.empty(),
    )


def test_results_have_a_row_each_best_first_and_no_column_without_content():
    values = {"sizes": SIZES, "decoding": {"temperature": 0.5}, "n": 9}
    records = [
        ResultRecord(
            model="a",
            metric="cider",
            value=0.5,
            ci95=(0.25, 0.75),
            higher_is_better=True,
            skipped=2,
            **values,
        ),
        ResultRecord(model="a", metric="nll", value=3.0, level="model", **values),
    ]
    table = console.results_table(made(*records))
    assert (
        table.headers
        == ["metric", "model", "set", "value", "95 % interval", "n", "skipped"]
        and table.alignment == "lllrrrr"
    )
    assert table.rows == [
        ["CIDEr-D ↑", "a", "1 + 5", "0.5000", "0.2500 … 0.7500", "9", "2"],
        ["nll", "a", "1 + 5", "3.0000", "–", "9", ""],
    ]
    assert (table.title, table.notes, table.bold, table.groups) == (
        "t  s|1  T=0.5",
        [],
        frozenset(),
        {0, 1},
    )
    assert table.secondary == ("n", "harmonic p", "skipped")
    tested = replace(records[0], p_value=0.012, p={"harmonic_mean": 0.25})
    table = console.results_table(
        made(tested, replace(records[1], p_note="has no direction"), task="")
    )
    assert (
        table.headers[5:] == ["p", "harmonic p", "n", "skipped"]
        and table.title == "suite  s|1  T=0.5"
    )
    assert [row[5:7] for row in table.rows] == [["0.0120", "0.2500"], ["– [1]", "–"]]
    assert table.notes == [
        "[1] no p-value for nll, which has no direction",
        console.P_NOTE,
    ]


def test_models_of_a_metric_stand_below_each_other_with_their_decodings(monkeypatch):
    monkeypatch.setattr(
        console,
        "quick_clusters",
        lambda run: main_table.RunClusters(leading=frozenset({("m", "b", "{}")})),
    )
    records = [
        ResultRecord(
            model=model,
            metric="m",
            value=value,
            higher_is_better=True,
            decoding=decoding,
        )
        for model, value, decoding in (("a", 1.0, {"temperature": 0.5}), ("b", 2.0, {}))
    ]
    table = console.results_table(made(*records))
    assert table.headers[:4] == ["metric", "model", "set", "decoding"]
    assert [row[:5] for row in table.rows] == [
        ["m ↑", "b", "", "T=1", "2.0000"],
        ["", "a", "", "T=0.5", "1.0000"],
    ]
    assert table.bold == {(0, 4)} and table.groups == {0} and table.title == "t  s|1"


@pytest.mark.parametrize(
    ("count", "more"), [(MAX_FAILURES, False), (MAX_FAILURES + 1, True)]
)
def test_five_failures_are_printed_in_full(capsys, count, more):
    run = replace(
        made(ResultRecord(model="a", metric="m", value=1.0)),
        failed={f"a/e{k}": "no" for k in range(count)},
    )
    text = output(run, capsys)
    assert (
        text.count("failed a/e") == MAX_FAILURES
        and ("... and 1 more failed" in text) is more
    )


def test_the_variant_is_named_with_its_examples(capsys):
    record = ResultRecord(model="a", metric="m", value=1.0)
    assert (
        output(
            made(record, variant="pilot", data={"examples": 1}), capsys
        ).splitlines()[-1]
        == "data: pilot, 1 example"
    )
    assert (
        output(made(record, variant="pilot"), capsys).splitlines()[-1]
        == "data: pilot, 0 examples"
    )
    assert "data:" not in output(made(record), capsys)


def test_a_long_table_is_turned_with_its_notes():
    table = console.transpose(
        Table(
            ["model", "x", "y"],
            [["a", "1", "2"], ["b", "3", "4"]],
            "lrr",
            "T",
            ["note"],
        )
    )
    assert table == Table(
        ["model", "a", "b"], [("x", "1", "3"), ("y", "2", "4")], "lrr", "T", ["note"]
    )


def test_a_run_of_few_results_has_no_hint_at_views(run, capsys):
    print_run(run)
    assert "--all prints" not in capsys.readouterr().out


def test_many_results_of_several_runs_share_the_rows(monkeypatch):
    shown = []
    monkeypatch.setattr(console, "print_run", lambda run, rows, **_: shown.append(rows))
    runs = [
        SimpleNamespace(records=[None] * n, provenance=SimpleNamespace(kind=""))
        for n in (60, 41)
    ]
    monkeypatch.setattr(console, "by_kind", lambda runs: {})
    console.print_runs(runs, all_results=False)
    console.print_runs(runs, all_results=True)
    console.print_runs(runs[:1], all_results=False)
    assert shown == [10, 10, None, None, None]


def test_one_run_of_judgments_has_no_table_of_sets(monkeypatch):
    printed = []
    monkeypatch.setattr(console, "print_run", lambda run, **_: None)
    monkeypatch.setattr(console, "print_table", printed.append)
    kind = SimpleNamespace(table_of_runs=len)
    monkeypatch.setattr(console, "load_kind", lambda name: kind)
    judged = SimpleNamespace(records=[], provenance=SimpleNamespace(kind="x"))
    captions = SimpleNamespace(records=[], provenance=SimpleNamespace(kind=""))
    for runs, expected in (
        ([captions, captions], []),
        ([judged, captions], []),
        ([judged, captions, judged], [2]),
    ):
        printed.clear()
        console.print_runs(runs, all_results=False)
        assert printed == expected
