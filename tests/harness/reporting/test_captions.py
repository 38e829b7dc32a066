"""Views of texts: which examples, in which order,
escaped on the page and in the files.
"""

from __future__ import annotations

import csv

import pytest

import harness
from harness import page
from harness.errors import HarnessError, InputError
from harness.files.outputs import OUTPUTS
from harness.reporting import export as files
from harness.reporting.captions import texts_table
from harness.rundir.records import ResultRecord
from harness.rundir.rundir import RunDir
from harness.rundir.samples import SampleTable
from harness.spec.models import ViewSpec

VIEW = {"plot": "texts", "y": "length", "examples": 2}
MODELS = [
    {"echo": {"label": "one <script>alert(1)</script>"}},
    {"echo": {"label": "two | *bold*"}},
]
SPEC = {
    "task": "texts",
    "dataset": {"reader": "words"},
    "models": MODELS,
    "decoding": {"candidates": 3},
    "metrics": ["length"],
    "bootstrap": {"samples": 0},
    "views": [
        {"plot": "texts", "y": "length", "title": "Beside <each> other", "examples": 2},
        {"plot": "table", "x": "model", "y": "length", "title": "Numbers"},
        {"plot": "bar", "y": "length"},
    ],
}


def table(view, columns):
    return texts_table(ViewSpec.model_validate(view), SampleTable(columns))


def samples(**more):
    """Two models, three examples; their scores differ by 1, 5 and 3."""
    return {
        "model": ["a"] * 3 + ["b"] * 3,
        "decoding": ["{}"] * 6,
        "example": ["x", "y", "z"] * 2,
        "candidates": [["one", "one", "two"]] * 3 + [["three"]] * 3,
        "references": [["r", "s"]] * 6,
        "length": [1.0, 2.0, 3.0, 2.0, 7.0, 0.0],
        **more,
    }


def test_the_examples_that_differ_most_come_first():
    made = table(VIEW, samples())
    assert made.headers == ["example", "references", "a", "b"]
    assert made.rows == [
        ["y", "r\ns", "length 2.0000\none (x 2)\ntwo", "length 7.0000\nthree"],
        ["z", "r\ns", "length 3.0000\none (x 2)\ntwo", "length 0.0000\nthree"],
    ]
    assert (
        made.title == "length: the 2 of 3 examples whose length differs most, "
        "largest difference first"
    )


def test_six_examples_are_shown_where_no_number_is_given():
    many = {name: column[:1] * 8 for name, column in samples().items()} | {
        "example": list("abcdefgh"),
        "length": [float(k) for k in range(8)],
    }
    made = table({"plot": "texts", "y": "length"}, many)
    assert [row[0] for row in made.rows] == list("hgfedc")
    assert made.title == "length: 6 of 8 examples, highest length first"


def test_the_data_have_a_row_per_distinct_text():
    assert table(
        {**VIEW, "examples": 1},
        samples(candidates=[["x|y", "x|y", "two\n lines"]] * 3 + [["z"]] * 3),
    ).data == [
        ["example", "source", "length", "times", "text"],
        ["y", "references", "", 1, "r"],
        ["y", "references", "", 1, "s"],
        ["y", "a", 2.0, 2, "x|y"],
        ["y", "a", 2.0, 1, "two\n lines"],
        ["y", "b", 7.0, 1, "z"],
    ]


def test_ties_keep_the_order_of_the_run_and_missing_scores_come_last():
    made = table(
        {**VIEW, "examples": 9}, samples(length=[1.0, None, 1.0, 2.0, 9.0, 2.0])
    )
    assert [row[0] for row in made.rows] == ["x", "z", "y"]
    assert made.rows[2][2] == "one (x 2)\ntwo"


def test_an_example_without_the_score_of_a_model_comes_last():
    three = {name: column[:1] * 6 for name, column in samples().items()}
    three |= {
        "model": list("aabbcc"),
        "example": ["x", "y"] * 3,
        "length": [1.0, 1.0, 9.0, 2.0, None, 1.0],
    }
    assert [row[0] for row in table(VIEW, three).rows] == ["y", "x"]


def test_without_a_metric_they_are_spread_over_the_run():
    made = table({"plot": "texts", "y": "*", "examples": 1}, samples())
    assert [row[0] for row in made.rows] == ["y"]
    assert made.rows[0][2] == "one (x 2)\ntwo"
    assert made.title == "all metrics: 1 of 3 examples, evenly spread over the run"


def test_one_model_is_ordered_by_its_own_scores_and_decodings_are_columns():
    one = {name: column[:3] for name, column in samples().items()}
    assert [row[0] for row in table(VIEW, one).rows] == ["z", "y"]
    several = samples(
        model=["a"] * 6, decoding=["{}"] * 3 + ['{"temperature": 0.5}'] * 3
    )
    assert table(VIEW, several).headers[2:] == ["a T=1", "a T=0.5"]
    warm = samples(decoding=['{"temperature": 0.5}'] * 6)
    assert table(VIEW, warm).headers[2:] == ["a", "b"], "one decoding is not named"


def test_an_example_that_a_model_could_not_do_has_an_empty_cell():
    cut = {name: column[:-1] for name, column in samples().items()}
    made = table({"plot": "texts", "y": "*"}, cut)
    assert [row[3] == "" for row in made.rows] == [False, False, True]


def test_a_metric_without_scores_per_example_is_told():
    with pytest.raises(
        HarnessError,
        match="asks for the scores of 'lenght'; did you mean 'length'.; "
        "there are length",
    ):
        table({**VIEW, "y": "lenght"}, samples())


@pytest.fixture
def run(project):
    harness.evaluate(SPEC, output="r")
    return "r"


@pytest.mark.slow
def test_the_page_shows_the_texts_escaped(run):
    text = page.write([run]).read_text()
    assert "<script>alert" not in text
    assert "one &lt;script&gt;" in text
    assert "Beside &lt;each&gt; other" in text
    assert 'class="sets"' in text
    assert page.write([run]).read_text() == text


def test_views_are_written_as_csv_and_markdown(run, tmp_path):
    written = files.write_tables([run], tmp_path / "t")
    names = [
        "01-beside-each-other.csv",
        "01-beside-each-other.md",
        "02-numbers.csv",
        "02-numbers.md",
    ]
    assert set(names) | {"results.csv", "results.md", "results.tex"} <= {
        path.name for path in written
    }
    rows = list(csv.reader((tmp_path / "t" / names[0]).open(encoding="utf-8")))
    assert rows[0] == ["example", "source", "length", "times", "text"]
    opened = RunDir.open(run)
    content = texts_table(opened.provenance.views[0], opened.samples)
    assert len(rows) == len(content.data) > 1
    markdown = (tmp_path / "t" / names[1]).read_text(encoding="utf-8")
    assert "# Beside &lt;each> other: the 2 of" in markdown
    assert "one &lt;script>" in markdown
    assert r"two \| \*bold\*" in markdown
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {line.replace(r"\|", "").count("|") for line in lines} == {5}
    numbers = list(csv.reader((tmp_path / "t" / names[2]).open(encoding="utf-8")))
    assert numbers[0] == [
        "model",
        *(next(iter(model.values()))["label"] for model in MODELS),
    ]


def test_the_command_writes_the_files(run, tmp_path, capsys):
    from harness.cli.main import main

    assert main(["report", run, "--tables", str(tmp_path / "out")]) == 0
    assert {
        file.suffix for file in (tmp_path / "out").iterdir() if file.name != OUTPUTS
    } == {".csv", ".md", ".tex", ".typ"}
    assert "01-beside-each-other.md" in capsys.readouterr().out


@pytest.mark.slow
def test_a_view_without_a_title_is_called_by_what_it_shows(project, capsys):
    from harness.cli.main import main

    harness.evaluate(
        {**SPEC, "views": [{"plot": "table", "x": "model", "y": "*"}]}, output="all"
    )
    assert main(["report", "all", "--tables", "t"]) == 0
    assert "t/01-all-metrics.md" in capsys.readouterr().out
    harness.evaluate({**SPEC, "views": []}, output="none")
    assert main(["report", "none", "--tables", "u"]) == 0
    assert "u/results.md" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("view", "told"),
    [
        (
            {"plot": "texts", "y": "lenght"},
            "asks for the metric 'lenght'; did you mean 'length'",
        ),
        ({"plot": "texts", "y": ["length"]}, "is one metric"),
        (
            {"plot": "texts", "y": "log p:length"},
            "ordered by a metric or by p:METRIC; found 'log p:length'",
        ),
        (
            {"plot": "bar", "y": "length", "examples": 3},
            "examples belongs to 'plot: texts'; found plot: bar",
        ),
    ],
)
def test_mistakes_are_told_before_the_run(view, told, project):
    with pytest.raises(InputError, match=told):
        harness.evaluate({**SPEC, "views": [view]})


@pytest.mark.slow
def test_a_browser_shows_the_table(run, browse):
    with browse(page.write([run])) as view:
        table = view.locator("table.sets")
        assert table.locator("thead th").all_inner_texts() == [
            "example",
            "references",
            "one <script>alert(1)</script>",
            "two | *bold*",
        ]
        assert table.locator("tbody tr").count() == 2
        assert view.evaluate(
            "document.documentElement.scrollWidth <= window.innerWidth"
        )


def test_scores_have_the_names_of_their_metrics():
    columns = {**samples(), "bleu4": samples()["length"]}
    view = ViewSpec.model_validate({**VIEW, "y": "bleu4"})
    shown = texts_table(
        view, SampleTable(columns), [ResultRecord(model="a", metric="bleu4")]
    )
    assert (
        shown.title == "BLEU-4: the 2 of 3 examples whose BLEU-4 differs most, "
        "largest difference first"
    )
    assert shown.alignment == "l" * len(shown.headers) == "l" * len(shown.rows[0])
    assert "BLEU-4 2.0000" in shown.rows[0][2] and shown.data[0][2] == "bleu4"
