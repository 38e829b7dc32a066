"""The page as a file: what it holds, what it escapes, that it stands alone,
and how it reads bad runs.
"""

from __future__ import annotations

import json
import re
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import harness
from harness import page
from harness.cli.main import main
from harness.errors import InputError
from harness.judgments.league_tables import percent_interval
from harness.page import PageOptions, document
from harness.page.assets import policy
from harness.page.charts import charts_for
from harness.page.document import MAX_LISTED, notices_of
from harness.page.groups import Clusters, groups_of
from harness.page.provenance import command, listings
from harness.reporting.result_groups import SIZE_NOTE
from harness.reporting.table import interval_text, number, shown_name
from harness.run.finished import Run


@pytest.mark.parametrize(
    ("total", "text"),
    [(2, "2 examples failed: a 2 (all)."), (3, "2 examples failed: a 2.")],
)
def test_a_model_that_fails_on_all_examples_is_named(total, text):
    provenance = SimpleNamespace(data={"examples": total}, models=[])
    assert (
        document._failure_notice(
            SimpleNamespace(failed={"a/1": "x", "a/2": "x"}, provenance=provenance)
        ).text
        == text
    )


def test_charts_have_a_layout_for_each_width(finished):
    (chart, *_) = charts_for([finished()])
    layouts = document._charts([chart])["layouts"]
    assert {name: list(charts) for name, charts in layouts.items()} == {
        name: [chart.id] for name in document.OTHER_LAYOUTS
    }
    for name, layout in document.OTHER_LAYOUTS.items():
        assert "datasets" not in layouts[name][chart.id], (
            "the rows are those of the first layout"
        )
        assert {
            **layouts[name][chart.id],
            "datasets": chart.spec["datasets"],
        } == chart.build(layout)


def test_rows_that_differ_between_the_widths_belong_to_each_layout(finished):
    (chart, *_) = charts_for([finished()])
    wide = document.OTHER_LAYOUTS["wide"]
    changed = replace(
        chart,
        build=lambda layout: {
            **chart.build(layout),
            **({"datasets": {"rows": []}} if layout == wide else {}),
        },
    )
    layouts = document._charts([changed])["layouts"]
    assert (
        layouts["wide"][chart.id]["datasets"] == {"rows": []}
        and "datasets" not in layouts["phone"][chart.id]
    )


def test_a_run_of_an_unknown_number_of_examples_has_no_model_that_fails_on_all():
    provenance = SimpleNamespace(data={}, models=[])
    assert (
        document._failure_notice(
            SimpleNamespace(failed={"a/1": "x"}, provenance=provenance)
        ).text
        == "1 example failed: a 1."
    )


def visible(text: str) -> str:
    """The page without its data blocks, scripts and styles."""
    return re.sub(r"<(script|style)\b[^>]*>.*?</\1>", "", text, flags=re.DOTALL)


def test_texts_of_runs_are_escaped_and_every_part_is_there(report, blocks):
    text = report.read_text()
    shown = visible(text)
    assert "alert(1)</script>" not in shown and "one &lt;script&gt;" in shown
    assert "words &amp; &lt;b&gt;more" in shown
    assert "published" in shown and "4.25" in shown and "a dog number 0" in shown
    data = blocks(text)
    assert {
        "g0-index",
        "g0-refs-0",
        "g0-caps-0-0",
        "g0-score-0",
        "g0-csv",
        "charts",
        "charts-library",
        "licences",
    } <= set(data)
    assert json.loads(data["charts"])["specs"]
    assert data["g0-csv"].decode().splitlines()[0].startswith("run,task,model")


def test_the_page_loads_nothing_and_runs_its_own_scripts_alone(report):
    text = report.read_text()
    content = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert content and content[1].startswith(
        "default-src &#39;none&#39;; script-src &#39;sha256-"
    )
    assert not re.search(r'(src|href)="(?!#|data:)', visible(text))
    inline = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert len(inline) == 2
    for script in inline:
        digest = policy([script]).split("'")[3]
        assert digest.replace("+", "&#43;") in content[1] or digest in content[1]


def test_rows_of_the_matrix_have_no_empty_lines(report):
    table = re.search(
        r'<tr class="heads".*?</table>', report.read_text(), flags=re.DOTALL
    )
    assert table and table[0].count("\n") > 10 and "\n\n" not in table[0]


def test_table_views_alone_are_tables_of_the_overview(report):
    titles = re.findall(
        r'<figure class="view"><figcaption><strong dir="auto">([^<]*)',
        report.read_text(),
    )
    assert len(titles) == 2 and titles[1].startswith("length: the 2 of 6 examples"), (
        "the bars are a chart"
    )


@pytest.fixture
def spread(finished, project):
    """A run of one model whose captions have one to six words."""
    rows = [
        {"id": f"e{k}", "candidates": [" ".join(["word"] * (k + 1))]} for k in range(6)
    ]
    (project / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return finished(
        models=[{"predictions": {"label": "two", "path": "two.jsonl"}}], views=[]
    )


def test_numbers_of_models_have_the_digits_of_the_tables(spread):
    text = visible(page.build([spread]))
    (record,) = Run.open(spread).records
    assert record.value == 3.5 and record.ci95 is not None
    assert (
        f'<span class="interval">{interval_text(record.ci95)}</span>' in text
        and '<span class="value">3.5000</span>' in text
    )
    assert "<title>words &amp; &lt;b&gt;more&lt;/b&gt;</title>" in text, (
        "the title is the task"
    )


def test_a_page_without_captions_has_no_tests_of_pairs(finished, project, blocks):
    run = project / finished(views=[])
    results = json.loads((run / "results.json").read_text())
    (run / "results.json").write_text(
        json.dumps({**results, "samples_sha256": None, "checksum": None})
    )
    (run / "samples.parquet").unlink()
    assert set(blocks(page.build([run]))) == {
        "g0-csv",
        "charts",
        "charts-library",
        "licences",
    }


def test_an_editable_page_has_the_metrics_and_may_compile_them(
    spread, blocks, monkeypatch
):
    monkeypatch.setattr(
        "harness.page.assets.scoring", lambda: ("let scores;", b"\0asm")
    )
    for editable in (True, False):
        text = page.build([spread], PageOptions(editable=editable))
        data = blocks(text)
        assert [data.get(name) for name in ("scoring-library", "scoring-module")] == (
            [b"let scores;", b"\0asm"] if editable else [None] * 2
        )
        content = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
        assert content and ("wasm-unsafe-eval" in content[1]) is editable
        assert (
            policy(["let scores;"]).split("'")[3].replace("+", "&#43;")
            in content[1].replace("+", "&#43;")
        ) is editable


def test_the_page_lies_in_the_first_run(finished):
    names = [
        finished("a", views=[]),
        finished("b", models=[{"echo": {"label": "third"}}], views=[]),
    ]
    assert page.write(names) == Path("a", "report.html")
    assert not Path("b", "report.html").exists()


@pytest.mark.slow
def test_the_same_run_gives_the_same_page(report):
    before = report.read_bytes()
    assert page.write(["r"]).read_bytes() == before


@pytest.mark.slow
def test_runs_of_the_same_data_share_a_matrix_and_others_have_their_own(finished):
    names = [
        finished("a"),
        finished("b", models=[{"echo": {"label": "third"}}], seed=1),
    ]
    other = finished("c", dataset={"reader": "words", "count": 4})
    text = visible(page.build([*names, other, "a"]))
    assert text.count('<table class="matrix') == 2
    assert '<th scope="col" data-column="run">' in text and "third" in text


def test_examples_and_title_are_options(finished, blocks, monkeypatch):
    monkeypatch.setattr("harness.page.document.BUDGET", 0)
    text = page.build([finished()], PageOptions(title="Mine", examples=2))
    assert "<title>Mine</title>" in text
    index = json.loads(blocks(text)["g0-index"])
    assert (len(index["ids"]), index["total"]) == (2, 6)
    assert "6 tests take too long for a page" in text, (
        "comparisons beyond the budget are computed on request alone"
    )


def test_sections_of_plugins_are_shown(finished, monkeypatch):
    class Sections:
        def call(self, name, **arguments):
            return [[{"title": "Mine & yours", "html": "<em>by a plugin</em>"}]]

        def load(self, registry):
            return self

    monkeypatch.setattr("harness.page.document.Plugins", Sections)
    text = page.build([finished()])
    assert "<h3>Mine &amp; yours</h3><em>by a plugin</em>" in text


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_one_line(finished, monkeypatch, capsys):
    def refuse(path, data, *, overwrite):
        raise PermissionError(13, "Permission denied")

    run = finished()
    monkeypatch.setattr("harness.page.document.write_output", refuse)
    assert main(["report", run]) == 2
    assert (
        capsys.readouterr()
        .err.strip()
        .endswith(
            "cannot be written (Permission denied); give another file with -o FILE"
        )
    )


def test_a_read_only_run_is_reported_elsewhere(finished, project):
    run = project / finished()
    run.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert main(["report", str(run), "-o", str(project / "elsewhere.html")]) == 0
    finally:
        run.chmod(stat.S_IRWXU)
    assert (project / "elsewhere.html").is_file()


def test_an_unfinished_run_and_another_schema_are_one_line(finished, project, capsys):
    run = project / finished()
    results = json.loads((run / "results.json").read_text())
    (run / "results.json").write_text(json.dumps({**results, "schema": 99}))
    assert main(["report", str(run)]) == 2
    assert "schema" in capsys.readouterr().err
    (run / "results.json").unlink()
    assert main(["report", str(run)]) == 2
    assert "the run has not finished" in capsys.readouterr().err


def test_counts_out_of_range_are_one_line(finished, capsys):
    assert main(["report", finished(), "--explain", "-1"]) == 2
    assert "explain is -1; expected at least 0" in capsys.readouterr().err
    assert main(["report", finished(), "--examples", "0"]) == 2
    assert "examples is 0; expected at least 1" in capsys.readouterr().err


def test_a_run_without_results_says_so(finished, project):
    run = project / finished(views=[])
    results = json.loads((run / "results.json").read_text())
    (run / "results.json").write_text(
        json.dumps({**results, "results": [], "checksum": None})
    )
    text = visible(page.build([run]))
    assert "The run has no results." in text and "nothing to plot" in text


@pytest.mark.slow
def test_set_sizes_divide_the_matrix(project, spec):
    code = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(
        code.replace(
            "level=level, higher_is_better=True)", "level='set', higher_is_better=None)"
        )
    )
    registry = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        registry.replace("level: item, higher_is_better: true", "level: set")
    )
    harness.evaluate(
        {
            **spec,
            "models": [{"echo": {}}],
            "decoding": {"candidates": [1, 2, 3]},
            "views": [],
        },
        output="r",
    )
    text = visible(page.build(["r"]))
    assert [f"sets of {n} + 2" in text for n in (1, 2, 3, 4)] == [
        True,
        True,
        True,
        False,
    ]
    assert "no p-value: the metric has no direction" in text
    assert SIZE_NOTE in text


def test_a_damaged_file_of_captions_is_one_line(finished, project):
    run = project / finished()
    (run / "samples.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="damaged"):
        page.build([run])


@pytest.fixture
def text(judged_runs, tmp_path):
    return page.build(
        [tmp_path / "out/one", tmp_path / "out/two"],
        PageOptions(title="Mine", absent=("judgments/x",)),
    )


def table_rows(text, start):
    """Texts of the cells of the first table behind a text, row by row."""
    table = text[text.index(start) :].partition("</table>")[0]
    return [
        [
            re.sub(r"<[^>]+>", " ", cell).split()
            for cell in re.findall(r"<t[dh]\b.*?</t[dh]>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    ]


def test_the_page_is_that_of_all_runs(text, blocks):
    for part in (
        '<h1 dir="auto">Mine</h1>',
        "Content-Security-Policy",
        'class="theme',
        'id="provenance"',
        "League table",
        "What to use when",
        "spice (published only)",
        "PERM-INPUT",
        "judgments/two",
        "cannot be read: judgments/x.",
    ):
        assert part in text
    assert (
        'id="examples"' not in text and "#examples" not in text.partition("<script>")[0]
    )
    assert "published, Agreement" not in text and 'data-chart="agreement"' in text


def test_the_matrix_has_a_row_per_metric_and_a_column_per_statistic(text):
    head, *rows = table_rows(text, '<table class="matrix')
    assert [cell[0] for cell in head] == ["metric", "kendall_c", "pearson", "accuracy"]
    assert [row[0] for row in rows] == [
        ["BLEU-1"],
        ["ROUGE-L", "(COCO)"],
        ["Self-BLEU-2"],
    ]
    assert [cell[0] for cell in rows[0][1:]] == ["0.9", "4.1", "50.0"]
    assert rows[0][1][1] == "1", "the cluster"
    assert rows[2][1] == ["–"]


def test_all_numbers_are_downloaded_in_full(text, blocks):
    lines = blocks(text)["g1-csv"].decode().splitlines()
    assert (
        len(lines) == 10
        and lines[0].startswith("set,statistic,metric,value")
        and lines[0].endswith("reference")
    )
    assert lines[1].startswith("two,kendall_c,bleu1,0.00907029") and lines[1].endswith(
        "12.5,A paper"
    )


def test_intervals_of_judgments_are_times_100_and_several_sets_have_a_title(
    judged_runs, tmp_path
):
    text = page.build([tmp_path / "out/one", tmp_path / "out/two"])
    assert "<title>Metrics judged by people</title>" in text
    # So few items carry no interval; where there is one, it is times 100.
    for record in Run.open(tmp_path / "out/one").records:
        if record.ci95:
            assert (
                f'<span class="interval">{percent_interval(record.ci95)}</span>' in text
            )


def test_one_run_has_no_league_table(judged_runs, tmp_path):
    assert main(["report", "out/one"]) == 0
    single = (tmp_path / "out/one/report.html").read_text()
    assert (
        '<h1 dir="auto">judgments/one</h1>' in single
        and "<h3>League table" not in single
    )


def test_runs_of_both_kinds_are_one_line(judged_runs, tmp_path, project, capsys):
    assert main(["run", "spec.yaml", "--output", "models"]) == 0
    capsys.readouterr()
    for paths in (["out/one", "models"], ["models", "out/one"]):
        assert (
            main(
                [
                    "report",
                    *(
                        str(tmp_path / path) if "out" in path else path
                        for path in paths
                    ),
                ]
            )
            == 2
        )
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "is a run of models" in error


def test_provenance_has_the_command_and_the_time_of_each_metric_once(
    judged_runs, tmp_path
):
    run = Run.open(tmp_path / "out/one")
    (times,) = (table for table in listings(run) if table.title == "Time per stage")
    seconds = {shown_name(record): record.seconds for record in run.records}
    assert [tuple(row) for row in times.rows][:3] == [
        (f"scores of {name}", number(value)) for name, value in seconds.items()
    ]
    spec = command(run).partition("\n")[2].rpartition("\nSPEC\n")[0]
    (tmp_path / "again.yaml").write_text(spec)
    assert main(["run", "again.yaml", "--output", "again"]) == 0
    again = Run.open(tmp_path / "again")
    assert [str(record.value) for record in again.records] == [
        str(record.value) for record in run.records
    ]


def notices(run: Run, clusters: Clusters | None = None) -> list:
    return notices_of(groups_of([("r", run)])[0], clusters or Clusters())


def test_failures_come_first_and_are_counted_by_model(finished):
    run = Run.open(finished(notice="Toy numbers."))
    first, second = notices(replace(run, notes=()))[:2]
    assert (
        first.severe
        and first.text == "1 example failed: two 1."
        and first.details == [("two/e1", "could not read it")]
    )
    assert not second.severe and second.text == "Toy numbers."


def test_long_lists_are_cut_and_labels_may_hold_slashes(finished):
    run = Run.open(finished(models=[{"echo": {"label": "a/b"}}], views=[]))
    failed = {f"a/b/e{k}": "no" for k in range(30)}
    (notice,) = notices(replace(run, failed=failed))
    assert notice.text == "30 examples failed: a/b 30."
    assert len(notice.details) == MAX_LISTED + 1 and notice.details[-1] == (
        "…",
        "10 more",
    )
    (notice,) = notices(replace(run, failed={"gone/e1": "no"}))
    assert notice.text == "1 example failed: gone 1."


def test_twenty_failures_are_listed_in_full(finished):
    run = Run.open(finished(models=[{"echo": {"label": "a"}}], views=[]))
    (notice,) = notices(
        replace(run, failed={f"a/e{k}": "no" for k in range(MAX_LISTED)})
    )
    assert notice.details == [(f"a/e{k}", "no") for k in range(20)]


@pytest.mark.parametrize(
    ("counts", "share"), [([(1, 3), (3, 1)], 75), ([(1, 0), (0, 0)], 100)]
)
def test_the_largest_share_of_examples_without_a_score_is_named(
    finished, counts, share
):
    run = Run.open(finished(models=[{"echo": {}}], views=[]))
    records = tuple(
        replace(run.records[0], model=f"m{skipped}", skipped=skipped, n=n)
        for skipped, n in counts
    )
    (notice,) = notices(replace(run, records=records, notes=()))
    assert (
        notice.text
        == f"Some examples have no score and are left out (up to {share} % of a "
        "model): length."
    )


def test_warnings_of_several_runs_have_the_names_of_the_runs(finished):
    runs = [
        (
            "a",
            replace(
                Run.open(finished("a", models=[{"echo": {}}], views=[])),
                notes=("One.",),
            ),
        )
    ]
    runs.append(("b", replace(runs[0][1], notes=("Two.",), failed={"echo/e1": "no"})))
    (group,) = groups_of(runs)
    assert [notice.text for notice in notices_of(group, Clusters())] == [
        "b: 1 example failed: echo 1.",
        "a: One.",
        "b: Two.",
    ]


def test_undefined_values_missing_scores_notes_and_missing_tests(finished):
    run = Run.open(finished(models=[{"echo": {}}], views=[]))
    records = (replace(run.records[0], value=float("nan"), skipped=2, n=4),)
    texts = [
        notice.text
        for notice in notices(
            replace(run, records=records, notes=("A remark.",)),
            Clusters(warning="No tests."),
        )
    ]
    assert texts == [
        "Undefined for some model: length.",
        "Some examples have no score and are left out (up to 33 % of a model): length.",
        "A remark.",
        "No tests.",
    ]


def test_a_run_without_results(finished):
    run = Run.open(finished(models=[{"echo": {}}], views=[]))
    assert notices(replace(run, records=()))[0].text == "The run has no results."
