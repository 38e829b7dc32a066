"""Views are checked before a run: metrics, models, axes, one result per cell."""

from __future__ import annotations

import pytest

from harness import api
from harness.errors import InputError
from harness.run.plan import make_plan
from harness.spec.loading import load_specs

SPEC = """task: words
dataset: {reader: words}
models: [{echo: {n: 1}}, {echo: {n: 2, label: two}}]
metrics: [length]
decoding: {candidates: [1, 2]}
views:
"""


def check(project, *views):
    (project / "spec.yaml").write_text(SPEC + "".join(f"  - {view}\n" for view in views))
    api.plans("spec.yaml")


@pytest.mark.parametrize(
    "view",
    [
        "{plot: line, x: decoding.candidates, y: length, by: model}",
        "{plot: table, x: model, y: length, by: decoding.candidates}",
        "{plot: table, x: decoding.candidates, y: 'p:length', by: model}",
        "{plot: scatter, x: 'metric:length', y: length}",
        "{plot: texts, y: length}",
        "{plot: texts, y: 'p:length'}",
        "{plot: table, x: sizes.candidates, by: model}",
        "{plot: line, x: decoding.options.alpha}",
        "{plot: line, x: model_params.n}",
        "{plot: verdicts, against: two}",
    ],
)
def test_views_of_the_run_pass(project, view):
    check(project, view)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ("{plot: line, y: lenth}", "the view asks for the metric 'lenth'; did you mean 'length'?; there are length"),
        ("{plot: line, y: [length, 'p:lenth']}", "the metric 'lenth'"),
        ("{plot: line, x: 'metric:lenth'}", "the metric 'lenth'"),
        ("{plot: verdicts, against: tow}", "compares with the model 'tow'; did you mean 'two'?; there are echo, two"),
        ("{plot: line, x: modl}", "the view's axis 'modl' is no field of a record; did you mean 'model'?"),
        ("{plot: line, by: decoding.temprature}", "decoding has no 'temprature'; did you mean 'temperature'?"),
        ("{plot: texts, y: 'ci:length'}", "a view of texts is ordered by a metric or by p:METRIC; found 'ci:length'"),
        (
            "{plot: table, title: T, x: model}",
            "the view 'T' has one cell for several results, which differ in decoding.candidates",
        ),
        ("{plot: bar, x: decoding.candidates}", "which differ in model (echo, two): make model its x or by"),
    ],
)
def test_a_view_that_the_run_cannot_fill_has_its_line(project, view, message):
    with pytest.raises(InputError) as caught:
        check(project, "{plot: line}", view)
    assert str(caught.value).startswith("spec.yaml:8: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"label": "humam", "values": {}}, "published values of the row 'humam'; did you mean 'human'"),
        ({"label": "human", "values": {"meteo": 1.0}}, "published values of the metric 'meteo'; did you mean 'meteor'"),
    ],
)
def test_published_values_of_an_unknown_row_or_metric(row, message, root):
    view = {"plot": "table", "x": "metric", "by": "model", "reference": {"source": "s", "rows": [row]}}
    content = {
        "task": "t", "dataset": {"reader": "coco", "path": str(root / "tasks/harness_tasks/sample/captions.json")},
        "models": [{"human": {"held_out": 1}}], "metrics": ["meteor"], "views": [view],
    }  # fmt: skip
    (loaded,) = load_specs(content)
    with pytest.raises(InputError, match=message):
        make_plan(loaded)
    row["task"] = "another"
    make_plan(load_specs(content)[0])
