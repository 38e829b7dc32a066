"""The report page: what it holds, that it stands alone, and that a browser shows it."""

from __future__ import annotations

import pytest

import harness
from harness.errors import HarnessError
from harness.reporting import page
from harness.reporting.console import SIZE_NOTE
from harness.reporting.views import series

SPEC = {
    "task": "words & <b>more</b>",
    "dataset": {"reader": "words"},
    "models": [{"echo": {"label": "one <script>alert(1)</script>"}}, {"echo": {"label": "two"}}],
    "decoding": {"candidates": [1, 2, 3]},
    "metrics": ["length"],
    "bootstrap": {"samples": 50},
    "significance": "exact",
    "views": [
        {"plot": "line", "x": "decoding.candidates", "y": "length", "by": "model", "title": "Length"},
        {"plot": "bar", "x": "model", "y": "log p:length", "by": "decoding.candidates"},
        {"plot": "heatmap", "x": "decoding.candidates", "y": "length", "by": "model"},
        {"plot": "table", "x": "decoding.candidates", "y": "length", "by": "model", "reference": {"2": 4.25}},
    ],
}


@pytest.fixture
def report(project):
    harness.evaluate(SPEC, output="r")
    return page.write(["r"])


def test_the_page_shows_results_views_and_examples_and_escapes_texts(report):
    text = report.read_text()
    assert "<script>" not in text
    assert "one &lt;script&gt;" in text
    assert text.count("<svg") == 3
    assert "published" in text
    assert "4.25" in text
    assert "a dog number 0" in text
    assert "http://" not in text.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )


def test_the_page_divides_set_metrics_by_size_and_gives_reasons(project):
    code = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(
        code.replace("higher_is_better=True)", "higher_is_better=None, level='set')")
    )
    registry = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(registry.replace("level: item, higher_is_better: true", "level: set"))
    harness.evaluate({**SPEC, "views": []}, output="r")
    text = page.write(["r"]).read_text()
    assert [f"sets of {n} + 2" in text for n in (1, 2, 3, 4)] == [True, True, True, False]
    assert text.count(SIZE_NOTE) == 3
    assert "no p-value: the metric has no direction" in text
    assert '<th class="n">p</th>' in text


def test_the_page_is_the_same_when_made_again(report):
    before = report.read_bytes()
    assert page.write(["r"]).read_bytes() == before


def test_series_group_by_model_and_name_the_nearest_metric(project):
    results = harness.evaluate(SPEC).records
    made = series(results, "decoding.candidates", "length", "model")
    assert [(s.label, s.x) for s in made] == [("one <script>alert(1)</script>", (1, 2, 3)), ("two", (1, 2, 3))]
    assert made[0].y == pytest.approx([4, 4.5, 5])
    with pytest.raises(HarnessError, match="view asks for the metric 'lenght'; did you mean 'length'"):
        series(results, "model", "lenght", None)


def test_a_browser_shows_the_page_without_errors_or_requests(report, browse):
    with browse(report) as view:
        assert view.locator("table.results tbody tr").count() == 6
        assert view.locator("figure svg").count() == 3
        box = view.locator("figure svg").first.bounding_box()
        assert box is not None
        assert box["width"] > 200
        view.locator("details summary").nth(1).click()
