"""Views that a run with other metrics, models or decodings can still fill."""

from __future__ import annotations

import pytest

from harness import api
from harness.errors import InputError

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


@pytest.mark.slow
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
