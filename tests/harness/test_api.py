"""The Python API: exported names, metrics by name,
scoring of lists and mappings, results.
"""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import harness
from harness import api
from harness.errors import HarnessError, InputError, UnknownName

PAIR = ([["a b", "a b c"], ["x"]], [["a", "b"], ["y", "z"]])


def test_the_package_lists_and_holds_its_exports():
    assert set(harness.__all__) <= set(dir(harness))
    for name in harness.__all__:
        assert getattr(harness, name) is not None
    assert harness.evaluate is api.evaluate
    with pytest.raises(
        AttributeError, match="module 'harness' has no attribute 'scor'"
    ):
        harness.scor  # noqa: B018
    namespace: dict[str, object] = {}
    exec("from harness import *", namespace)
    assert set(harness.__all__) <= set(namespace)


def test_type_checkers_see_the_same_names():
    stub = Path(harness.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    names = set(re.findall(r"^from \S+ import \w+ as (\w+)$", stub, re.MULTILINE))
    # the verb 'list' would hide Python's from an import of all names
    assert names - {"list"} | {"__version__"} == set(harness.__all__)


def test_the_api_defines_its_exports():
    assert all(hasattr(api, name) for name in api.__all__)


def test_a_metric_by_name_with_parameters(project):
    metric = harness.metric("length", scale=2.0)
    assert repr(metric) == "<metric length|scale:2>"
    result = metric(*PAIR)
    assert result.value == pytest.approx(3.5)
    assert result.per_example.tolist() == [5.0, 2.0]
    assert (result.p_values, result.p_value, result.p_method, result.skipped) == (
        None,
        None,
        None,
        0,
    )


def test_undefined_examples_are_left_out_of_the_value(project):
    result = harness.metric("length", undefined=["1"])(*PAIR)
    assert (result.value, result.skipped) == (2.5, 1)
    assert np.isnan(result.per_example).tolist() == [False, True]


def test_p_values_of_shapes_that_differ(project):
    result = harness.metric("length", p_value="exact")(
        [["a b", "a"], ["x"]], [["a", "b c d"], ["y"]]
    )
    # Lower scores are extreme. Example 0 has texts of 2, 1 | 1, 3 words: 3 of the 6
    # relabelings have a sum of at most 2 + 1.
    assert result.p_values is not None
    assert result.p_values.tolist() == [0.5, 1.0]
    # Of the 12 pairs (k / 6, l / 2), 9 have a product of at most 0.5: k l <= 6.
    assert result.p_value == pytest.approx(9 / 12)
    assert result.p_method == "exact, fisher-discrete"


def test_a_budget_below_the_number_of_relabelings_gives_monte_carlo(project):
    metric = harness.metric("length", p_value="exact", budget=1, draws=50)
    first = metric(*PAIR, seed=1)
    second = metric(*PAIR, seed=1)
    assert first.p_method == "monte-carlo, fisher-discrete"
    assert first.p_values is not None and second.p_values is not None
    assert first.p_values.tolist() == second.p_values.tolist()
    assert min(first.p_values) >= 1 / 51


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: harness.metric("lenth"),
            "unknown metric 'lenth'; did you mean 'length'?",
        ),
        (
            lambda: harness.metric("length", scal=1),
            "has no parameter 'scal'; did you mean 'scale'?",
        ),
        (
            lambda: harness.metric("length", p_value="exct"),
            "p_value is 'exct'; expected None, 'exact' or 'monte-carlo'",
        ),
        (
            lambda: harness.score([["a"]], {"a": ["b"]}, ["length"]),
            "both paths, both mappings or both lists",
        ),
        (
            lambda: harness.score({"a": ["x"]}, {"b": ["y"]}, ["length"]),
            "1 id has no references: 'a' .allow_unknown=True",
        ),
        (
            lambda: harness.score({}, {"b": ["y"]}, ["length"]),
            "1 id has no candidates: 'b' .allow_missing=True",
        ),
        (
            lambda: harness.score(*PAIR, ["length"], bootstrap=-1),
            "bootstrap is -1; expected a number of samples, or 0 for no intervals",
        ),
        (
            lambda: harness.metric("length")(*PAIR, bootstrap=-2),
            "bootstrap is -2; expected a number of samples, or 0 for no intervals",
        ),
        (
            lambda: harness.score(*PAIR, ["length:scale"]),
            "expected NAME or NAME:PARAMETER=VALUE",
        ),
    ],
)
def test_mistakes_are_reported(project, call, message):
    with pytest.raises(HarnessError, match=message.replace("?", r"\?")):
        call()


def test_score_takes_names_texts_mappings_and_instances(project):
    from harness.registry import create

    instance = create("metrics", {"length": {"scale": 3.0}}).instance
    results = harness.score(
        *PAIR, ["length", "length:scale=2", {"length": {"scale": 4.0}}, instance]
    )
    values = [result.value for result in results.values()]
    assert values == pytest.approx([1.75, 3.5, 7.0, 5.25])
    assert list(results)[:3] == ["length", "length[scale=2]", "length[scale=4.0]"]


def test_a_single_metric_needs_no_list(project):
    assert list(harness.score(*PAIR, "length")) == ["length"]
    assert harness.score(*PAIR, {"length": {"scale": 2.0}})["length"].value == 3.5


def test_a_list_of_values_is_an_axis(project):
    results = harness.score(*PAIR, [{"length": {"scale": [1.0, 2.0]}}])
    assert {label: result.value for label, result in results.items()} == {
        "length[scale=1.0]": 1.75,
        "length[scale=2.0]": 3.5,
    }


def test_mappings_are_matched_by_id(project):
    references = {"a": ["x"], "b": ["y"], 3: ["z"]}
    results = harness.score(
        {3: ["p q"], "b": ["r"], "a": ["s t u"]}, references, ["length"]
    )
    assert results["length"].per_example.tolist() == [3.0, 1.0, 2.0], (
        "in the order of the references"
    )
    results = harness.score({"b": ["r"]}, references, ["length"], allow_missing=True)
    assert results["length"].per_example.tolist() == [1.0]


def test_files_and_lists_have_the_same_results(project):
    (project / "p.json").write_text(json.dumps({"a": ["x y"], "b": ["z"]}))
    (project / "r.json").write_text(json.dumps({"a": ["x", "y"], "b": ["z", "z"]}))
    by_file = harness.score("p.json", project / "r.json", ["length"], p_value="exact")[
        "length"
    ]
    by_list = harness.score(
        [["x y"], ["z"]], [["x", "y"], ["z", "z"]], ["length"], p_value="exact"
    )["length"]
    run = api.score_files("p.json", "r.json", ["length"], p_value="exact")
    assert by_file.value == by_list.value == run.records[0].value
    assert by_file.p_value == by_list.p_value == run.records[0].p_value


def test_results_are_picklable(project):
    result = harness.metric("length")(*PAIR)
    copy = pickle.loads(pickle.dumps(result))
    assert (copy.value, copy.per_example.tolist()) == (
        result.value,
        result.per_example.tolist(),
    )


def test_lists_become_caption_sets_with_ids():
    sets = api.caption_sets([["a"], ["b", "c"]], [["d"], ["e"]])
    assert [(item.id, item.candidates, item.references) for item in sets] == [
        ("0", ("a",), ("d",)),
        ("1", ("b", "c"), ("e",)),
    ]
    with pytest.raises(
        InputError,
        match="references: example 0: the list is empty; expected at least one text",
    ):
        api.caption_sets([["a"]], [[]])


def test_a_suite_is_one_run_per_task_in_a_folder_each(project):
    for name, count in (("one", 2), ("two", 3)):
        text = (
            (project / "spec.yaml")
            .read_text()
            .replace("{reader: words}", f"{{reader: words, count: {count}}}")
        )
        (project / f"{name}.yaml").write_text(
            text.replace("task: words", f"task: {name}")
        )
    (project / "suite.yaml").write_text("include: [one.yaml, two.yaml]\n")
    notices: list[tuple[str, str]] = []
    runs = api.evaluate_all(
        "suite.yaml",
        output=project / "out",
        notice="careful",
        on_notice=lambda *texts: notices.append(texts),
    )
    assert [run.path for run in runs] == [
        project / "out" / "one",
        project / "out" / "two",
    ]
    assert notices == [("careful", ""), ("careful", "")]
    whole = harness.evaluate("suite.yaml")
    assert [(record.task, record.n) for record in whole.records] == [
        ("one", 2),
        ("two", 3),
    ]
    assert repr(whole) == "<run of a suite: 2 results, 0 failed>"


def test_overrides_and_top_level_keys(project):
    (plan,) = api.plans("spec.yaml", ["models.0.echo.n=4"], seed=7)
    assert (plan.models[0].params, plan.spec.seed) == ({"n": 4}, 7)


@pytest.mark.slow
def test_finished_runs_are_compared_and_reported(project):
    spec = {
        "task": "words",
        "dataset": {"reader": "words"},
        "metrics": ["length"],
        "models": [
            {"echo": {"n": 1, "label": "short"}},
            {"echo": {"n": 3, "label": "long"}},
        ],
        "views": [{"plot": "table", "title": "All"}],
    }
    harness.evaluate(spec, output="r")
    (row,) = harness.compare("r")
    assert (row.system_a, row.system_b, row.better, row.difference) == (
        "short",
        "long",
        "B",
        -1.0,
    )
    files = harness.report("r", output="page.html", tables="tables", title="A title")
    assert [file.name for file in files] == [
        "page.html",
        *(
            f"{name}.{end}"
            for name in ("results", "01-all")
            for end in ("csv", "md", "tex", "typ")
        ),
    ]
    assert "A title" in files[0].read_text()
    study = harness.power("r", target_p=1.0)
    assert {size.metric for size in study.sizes} == {"length"}
    with pytest.raises(
        UnknownName, match="no number column 'lenth'; did you mean 'length'"
    ):
        harness.correlate("r", x="lenth", y="length", rows="example")
