"""Results in notebooks."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

import harness
import harness.api
from harness.errors import HarnessError, UnknownName
from harness.page import notebook

ONE = [
    ["a dog runs", "a dog on grass"],
    ["two cats"],
    ["a red car in a street"],
    ["people walk"],
    ["a boat at sea"],
    ["a tree"],
]
MANY = [
    ["a dog runs fast"],
    ["two cats sleep"],
    ["a car in a street"],
    ["people walk there"],
    ["a boat"],
    ["a tall tree"],
]


def test_equal_scores_have_no_chart():
    with pytest.raises(
        HarnessError,
        match="there are too few different scores per example to draw their "
        "distribution",
    ):
        notebook.as_chart(harness.score(["a dog"] * 6, [["a dog"]] * 6, ["rouge"]))


class Cells(HTMLParser):
    """Texts of the cells of a table, row by row; fails on a tag that is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def scores():
    return harness.score(
        ONE, MANY, [{"bleu1": {"tokenizer": "none"}}, {"rouge": {"tokenizer": "none"}}]
    )


def test_scores_have_intervals_and_short_representations(scores):
    rouge = scores["rouge"]
    assert rouge.ci95[0] < rouge.value < rouge.ci95[1]
    assert (rouge.metric, rouge.higher_is_better) == ("rouge", True)
    assert repr(rouge).startswith(f"<rouge {rouge.value:.4g} (")
    assert len(repr(scores).splitlines()) == 2
    rows = Cells(scores._repr_html_()).rows
    assert rows[0] == ["metric", "value", "95 % interval", "examples"]
    assert rows[2][0] == "ROUGE-L (COCO) ↑"
    assert "…" in rows[2][2]
    assert Cells(rouge._repr_html_()).rows[1] == rows[2]


def test_numbers_stand_at_the_right(scores):
    table = notebook.scores_table(scores)
    assert (len(table.headers), table.alignment) == (4, "lrrr")
    assert table.rows[1][3] == f"{scores['rouge'].n}"
    skipped = replace(scores["rouge"], skipped=2)
    assert (
        notebook.scores_table({"rouge": skipped}).rows[0][3]
        == f"{skipped.n} (2 skipped)"
    )


def test_the_interval_is_that_of_a_run_and_may_be_left_out(scores, tmp_path):
    import json

    (tmp_path / "c.json").write_text(
        json.dumps({str(k): texts for k, texts in enumerate(ONE)})
    )
    (tmp_path / "r.json").write_text(
        json.dumps({str(k): texts for k, texts in enumerate(MANY)})
    )
    metrics = [{"rouge": {"tokenizer": "none"}}]
    files = str(tmp_path / "c.json"), str(tmp_path / "r.json")
    run = harness.api.score_files(*files, ["rouge:tokenizer=none"])
    assert run.records[0].ci95 == scores["rouge"].ci95
    assert harness.score(ONE, MANY, metrics, bootstrap=0)["rouge"].ci95 is None


def test_a_metric_without_interval_says_why():
    text = harness.score(
        ONE[:1], MANY[:1], [{"rouge": {"tokenizer": "none"}}]
    )._repr_html_()
    assert (
        "ROUGE-L (COCO): no interval, an interval needs at least two examples" in text
    )


def test_a_run_is_a_table_with_all_texts_escaped(captions_run):
    text = captions_run._repr_html_()
    rows = Cells(text).rows
    assert len(rows) == 1 + len(captions_run.records)
    assert rows[0] == [
        "metric",
        "model",
        "set",
        "value",
        "95 % interval",
        "p",
        "harmonic p",
        "n",
        "skipped",
    ]
    assert "<b>scene" not in text
    assert any("other <b>scene</b>" in row for row in rows)


@pytest.mark.slow
def test_comparisons_are_a_table_and_a_chart(captions_run):
    altair = pytest.importorskip("altair")
    rows = harness.compare(captions_run.path)
    cells = Cells(rows._repr_html_()).rows
    assert len(cells) == 1 + len(rows)
    assert repr(
        rows
    ) == "<comparisons of 3 pairs by 4 metrics: {} of 12 significant>".format(
        sum(r.better in "AB" for r in rows)
    )
    assert isinstance(rows.chart(), altair.ConcatChart)


def test_long_tables_are_cut(captions_run, monkeypatch):
    monkeypatch.setattr(notebook, "MAX_ROWS", 5)
    text = captions_run._repr_html_()
    assert len(Cells(text).rows) == 1 + 5
    assert f"{len(captions_run.records) - 5} more rows" in text


@pytest.mark.slow
def test_charts_come_by_name(captions_run, scores):
    altair = pytest.importorskip("altair")
    assert isinstance(captions_run.chart(), altair.LayerChart)
    assert isinstance(captions_run.chart("differences"), altair.ConcatChart)
    assert isinstance(scores.chart(), altair.TopLevelMixin)
    with pytest.raises(UnknownName, match="did you mean 'differences'"):
        captions_run.chart("diferences")


def test_other_objects_are_an_error():
    with pytest.raises(HarnessError, match="found list"):
        harness.as_html([1])
    with pytest.raises(HarnessError, match="found list"):
        harness.as_chart([1])
