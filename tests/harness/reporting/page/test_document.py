"""The page as a file: what it holds, what it escapes, that it stands alone, and how it reads bad runs."""

from __future__ import annotations

import json
import re
import stat

import pytest

import harness
from harness.cli.main import main
from harness.errors import InputError
from harness.reporting import page
from harness.reporting.page import PageOptions
from harness.reporting.page.assets import policy
from harness.reporting.result_groups import SIZE_NOTE


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
    assert {"g0-index", "g0-refs-0", "g0-caps-0-0", "g0-score-0", "g0-csv", "charts", "charts-library", "licences"} <= set(data)
    assert json.loads(data["charts"])["specs"]
    assert data["g0-csv"].decode().splitlines()[0].startswith("run,task,model")


def test_the_page_loads_nothing_and_runs_its_own_scripts_alone(report):
    text = report.read_text()
    content = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert content and content[1].startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert not re.search(r'(src|href)="(?!#|data:)', visible(text))
    inline = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert len(inline) == 2
    for script in inline:
        digest = policy([script]).split("'")[3]
        assert digest.replace("+", "&#43;") in content[1] or digest in content[1]


@pytest.mark.slow
def test_the_same_run_gives_the_same_page(report):
    before = report.read_bytes()
    assert page.write(["r"]).read_bytes() == before


@pytest.mark.slow
def test_runs_of_the_same_data_share_a_matrix_and_others_have_their_own(finished):
    names = [finished("a"), finished("b", models=[{"echo": {"label": "third"}}], seed=1)]
    other = finished("c", dataset={"reader": "words", "count": 4})
    text = visible(page.build([*names, other, "a"]))
    assert text.count('<table class="matrix') == 2
    assert '<th scope="col" data-column="run">' in text and "third" in text


def test_examples_and_title_are_options(finished, blocks):
    text = page.build([finished()], PageOptions(title="Mine", examples=2))
    assert "<title>Mine</title>" in text
    index = json.loads(blocks(text)["g0-index"])
    assert (len(index["ids"]), index["total"]) == (2, 6)


def test_sections_of_plugins_are_shown(finished, monkeypatch):
    class Sections:
        def call(self, name, **arguments):
            return [[{"title": "Mine & yours", "html": "<em>by a plugin</em>"}]]

        def load(self, registry):
            return self

    monkeypatch.setattr("harness.reporting.page.document.Plugins", Sections)
    text = page.build([finished()])
    assert "<h3>Mine &amp; yours</h3><em>by a plugin</em>" in text


def test_a_folder_that_cannot_be_written_is_one_line(finished, monkeypatch, capsys):
    def refuse(path, data):
        raise PermissionError(13, "Permission denied")

    run = finished()
    monkeypatch.setattr("harness.reporting.page.document.write_atomically", refuse)
    assert main(["report", run]) == 2
    assert capsys.readouterr().err.strip().endswith("cannot be written (Permission denied); give another file with -o FILE")


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
    (run / "results.json").write_text(json.dumps({**results, "results": [], "checksum": None}))
    text = visible(page.build([run]))
    assert "The run has no results." in text and "nothing to plot" in text


def test_set_sizes_divide_the_matrix(project, spec):
    code = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(code.replace("level=level, higher_is_better=True)", "level='set', higher_is_better=None)"))
    registry = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(registry.replace("level: item, higher_is_better: true", "level: set"))
    harness.evaluate({**spec, "models": [{"echo": {}}], "decoding": {"candidates": [1, 2, 3]}, "views": []}, output="r")
    text = visible(page.build(["r"]))
    assert [f"sets of {n} + 2" in text for n in (1, 2, 3, 4)] == [True, True, True, False]
    assert "no p-value: the metric has no direction" in text
    assert SIZE_NOTE in text


def test_a_damaged_file_of_captions_is_one_line(finished, project):
    run = project / finished()
    (run / "samples.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="damaged"):
        page.build([run])
