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
VIEW_CHECKS_SPEC = """task: words
dataset: {reader: words}
models: [{echo: {n: 1}}, {echo: {n: 2, label: two}}]
metrics: [length]
decoding: {candidates: [1, 2]}
views:
"""
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
SAME_SPEC = """task: words
dataset: {reader: words}
models: [{echo: {n: 2}}, {echo: {n: 3, label: two}}]
metrics: [length]
references: [2]
decoding:
  candidates: 2
same:
  - echo
  - two
"""
FILES_SPEC = """task: t
dataset:
  reader: jsonl
  path: DATA
models:
  - echo
  - predictions:
      label: mine
      path: CAPTIONS
metrics:
  - length
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


def test_decodings_are_the_product_of_the_lists():
    grid = decoding_grid(
        DecodingSpec(temperature=[0.5, 1.0], candidates=[1, 3], options={"alpha": 1})
    )
    assert [(d.temperature, d.candidates) for d in grid] == [
        (0.5, 1),
        (0.5, 3),
        (1.0, 1),
        (1.0, 3),
    ]
    assert all(d.options == {"alpha": 1} for d in grid)


def test_a_decoding_is_described_by_what_differs_from_the_defaults():
    decoding = Decoding(strategy="nucleus", top_p=0.9, options={"alpha": 1})
    assert changed_fields(decoding) == {
        "strategy": "nucleus",
        "top_p": 0.9,
        "options": {"alpha": 1},
    }
    assert changed_fields(Decoding()) == {}


def test_decodings_that_differ_in_candidates_share_the_generation_of_the_largest(
    project,
):
    item = plan(decoding={"temperature": [0.5, 1.0], "candidates": [1, 2]})
    assert [len(decodings) for decodings in item.generations.values()] == [2, 2]
    assert [
        (decoding.temperature, decoding.candidates) for decoding in item.generations
    ] == [(0.5, 2), (1.0, 2)]


def test_models_get_unique_labels_and_label_is_no_parameter(project):
    item = plan(
        models=["echo", {"echo": {"n": 3}}, {"echo": {"label": "mine", "n": 1}}]
    )
    assert [(model.label, model.name, model.params) for model in item.models] == [
        ("echo", "echo", {}),
        ("echo #2", "echo", {"n": 3}),
        ("mine", "echo", {"n": 1}),
    ]


def test_reference_counts_are_distinct(project):
    assert plan(references=[1, 2, 1]).reference_counts == (1, 2)
    assert plan().reference_counts == (None,)


def test_metrics_are_split_by_level(project):
    item = plan()
    assert [metric.label for metric in item.caption_metrics] == ["length"]
    assert item.token_metrics == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "WORD: 1",
            "scal: 1",
            "spec.yaml:7: metric 'length' has no parameter 'scal'; "
            "did you mean 'scale'?",
        ),
        (
            "{n: 2}",
            "{m: 2}",
            "spec.yaml:4: adapter 'echo' has no parameter 'm'; "
            "did you mean 'n'?|adapter 'echo' has no",
        ),
        (
            "reader: words",
            "reader: wrds",
            "spec.yaml:2: unknown reader 'wrds'; did you mean 'words'?",
        ),
        (
            "- length\n",
            "- lenth\n",
            "spec.yaml:6: unknown metric 'lenth'; did you mean 'length'?",
        ),
        ("- echo: {n: 2}", "- 3", "spec.yaml:4: models.0: expected a name or one name"),
    ],
)
def test_a_mistake_has_its_line(project, old, new, message):
    (project / "spec.yaml").write_text(
        SPEC.replace(old, new).replace("      WORD: 1\n", "")
    )
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        plan()


def test_an_error_of_a_constructor_has_the_line_of_its_component(project):
    code = (project / "mine_parts.py").read_text()
    check = (
        "if scale < 0: raise ValueError('scale is below 0')\n        self.scale, "
        "self.undefined ="
    )
    code = code.replace("self.scale, self.undefined =", check)
    (project / "mine_parts.py").write_text(code)
    (project / "spec.yaml").write_text(
        SPEC.replace("2.0", "-1.0").replace("      WORD: 1\n", "")
    )
    with pytest.raises(
        InputError, match=r"^spec\.yaml:7: metrics\.1: scale is below 0$"
    ):
        plan()


def test_a_missing_file_is_named_with_the_line_of_a_spec_and_alone_without_one(project):
    content = {
        "task": "t",
        "dataset": {"reader": "words"},
        "models": [{"predictions": {"path": "absent.jsonl"}}],
        "metrics": ["length"],
    }
    (project / "missing.yaml").write_text(
        "".join(f"{key}: {json.dumps(value)}\n" for key, value in content.items())
    )
    for spec, place in ((content, "absent.jsonl"), ("missing.yaml", "missing.yaml:3")):
        with pytest.raises(
            InputError, match="absent.jsonl: no such file of predictions"
        ) as caught:
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


def test_models_are_named_by_their_weights():
    assert plan_module._name_weights(["org/blip", "/data/blip2/", "gpt-4o", 3, ""]) == [
        "blip",
        "blip2",
        "gpt-4o",
        "",
        "",
    ]
    assert plan_module._name_weights(["out/one/last", "out/two/last", "last"]) == [
        "one/last",
        "two/last",
        "last",
    ]
    assert plan_module._name_weights(["a/x", "a/x", "b/x"]) == ["a/x", "a/x", "b/x"]


def test_a_secret_in_a_label_is_redacted(project, monkeypatch):
    monkeypatch.setenv("TOKEN_OF_TEST", "sk-0123456789abcdef")
    written = (
        (project / "spec.yaml")
        .read_text()
        .replace("  - echo: {}", '  - echo: {label: "m ${secret:TOKEN_OF_TEST}"}')
    )
    (project / "spec.yaml").write_text(written)
    run = api.evaluate("spec.yaml", allow_secrets=["TOKEN_OF_TEST"])
    assert [record.model for record in run.records] == ["m ${secret:TOKEN_OF_TEST}"]
    assert "0123456789" not in str(run.samples.to_dict())


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
    text = {"argument": (), "set": ("metrics=[length]",), "item": ("metrics.1=rouge",)}[
        by
    ]
    titles, notice = planned(
        spec, *text, **({"metrics": ["length"]} if by == "argument" else {})
    )
    assert titles == ["both", "all", "verdicts"]
    assert notice == (
        "Views left out: 'plane' (no distinct1), 'texts' (no distinct1). "
        "Views left out in part: 'both'."
    )


def test_a_view_keeps_the_quantities_that_the_run_has(spec):
    (plan,) = api.plans(spec, metrics=["length"])
    assert plan.spec.views[0].y == ["length"]


def test_the_notice_of_the_spec_stays(spec):
    assert planned(spec, "notice=mine.", metrics=["rouge"])[1].startswith(
        "mine. Views left out: 'both' (no length), "
    )


def test_views_of_replaced_models_and_cells_of_a_new_axis(spec):
    assert (
        planned(spec, models=[{"echo": {"n": 3}}])[1]
        == "Views left out: 'verdicts' (no two)."
    )
    titles, notice = planned(spec, "decoding.candidates=[1, 2]")
    assert titles == ["plane", "texts", "verdicts"]
    assert "'all' (several results in a cell, by decoding.candidates)" in notice


def test_views_of_the_user_are_checked(spec):
    with pytest.raises(InputError, match=r"the view asks for the metric 'distinct1'"):
        planned(spec, "metrics=[length]", "views=[{plot: line, y: distinct1}]")


def test_a_mistake_in_the_file_stays_an_error_with_its_line(spec):
    spec.write_text(SPEC_OF_VIEWS.replace("y: distinct1}", "y: distict1}"))
    with pytest.raises(
        InputError, match=r"spec.yaml:8: the view asks for the metric 'distict1'"
    ):
        planned(spec)


def test_a_mistake_in_published_values_stays_an_error_with_other_decodings(spec):
    table = "reference: {source: S, rows: [{label: tow, values: {length: 1.0}}]}"
    spec.write_text(
        SPEC_OF_VIEWS + f"  - {{plot: table, x: metric, by: model, {table}}}\n"
    )
    with pytest.raises(
        InputError, match=r"published values of the row 'tow'; did you mean 'two'"
    ):
        planned(spec, "decoding.candidates=2")


def test_lines_of_the_remaining_views(spec):
    spec.write_text(
        SPEC_OF_VIEWS.replace("title: all, x: metric", "title: all, x: metrc")
    )
    with pytest.raises(InputError, match=r"spec.yaml:9: the view's axis 'metrc'"):
        planned(spec, metrics=["length"])


def test_a_file_that_includes_another_replaces_its_metrics(spec, project):
    (project / "mine.yaml").write_text("include: spec.yaml\nmetrics: [length]\n")
    assert planned("mine.yaml")[0] == ["both", "all", "verdicts"]
    (project / "own.yaml").write_text(
        "include: spec.yaml\nmetrics: [length]\nviews: [{plot: bar, y: distinct1}]\n"
    )
    with pytest.raises(
        InputError, match=r"own.yaml:3: the view asks for the metric 'distinct1'"
    ):
        planned("own.yaml")


def test_metrics_left_out_by_a_condition_take_their_views_without_a_further_note(spec):
    spec.write_text(
        SPEC_OF_VIEWS.replace(
            "{distinct: {n: 1}}",
            "{distinct: {n: 1}, when: {installed: no-such-package}}",
        )
    )
    titles, notice = planned(spec)
    assert titles == ["both", "all", "verdicts"]
    assert (
        notice.startswith("Left out of the metrics: distinct(n: 1)")
        and "Views" not in notice
    )


def test_published_values_of_absent_rows_and_columns_are_left_out(spec):
    rows = (
        "[{label: echo, values: {length: 1.0, distinct1: 2.0}}, {label: two, values: "
        "{length: 3.0}}]"
    )
    spec.write_text(
        SPEC_OF_VIEWS
        + f"  - {{plot: table, title: published, x: metric, by: model, reference: "
        f"{{source: S, rows: {rows}}}}}\n"
    )
    (plan,) = api.plans(spec, metrics=["length"], models=[{"echo": {"n": 3}}])
    (row,) = plan.spec.views[-1].reference.rows
    assert (row.label, row.values) == ("echo", {"length": 1.0})
    (plan,) = api.plans(spec, metrics=["rouge"])
    assert plan.spec.views[-1].reference == {}


def test_two_models_under_one_decoding_may_be_compared(project):
    (project / "spec.yaml").write_text(SAME_SPEC)
    assert plan().spec.same == ["echo", "two"]
    (project / "spec.yaml").write_text(
        SAME_SPEC.replace("candidates: 2", "strategy: nucleus")
    )
    assert plan().decodings[0].candidates is None, "as many as the model gives"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "  - two\n",
            "  - tow\n",
            "spec.yaml:10: same: there is no model 'tow'; did you mean 'two'?; "
            "models are echo, two",
        ),
        (
            "  - echo\n",
            "  - ecko\n",
            "spec.yaml:9: same: there is no model 'ecko'; did you mean 'echo'?; "
            "models are echo, two",
        ),
        (
            "  - two\n",
            "  - echo\n",
            "spec.yaml:10: same: the model 'echo' is named twice; "
            "expected different models",
        ),
        (
            "candidates: 2",
            "candidates: [2, 3]",
            "spec.yaml:8: same: compares models under one decoding and number of "
            "references; found a grid",
        ),
        (
            "[2]",
            "[1, 2]",
            "spec.yaml:8: same: compares models under one decoding and number of "
            "references; found a grid",
        ),
        (
            "candidates: 2",
            "candidates: 1",
            "spec.yaml:7: same: one caption of each model per example has a smallest "
            "p-value of 1",
        ),
    ],
)
def test_models_that_cannot_be_compared_have_their_line(project, old, new, message):
    assert SAME_SPEC.count(old) == 1
    (project / "spec.yaml").write_text(SAME_SPEC.replace(old, new))
    with pytest.raises(InputError) as caught:
        plan()
    assert str(caught.value).startswith(message)
    if new == "candidates: 1":
        assert str(caught.value).endswith(
            "(5 captions 2/252); expected candidates: 2 or more"
        )
        assert (caught.value.parameter, caught.value.value) == ("candidates", 1)


def test_the_label_of_a_model_has_the_system_that_it_reads(project):
    path = project / "captions.jsonl"
    path.write_text(
        '{"id": "e0", "system": "s1", "candidates": ["a"]}\n{"id": "e0", "system": '
        '"s2", "candidates": ["b"]}\n'
    )
    models = [
        {"predictions": {"path": str(path), "system": name}} for name in ("s1", "s2")
    ]
    assert [model.label for model in plan(models=models).models] == [
        "predictions(s1)",
        "predictions(s2)",
    ]
    models[1]["predictions"]["label"] = "second"
    assert [
        (model.label, "label" in model.params) for model in plan(models=models).models
    ] == [
        ("predictions(s1)", False),
        ("second", False),
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("TypeError('no text')", "spec.yaml:7: metrics.1: no text"),
        ("ValueError('no number')", "spec.yaml:7: metrics.1: no number"),
        (
            "HarnessError('no file', parameter='scale', value=2.0)",
            "spec.yaml:7: no file",
        ),
        (
            "InputError('too large', parameter='scale', value=2.0)",
            "spec.yaml:9: too large",
        ),
    ],
)
def test_an_error_of_any_kind_of_a_constructor_is_about_the_spec(
    project, error, message
):
    code = (project / "mine_parts.py").read_text()
    check = f"if scale == 2: raise {error}\n        self.scale, self.undefined ="
    code = code.replace("self.scale, self.undefined =", check)
    (project / "mine_parts.py").write_text(
        "from harness.errors import HarnessError, InputError\n" + code
    )
    (project / "spec.yaml").write_text(
        SPEC.replace(
            "      scale: 2.0\n      WORD: 1\n",
            "      undefined: []\n      scale: 2.0\n",
        )
    )
    with pytest.raises(InputError) as caught:
        plan()
    assert str(caught.value) == message
    if "parameter" in error:
        assert (caught.value.parameter, caught.value.value) == ("scale", 2.0)


@pytest.mark.parametrize(("absent", "line"), [("DATA", 4), ("CAPTIONS", 9)])
def test_a_missing_file_has_the_line_of_its_path(project, absent, line):
    (project / "data.jsonl").write_text(
        '{"id": "e0", "references": ["a"], "candidates": ["b"]}\n'
    )
    other = {"DATA": "CAPTIONS", "CAPTIONS": "DATA"}[absent]
    (project / "spec.yaml").write_text(
        FILES_SPEC.replace(absent, "absent.jsonl").replace(other, "data.jsonl")
    )
    with pytest.raises(InputError, match=rf"^spec\.yaml:{line}: absent\.jsonl"):
        make_plan(load_specs("spec.yaml")[0])


@pytest.mark.parametrize("rival", [True, False])
def test_a_metric_that_judges_two_captions_together_needs_judged_pairs(project, rival):
    code = (project / "mine_parts.py").read_text()
    code = code.replace(
        'MetricSpec("length", level=level,',
        f'MetricSpec("length", level=level, rival={rival},',
    )
    (project / "mine_parts.py").write_text(code)
    if not rival:
        assert len(plan().metrics) == 1
        return
    with pytest.raises(InputError) as caught:
        plan()
    assert (
        str(caught.value)
        == "spec.yaml:6: length with rival: true needs judged pairs (harness run "
        "judgments/caparena)"
    )


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
    ("views", "cell"),
    [
        (["{plot: heatmap, x: decoding.candidates, by: model}"], None),
        (
            ["{plot: heatmap, x: metric, by: model}"],
            "decoding.candidates (1, 2): make decoding.candidates its x or by",
        ),
        (
            ["{plot: bar, x: decoding.candidates, by: metric}"],
            "model (echo, two): make model its x or by",
        ),
        (["{plot: table, x: model, by: sizes.references}"], None),
        (["{plot: table, x: 'metric:length', by: model}"], None),
        (["{plot: scatter, x: metric, by: model}"], None),
    ],
)
def test_a_cell_of_a_view_has_one_result(project, views, cell):
    if cell is None:
        check(project, *views)
        return
    with pytest.raises(InputError) as caught:
        check(project, "{plot: line}", *views)
    assert (
        str(caught.value)
        == "spec.yaml:8: the view 'PLOT' has one cell for several results, "
        f"which differ in {cell}".replace(
            "PLOT", views[0].split(",")[0].removeprefix("{plot: ")
        )
    )


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


def test_views_of_reference_counts_have_a_cell_for_each(spec, project):
    spec.write_text(
        SPEC_OF_VIEWS.replace("views:", "references: [1, 2]\nviews:").replace(
            "x: metric, by: model", "x: decoding.references, by: model"
        )
    )
    assert planned(spec)[0][0] == "both"
    spec.write_text(SPEC_OF_VIEWS.replace("views:", "references: [1, 2]\nviews:"))
    with pytest.raises(
        InputError,
        match=r"differ in decoding.references \(1, 2\): "
        r"make decoding.references its x or by",
    ):
        planned(spec)
    titles, notice = planned(spec, "references=[2, 1]")
    assert titles == ["plane", "texts", "verdicts"]
    reason = "several results in a cell, by decoding.references"
    assert notice == f"Views left out: 'both' ({reason}), 'all' ({reason})."


def test_a_view_of_one_metric_has_no_cell_of_the_others(spec):
    spec.write_text(SPEC_OF_VIEWS.replace("by: model, y: [length", "y: [length"))
    with pytest.raises(
        InputError,
        match="the view 'both' has one cell for several results, which differ in model",
    ):
        planned(spec)
    one = "{plot: bar, title: one, x: model, y: 'p:length'}"
    spec.write_text(SPEC_OF_VIEWS + f"  - {one}\n")
    assert planned(spec)[0][-1] == "one"
    spec.write_text(SPEC_OF_VIEWS + f"  - {one.replace('x: model', 'x: metric')}\n")
    with pytest.raises(
        InputError,
        match="the view 'one' has one cell for several results, which differ in model",
    ):
        planned(spec)


def test_views_left_out_in_part_alone_are_named_and_keep_their_kind(spec):
    spec.write_text(
        SPEC_OF_VIEWS.replace("  - {plot: scatter", "  - {plot: line")
        .replace(
            'x: "metric:distinct1", y: length', 'x: model, y: ["p:length", distinct1]'
        )
        .replace("title: texts, y: distinct1", "title: texts, y: 'p:length'")
    )
    (plan,) = api.plans(spec, metrics=["length"])
    assert [view.title for view in plan.spec.views] == [
        "both",
        "plane",
        "texts",
        "all",
        "verdicts",
    ]
    assert [view.y for view in plan.spec.views] == [
        ["length"],
        ["p:length"],
        "p:length",
        "*",
        "*",
    ]
    assert plan.spec.notice == "Views left out in part: 'both', 'plane'."


@pytest.mark.parametrize(
    ("x", "by", "is_cut"),
    [
        ("metric", "task", True),
        ("metric", "decoding.strategy", True),
        ("task", "metric", False),
        ("decoding.candidates", "metric", False),
    ],
)
def test_published_values_stay_where_rows_are_no_models_or_columns_no_metrics(
    spec, x, by, is_cut
):
    rows = (
        "{source: S, rows: [{label: old, values: {length: 1.0, distinct1: 2.0}}, "
        "{label: gone, values: {distinct1: 3.0}}]}"
    )
    spec.write_text(
        SPEC_OF_VIEWS
        + f"  - {{plot: scatter, title: published, x: {x}, by: {by}, reference: "
        f"{rows}}}\n"
    )
    (plan,) = api.plans(spec, metrics=["length"])
    found = [(row.label, row.values) for row in plan.spec.views[-1].reference.rows]
    whole = [("old", {"length": 1.0, "distinct1": 2.0}), ("gone", {"distinct1": 3.0})]
    assert found == ([("old", {"length": 1.0})] if is_cut else whole)


def test_a_view_of_any_name_is_left_out_with_its_metric(spec):
    spec.write_text(
        SPEC_OF_VIEWS
        + "  - {plot: bar, title: older, x: metric, by: model, y: (old)}\n"
    )
    titles, notice = planned(spec, metrics=["length"])
    assert titles == ["both", "all", "verdicts"] and "'older' (no (old))" in notice


def test_views_are_left_out_where_metrics_are_dropped_by_a_condition_and_replaced(spec):
    spec.write_text(
        SPEC_OF_VIEWS.replace(
            "{distinct: {n: 1}}",
            "{distinct: {n: 1}, when: {installed: no-such-package}}",
        )
    )
    assert planned(spec, "metrics.0=rouge")[0] == ["all", "verdicts"]


def test_published_values_of_every_row_stay_when_models_are_replaced(spec):
    rows = (
        "[{label: '*', values: {length: 1.0}}, {values: {length: 2.0}}, {label: two, "
        "values: {length: 3.0}}]"
    )
    spec.write_text(
        SPEC_OF_VIEWS
        + f"  - {{plot: table, title: published, x: metric, by: model, reference: "
        f"{{source: S, rows: {rows}}}}}\n"
    )
    (plan,) = api.plans(spec, models=[{"echo": {"n": 3}}])
    assert [(row.label, row.values) for row in plan.spec.views[-1].reference.rows] == [
        ("*", {"length": 1.0}),
        (None, {"length": 2.0}),
    ]


def test_a_run_with_metrics_of_token_scores_keeps_all_its_views(project):
    (project / "spec.yaml").write_text(
        "task: words\ndataset: {reader: words}\nmodels: [echo]\nmetrics: [perplexity]\n"
        "views:\n  - {plot: bar, x: modl, y: anything}\n  - {plot: bar, x: metric}\n"
    )
    (item,) = api.plans("spec.yaml", metrics=["length", "perplexity"])
    assert [view.metrics for view in item.spec.views] == [["anything"], ["*"]]


def test_lines_within_the_remaining_views(spec):
    reference = "{source: S, rows: [{label: tow, values: {length: 1.0}}]}"
    text = (
        SPEC_OF_VIEWS
        + "  - plot: scatter\n    title: published\n    x: metric\n    by: "
        f"model\n    reference: {reference}\n"
    )
    first = SPEC_OF_VIEWS.count("\n") + 1
    spec.write_text(text)
    with pytest.raises(
        InputError, match=rf"/spec.yaml:{first + 4}: published values of the row 'tow'"
    ):
        planned(spec, "decoding.candidates=[1, 2]")
    spec.write_text(text.replace("    x: metric", "    x: metrc"))
    with pytest.raises(
        InputError, match=rf"/spec.yaml:{first}: the view's axis 'metrc'"
    ):
        planned(spec, "decoding.candidates=[1, 2]")


def test_remaining_views_of_the_command_line_have_its_place(spec):
    spec.write_text(
        SPEC_OF_VIEWS.replace(
            "{distinct: {n: 1}}",
            "{distinct: {n: 1}, when: {installed: no-such-package}}",
        )
    )
    views = "views=[{plot: bar, y: distinct1}, {plot: line, x: metrc}]"
    with pytest.raises(InputError) as caught:
        planned(spec, views)
    assert str(caught.value).startswith(
        f"--set {views}: the view's axis 'metrc' is no field of a record"
    )
