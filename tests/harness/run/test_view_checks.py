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
        ("{plot: table, title: T, x: model}", "the view 'T' has one cell for several results, which differ in decoding.candidates"),
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


SPEC_OF_VIEWS = """task: words
dataset: {reader: words}
models: [{echo: {n: 1}}, {echo: {n: 2, label: two}}]
metrics: [length, {distinct: {n: 1}}]
views:
  - {plot: bar, title: both, x: metric, by: model, y: [length, "p:distinct1"]}
  - {plot: scatter, title: plane, x: "metric:distinct1", y: length}
  - {plot: texts, title: texts, y: distinct1}
  - {plot: bar, title: all, x: metric, by: model}
  - {plot: verdicts, title: verdicts, against: two}
"""


@pytest.fixture
def spec(project):
    (project / "spec.yaml").write_text(SPEC_OF_VIEWS)
    return project / "spec.yaml"


def planned(source, *overrides, **replace):
    """Return titles of the views and the notice of the planned spec."""
    (plan,) = api.plans(source, overrides, **replace)
    return [view.title for view in plan.spec.views], plan.spec.notice


def test_a_spec_as_it_is_has_all_its_views(spec):
    assert planned(spec, limit=1) == (["both", "plane", "texts", "all", "verdicts"], "")


@pytest.mark.parametrize("by", ["argument", "set", "item"])
def test_views_of_replaced_metrics_are_left_out_in_one_line(spec, by):
    text = {"argument": (), "set": ("metrics=[length]",), "item": ("metrics.1=rouge",)}[by]
    titles, notice = planned(spec, *text, **({"metrics": ["length"]} if by == "argument" else {}))
    assert titles == ["both", "all", "verdicts"]
    assert notice == ("Views left out: 'plane' (no distinct1), 'texts' (no distinct1). Views left out in part: 'both'.")


def test_a_view_keeps_the_quantities_that_the_run_has(spec):
    (plan,) = api.plans(spec, metrics=["length"])
    assert plan.spec.views[0].y == ["length"]


def test_the_notice_of_the_spec_stays(spec):
    assert planned(spec, "notice=mine.", metrics=["rouge"])[1].startswith("mine. Views left out: 'both' (no length), ")


def test_views_of_replaced_models_and_cells_of_a_new_axis(spec):
    assert planned(spec, models=[{"echo": {"n": 3}}])[1] == "Views left out: 'verdicts' (no two)."
    titles, notice = planned(spec, "decoding.candidates=[1, 2]")
    assert titles == ["plane", "texts", "verdicts"]
    assert "'all' (several results in a cell, by decoding.candidates)" in notice


def test_views_of_the_user_are_checked(spec):
    with pytest.raises(InputError, match=r"the view asks for the metric 'distinct1'"):
        planned(spec, "metrics=[length]", "views=[{plot: line, y: distinct1}]")


def test_a_mistake_in_the_file_stays_an_error_with_its_line(spec):
    spec.write_text(SPEC_OF_VIEWS.replace("y: distinct1}", "y: distict1}"))
    with pytest.raises(InputError, match=r"spec.yaml:8: the view asks for the metric 'distict1'"):
        planned(spec)


def test_lines_of_the_remaining_views(spec):
    spec.write_text(SPEC_OF_VIEWS.replace("title: all, x: metric", "title: all, x: metrc"))
    with pytest.raises(InputError, match=r"spec.yaml:9: the view's axis 'metrc'"):
        planned(spec, metrics=["length"])


def test_a_file_that_includes_another_replaces_its_metrics(spec, project):
    (project / "mine.yaml").write_text("include: spec.yaml\nmetrics: [length]\n")
    assert planned("mine.yaml")[0] == ["both", "all", "verdicts"]
    (project / "own.yaml").write_text("include: spec.yaml\nmetrics: [length]\nviews: [{plot: bar, y: distinct1}]\n")
    with pytest.raises(InputError, match=r"own.yaml:3: the view asks for the metric 'distinct1'"):
        planned("own.yaml")


def test_metrics_left_out_by_a_condition_take_their_views_without_a_further_note(spec):
    spec.write_text(SPEC_OF_VIEWS.replace("{distinct: {n: 1}}", "{distinct: {n: 1}, when: {installed: no-such-package}}"))
    titles, notice = planned(spec)
    assert titles == ["both", "all", "verdicts"]
    assert notice.startswith("Left out of the metrics: distinct(n: 1)") and "Views" not in notice


def test_published_values_of_absent_rows_and_columns_are_left_out(spec):
    rows = "[{label: echo, values: {length: 1.0, distinct1: 2.0}}, {label: two, values: {length: 3.0}}]"
    spec.write_text(
        SPEC_OF_VIEWS + f"  - {{plot: table, title: published, x: metric, by: model, reference: {{source: S, rows: {rows}}}}}\n"
    )
    (plan,) = api.plans(spec, metrics=["length"], models=[{"echo": {"n": 3}}])
    (row,) = plan.spec.views[-1].reference.rows
    assert (row.label, row.values) == ("echo", {"length": 1.0})
    (plan,) = api.plans(spec, metrics=["rouge"])
    assert plan.spec.views[-1].reference == {}
