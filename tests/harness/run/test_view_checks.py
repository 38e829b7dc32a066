"""Views of a spec need metrics, models and axes that the run has."""

from __future__ import annotations

import pytest

from harness import api
from harness.errors import InputError
from harness.run.plan import make_plan
from harness.spec.loading import load_specs

VIEW_CHECKS_SPEC = """task: words
dataset: {reader: words}
models: [{echo: {n: 1}}, {echo: {n: 2, label: two}}]
metrics: [length]
decoding: {candidates: [1, 2]}
views:
"""
PUBLISHED_SPEC = """task: words
dataset: {reader: words}
models: [{echo: {n: 1}}, {echo: {n: 2, label: two}}]
metrics: [length, {distinct: {n: 1}}]
views:
  - {plot: line}
  - plot: bar
    x: metric
    by: model
    reference: {source: S, rows: [ROW]}
"""


def plan(**values):
    (item,) = api.plans("spec.yaml", **values)
    return item


def check(project, *views):
    (project / "spec.yaml").write_text(
        VIEW_CHECKS_SPEC + "".join(f"  - {view}\n" for view in views)
    )
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
        "{plot: verdicts, against: two, y: 'ci:length'}",
        "{plot: line, y: 'ci:length'}",
    ],
)
def test_views_of_the_run_pass(project, view):
    check(project, view)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (
            "{plot: line, y: lenth}",
            "the view asks for the metric 'lenth'; did you mean 'length'?; "
            "there are length",
        ),
        ("{plot: line, y: [length, 'p:lenth']}", "the metric 'lenth'"),
        ("{plot: line, x: 'metric:lenth'}", "the metric 'lenth'"),
        (
            "{plot: verdicts, against: tow}",
            "compares with the model 'tow'; did you mean 'two'?; there are echo, two",
        ),
        (
            "{plot: line, x: modl}",
            "the view's axis 'modl' is no field of a record; did you mean 'model'?",
        ),
        (
            "{plot: line, by: decoding.temprature}",
            "decoding has no 'temprature'; did you mean 'temperature'?",
        ),
        (
            "{plot: texts, y: 'ci:length'}",
            "a view of texts is ordered by a metric or by p:METRIC; found 'ci:length'",
        ),
        (
            "{plot: table, title: T, x: model}",
            "the view 'T' has one cell for several results, "
            "which differ in decoding.candidates",
        ),
        (
            "{plot: bar, x: decoding.candidates}",
            "which differ in model (echo, two): make model its x or by",
        ),
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
        (
            {"label": "humam", "values": {}},
            "published values of the row 'humam'; did you mean 'human'",
        ),
        (
            {"label": "human", "values": {"meteo": 1.0}},
            "published values of the metric 'meteo'; did you mean 'meteor'",
        ),
    ],
)
def test_published_values_of_an_unknown_row_or_metric(row, message, root):
    def load(**fields):
        view = {
            "plot": "table",
            "x": "metric",
            "by": "model",
            "reference": {"source": "s", "rows": [{**row, **fields}]},
        }
        content = {
            "task": "t",
            "dataset": {
                "reader": "coco",
                "path": str(root / "tasks/harness_tasks/sample/captions.json"),
            },
            "models": [{"human": {"held_out": 1}}],
            "metrics": ["meteor"],
            "views": [view],
        }
        return load_specs(content)[0]

    for fields in ({}, {"task": "t"}):
        with pytest.raises(InputError, match=message):
            make_plan(load(**fields))
    make_plan(load(task="another"))


@pytest.mark.parametrize(
    ("row", "changes", "message"),
    [
        ("{label: two, values: {length: 1.0, distinct1: 2.0}}", {}, None),
        ("{label: '*', values: {length: 1.0}}", {}, None),
        ("{values: {length: 1.0}}", {}, None),
        (
            "{label: tow, task: words, values: {length: 1.0}}",
            {},
            "the row 'tow'; did you mean 'two'?; rows of the view are echo, "
            "two (a row ",
        ),
        ("{label: tow, task: other, values: {lenth: 1.0}}", {}, None),
        (
            "{label: tow, values: {length: 1.0}}",
            {"by: model": "by: decoding.strategy"},
            None,
        ),
        (
            "{label: two, values: {distinct1: 1.0, lenth: 1.0}}",
            {},
            "metric 'lenth'; did you mean 'length'?; there are length, distinct1",
        ),
        ("{label: two, values: {lenth: 1.0}}", {"x: metric": "x: task"}, None),
        ("{label: tow, values: {length: 1.0}}", {"x: metric": "x: task"}, None),
        (
            "{label: tow, values: {length: 1.0}}",
            {"x: metric": "x: decoding.candidates"},
            None,
        ),
        (
            "{label: two, values: {lenth: 1.0}}",
            {"x: metric": "x: decoding.candidates"},
            None,
        ),
        ("{label: tow, values: {length: 1.0}}", {"by: model": "by: task"}, None),
    ],
)
def test_published_values_are_those_of_rows_and_columns_of_the_view(
    project, row, changes, message
):
    text = PUBLISHED_SPEC.replace("ROW", row)
    for old, new in changes.items():
        text = text.replace(old, new)
    if "by: model" not in text:
        text = text.replace("plot: bar", "plot: scatter")
    (project / "spec.yaml").write_text(text)
    if message is None:
        plan()
        return
    with pytest.raises(InputError) as caught:
        plan()
    assert str(caught.value).startswith("spec.yaml:10: published values of the ")
    assert message in str(caught.value)
    assert caught.value.value == ("tow" if "tow" in row else "lenth")


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ("{plot: line, x: decoding.options.alpha}", None),
        ("{plot: line, x: decoding.references}", None),
        ("{plot: line, x: level, by: signature}", None),
        (
            "{plot: line, x: decoding.candidats}",
            "the view's axis 'decoding.candidats': decoding has no 'candidats'; "
            "did you mean 'candidates'?",
        ),
        (
            "{plot: line, x: decoding.reference}",
            "the view's axis 'decoding.reference': decoding has no 'reference'; "
            "did you mean 'references'?",
        ),
        ("{plot: line, x: decoding}", "the view's axis 'decoding': decoding has no ''"),
        (
            "{plot: line, by: seconds}",
            "the view's axis 'seconds' is no field of a record",
        ),
    ],
)
def test_an_axis_is_a_field_of_a_record(project, view, message):
    if message is None:
        check(project, view)
        return
    with pytest.raises(InputError) as caught:
        check(project, view)
    assert str(caught.value).startswith(f"spec.yaml:7: {message}")
