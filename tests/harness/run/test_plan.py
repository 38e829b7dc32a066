"""The plan of a run: decoding grids, labels, places of mistakes."""

from __future__ import annotations

import json

import pytest

from harness import api
from harness.contracts import Decoding
from harness.errors import InputError
from harness.run import plan as plan_module
from harness.run.plan import decoding_grid, make_plan
from harness.rundir.records import changed_fields
from harness.spec.loading import load_specs
from harness.spec.models import DecodingSpec


def plan(**values):
    (item,) = api.plans("spec.yaml", **values)
    return item


def test_decodings_are_the_product_of_the_lists():
    grid = decoding_grid(DecodingSpec(temperature=[0.5, 1.0], candidates=[1, 3], options={"alpha": 1}))
    assert [(d.temperature, d.candidates) for d in grid] == [(0.5, 1), (0.5, 3), (1.0, 1), (1.0, 3)]
    assert all(d.options == {"alpha": 1} for d in grid)


def test_a_decoding_is_described_by_what_differs_from_the_defaults():
    decoding = Decoding(strategy="nucleus", top_p=0.9, options={"alpha": 1})
    assert changed_fields(decoding) == {"strategy": "nucleus", "top_p": 0.9, "options": {"alpha": 1}}
    assert changed_fields(Decoding()) == {}


def test_decodings_that_differ_in_candidates_share_the_generation_of_the_largest(project):
    item = plan(decoding={"temperature": [0.5, 1.0], "candidates": [1, 2]})
    assert [len(decodings) for decodings in item.generations.values()] == [2, 2]
    assert [(decoding.temperature, decoding.candidates) for decoding in item.generations] == [(0.5, 2), (1.0, 2)]


def test_models_get_unique_labels_and_label_is_no_parameter(project):
    item = plan(models=["echo", {"echo": {"n": 3}}, {"echo": {"label": "mine", "n": 1}}])
    assert [(model.label, model.name, model.params) for model in item.models] == [
        ("echo", "echo", {}), ("echo #2", "echo", {"n": 3}), ("mine", "echo", {"n": 1}),
    ]  # fmt: skip


def test_reference_counts_are_distinct(project):
    assert plan(references=[1, 2, 1]).reference_counts == (1, 2)
    assert plan().reference_counts == (None,)


def test_metrics_are_split_by_level(project):
    item = plan()
    assert [metric.label for metric in item.caption_metrics] == ["length"]
    assert item.token_metrics == ()


SPEC = """task: t
dataset: {reader: words, count: 3}
models:
  - echo: {n: 2}
metrics:
  - length
  - length:
      scale: 2.0
      WORD: 1
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("WORD: 1", "scal: 1", "spec.yaml:7: metric 'length' has no parameter 'scal'; did you mean 'scale'?"),
        ("{n: 2}", "{m: 2}", "spec.yaml:4: adapter 'echo' has no parameter 'm'; did you mean 'n'?|adapter 'echo' has no"),
        ("reader: words", "reader: wrds", "spec.yaml:2: unknown reader 'wrds'; did you mean 'words'?"),
        ("- length\n", "- lenth\n", "spec.yaml:6: unknown metric 'lenth'; did you mean 'length'?"),
        ("- echo: {n: 2}", "- 3", "spec.yaml:4: models.0: expected a name or one name"),
    ],
)
def test_a_mistake_has_its_line(project, old, new, message):
    (project / "spec.yaml").write_text(SPEC.replace(old, new).replace("      WORD: 1\n", ""))
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        plan()


def test_an_error_of_a_constructor_has_the_line_of_its_component(project):
    code = (project / "mine_parts.py").read_text()
    check = "if scale < 0: raise ValueError('scale is below 0')\n        self.scale, self.undefined ="
    code = code.replace("self.scale, self.undefined =", check)
    (project / "mine_parts.py").write_text(code)
    (project / "spec.yaml").write_text(SPEC.replace("2.0", "-1.0").replace("      WORD: 1\n", ""))
    with pytest.raises(InputError, match=r"^spec\.yaml:7: metrics\.1: scale is below 0$"):
        plan()


def test_a_missing_file_is_named_with_the_line_of_a_spec_and_alone_without_one(project):
    content = {"task": "t", "dataset": {"reader": "words"}, "models": [{"predictions": {"path": "absent.jsonl"}}], "metrics": ["length"]}
    (project / "missing.yaml").write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in content.items()))
    for spec, place in ((content, "absent.jsonl"), ("missing.yaml", "missing.yaml:3")):
        with pytest.raises(InputError, match="absent.jsonl: no such file of predictions") as caught:
            api.plans(spec)
        assert caught.value.where == place


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (InputError("is no number", parameter="n"), ["n"]),
        (InputError("not there", "x.jsonl"), ["path"]),
        (InputError("not JSON", "x.jsonl:4"), ["path"]),
        (InputError("not there", "x.jsonl.gz"), []),
        (InputError("not there", value="b.txt"), ["files"]),
        (InputError("not there", "a.txt:1"), ["files"]),
        (InputError("not there", value="3"), []),
        (InputError("not there"), []),
    ],
)
def test_an_error_about_a_file_has_the_line_of_its_parameter(error, fault):
    params = {"empty": "", "n": 3, "path": "x.jsonl", "files": ["a.txt", "b.txt"]}
    assert plan_module._parameter_at_fault(params, error) == fault


def test_a_secret_in_a_label_is_redacted(project, monkeypatch):
    monkeypatch.setenv("TOKEN_OF_TEST", "sk-0123456789abcdef")
    written = (project / "spec.yaml").read_text().replace("  - echo: {}", '  - echo: {label: "m ${secret:TOKEN_OF_TEST}"}')
    (project / "spec.yaml").write_text(written)
    run = api.evaluate("spec.yaml", allow_secrets=["TOKEN_OF_TEST"])
    assert [record.model for record in run.records] == ["m ${secret:TOKEN_OF_TEST}"]
    assert "0123456789" not in str(run.samples.to_dict())


VIEW_CHECKS_SPEC = """task: words
dataset: {reader: words}
models: [{echo: {n: 1}}, {echo: {n: 2, label: two}}]
metrics: [length]
decoding: {candidates: [1, 2]}
views:
"""


def check(project, *views):
    (project / "spec.yaml").write_text(VIEW_CHECKS_SPEC + "".join(f"  - {view}\n" for view in views))
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


def test_a_mistake_in_published_values_stays_an_error_with_other_decodings(spec):
    table = "reference: {source: S, rows: [{label: tow, values: {length: 1.0}}]}"
    spec.write_text(SPEC_OF_VIEWS + f"  - {{plot: table, x: metric, by: model, {table}}}\n")
    with pytest.raises(InputError, match=r"published values of the row 'tow'; did you mean 'two'"):
        planned(spec, "decoding.candidates=2")


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
