"""Specs: includes, variants, --set, environment variables,
and errors that name file and line.
"""

from __future__ import annotations

import pytest

from harness.errors import HarnessError, InputError
from harness.files.secrets import redact
from harness.registry.permissions import allow
from harness.run.plan import decoding_grid, make_plan
from harness.spec.loading import load_specs
from harness.spec.models import DecodingSpec, Spec
from harness.spec.validation import _model_in

BASE = """task: t
dataset: {reader: words}
models: [echo]
decoding:
  temperature: [0.5, 1.0]
  candidates: 1..3
metrics: [length]
"""


@pytest.fixture
def spec_file(project):
    file = project / "s.yaml"
    file.write_text(BASE)
    return file


def test_a_spec_loads_and_its_ranges_expand(spec_file):
    (loaded,) = load_specs(spec_file)
    assert loaded.spec.decoding.candidates == [1, 2, 3]
    assert loaded.where("metrics") == f"{spec_file}:7"


def test_a_range_of_candidates_is_an_axis_of_the_grid():
    assert (
        len(
            decoding_grid(
                DecodingSpec.model_validate(
                    {"temperature": [0.5, 1.0], "candidates": "1..3"}
                )
            )
        )
        == 6
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "metrics: [length]|metric: [length]",
            ":7: unknown key 'metric'; did you mean 'metrics'?",
        ),
        (
            "temperature|temprature",
            ":5: unknown key 'temprature'; did you mean 'temperature'?",
        ),
        (
            "[0.5, 1.0]|[0.5, -1]",
            ":5: decoding.temperature: found -1; a temperature is above 0",
        ),
        (
            "[0.5, 1.0]|.nan",
            ":5: decoding.temperature: found nan; expected a finite number",
        ),
        ("[0.5, 1.0]|warm", ":5: decoding.temperature:"),
        ("models: [echo]|models: []", ":3: models: list should have at least 1 item"),
        (
            "models: [echo]|models: [3]",
            ":3: models.0: expected a name or one name with its parameters",
        ),
        ("task: t|task: t\ntask: u", ":2: the key 'task' is given twice"),
        ("task: t|task: [t", "not valid YAML"),
        ("dataset: {reader: words}|dataset: {}", ":2: 'dataset.reader' is missing"),
        (
            "dataset: {reader: words}|references: {}\ndataset: {reader: words}",
            ":2: 'references.first' is missing",
        ),
    ],
)
def test_mistakes_are_told_with_file_and_line(spec_file, change, message):
    old, new = change.split("|")
    spec_file.write_text(BASE.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_specs(spec_file)
    assert message in str(caught.value)
    assert "s.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("[length]|[lenght]", ":7: unknown metric 'lenght'; did you mean 'length'?"),
        ("[echo]|[eco]", ":3: unknown adapter 'eco'; did you mean 'echo'?"),
        (
            "reader: words|reader: wordz",
            ":2: unknown reader 'wordz'; did you mean 'words'?",
        ),
        (
            "[length]|[{length: {scal: 2}}]",
            ":7: metric 'length' has no parameter 'scal'; did you mean 'scale'?",
        ),
    ],
)
def test_unknown_names_are_told_with_file_and_line(spec_file, change, message):
    old, new = change.split("|")
    spec_file.write_text(BASE.replace(old, new))
    with pytest.raises(InputError, match=r"s\.yaml") as caught:
        make_plan(load_specs(spec_file)[0])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: \0", "not valid YAML"),
        ("a: &a [*a]", "holds itself"),
        ('task: "x\\0y"', "task"),
    ],
)
def test_odd_yaml_is_one_line(project, text, message):
    (project / "odd.yaml").write_text(
        text + BASE.replace("task: t", "") if "task" in text else text
    )
    with pytest.raises(InputError, match=message):
        load_specs("odd.yaml")


def test_a_view_of_a_metric_that_is_not_there_is_told_before_the_run(spec_file):
    spec_file.write_text(
        BASE
        + "views:\n  - {plot: bar, y: length}\n  - {plot: bar, y: 'log p:lenght'}\n"
    )
    with pytest.raises(
        InputError,
        match=r"s\.yaml:10: the view asks for the metric 'lenght'; "
        r"did you mean 'length'",
    ):
        make_plan(load_specs(spec_file)[0])


def test_set_overrides_any_key_and_its_mistakes_name_it(spec_file):
    (loaded,) = load_specs(
        spec_file, ["decoding.temperature=0.7", "metrics.0.length.scale=2", "seed=5"]
    )
    assert loaded.spec.decoding.temperature == 0.7
    assert loaded.spec.metrics == [{"length": {"scale": 2}}]
    assert loaded.spec.seed == 5
    with pytest.raises(
        InputError, match=r"--set decoding\.temprature=1: unknown key 'temprature'"
    ):
        load_specs(spec_file, ["decoding.temprature=1"])
    with pytest.raises(InputError, match="expected KEY=VALUE"):
        load_specs(spec_file, ["seed"])
    with pytest.raises(
        InputError, match="'metrics.7' is no key of the spec: no '7' in list"
    ):
        load_specs(spec_file, ["metrics.7=cider"])


def test_list_valued_metric_parameters_are_axes_unless_the_metric_says_otherwise(
    project,
):
    (project / "s.yaml").write_text(
        BASE.replace("[length]", "[{length: {scale: [1, 2], undefined: [e1, e2]}}]")
    )
    plan = make_plan(load_specs(project / "s.yaml")[0])
    assert [m.params for m in plan.metrics] == [
        {"scale": s, "undefined": ["e1", "e2"]} for s in (1, 2)
    ]
    assert len({m.label for m in plan.metrics}) == 2


def test_include_lies_beneath_the_files_own_keys(project):
    (project / "base.yaml").write_text(BASE)
    (project / "s.yaml").write_text(
        "include: base.yaml\nseed: 9\nmetrics: [{length: {scale: 3}}]\n"
    )
    (loaded,) = load_specs("s.yaml")
    assert (loaded.spec.seed, loaded.spec.task) == (9, "t")
    assert loaded.where("metrics") == "s.yaml:3"
    assert loaded.where("models").endswith("base.yaml:3")


def test_several_included_tasks_make_a_suite(project):
    (project / "a.yaml").write_text(BASE)
    (project / "b.yaml").write_text(BASE.replace("task: t", "task: u"))
    (project / "suite.yaml").write_text("include: [a.yaml, b.yaml]\nseed: 4\n")
    loaded = load_specs("suite.yaml")
    assert [(item.spec.task, item.spec.seed) for item in loaded] == [("t", 4), ("u", 4)]


def test_a_suite_does_not_rename_its_parts(project):
    (project / "a.yaml").write_text(BASE)
    (project / "b.yaml").write_text(BASE.replace("task: t", "task: u"))
    (project / "suite.yaml").write_text("task: both\ninclude: [a.yaml, b.yaml]\n")
    with pytest.raises(
        InputError,
        match=r"suite\.yaml:1: a suite has no task name: each part has a run directory",
    ):
        load_specs("suite.yaml")


def test_a_spec_that_includes_itself_is_an_error(project):
    (project / "a.yaml").write_text("include: b.yaml\n" + BASE)
    (project / "b.yaml").write_text("task: x\ninclude: a.yaml\n")
    with pytest.raises(
        InputError,
        match=r"b\.yaml:2: the spec includes itself: a\.yaml -> b\.yaml -> a\.yaml",
    ):
        load_specs("a.yaml")
    (project / "b.yaml").write_text("include: none.yaml\n" + BASE)
    with pytest.raises(InputError, match=r"included file 'none\.yaml' does not exist"):
        load_specs("b.yaml")


def test_the_first_variant_that_holds_is_taken(project, monkeypatch):
    text = BASE.replace("dataset: {reader: words}\n", "") + (
        "variants:\n  - name: real\n    when: {exists: "
        "'${SOME_DATA}/x.json'}\n    dataset: {reader: words, count: 3}\n"
        "  - name: sample\n    dataset: {reader: words, count: 2}\n"
    )
    (project / "s.yaml").write_text(text)
    monkeypatch.delenv("SOME_DATA", raising=False)
    assert load_specs("s.yaml")[0].spec.variant == "sample"
    (project / "x.json").write_text("{}")
    monkeypatch.setenv("SOME_DATA", str(project))
    spec = load_specs("s.yaml")[0].spec
    assert (spec.variant, spec.dataset.params) == ("real", {"count": 3})


def test_a_condition_takes_the_default_of_a_variable(project, monkeypatch):
    monkeypatch.delenv("SOME_DATA", raising=False)
    text = (
        "variants:\n  - name: real\n    when: {exists: "
        "'${SOME_DATA:-.}/x.json'}\n  - name: sample\n"
    )
    (project / "s.yaml").write_text(BASE + text)
    assert load_specs("s.yaml")[0].spec.variant == "sample"
    (project / "x.json").write_text("{}")
    assert load_specs("s.yaml")[0].spec.variant == "real"


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("3", "when is a mapping"),
        ("[exists, x]", "when is a mapping"),
        ("{missing: x}", "when has no key 'missing'"),
        ("{exists: x, more: y}", "when has no key 'more'; keys are exists, installed"),
    ],
)
def test_a_condition_of_another_form_is_one_line(project, when, message):
    (project / "s.yaml").write_text(
        f"{BASE}variants:\n  - name: real\n    when: {when}\n"
    )
    with pytest.raises(InputError, match=message):
        load_specs("s.yaml")


def test_parts_of_a_file_and_of_the_command_line(spec_file):
    (loaded,) = load_specs(spec_file, ["seed=3"])
    assert loaded.in_file("task")  # its first line
    assert loaded.in_file("metrics")
    assert not loaded.in_file("seed")


@pytest.mark.parametrize("variable", ["${secret:PLAIN_NAME}", "${MY_API_KEY}"])
def test_secrets_are_redacted_once_a_spec_has_read_them(project, monkeypatch, variable):
    value = f"value-of-{variable[2:-1].replace(':', '-')}"
    monkeypatch.setenv(variable[2:-1].removeprefix("secret:"), value)
    (project / "s.yaml").write_text(BASE + f"description: 'x {variable}'\n")
    with allow(["PLAIN_NAME", "MY_API_KEY"]):
        load_specs("s.yaml")
    assert value not in redact(f"a text with {value}")


def test_names_that_no_file_can_have_name_no_file(project):
    for name in ("x" * 5000, "a\\0b"):
        text = (
            f'variants:\n  - name: real\n    when: {{exists: "{name}"}}\n  - name: '
            "sample\n"
        )
        (project / "s.yaml").write_text(BASE + text)
        assert load_specs("s.yaml")[0].spec.variant == "sample"
        (project / "s.yaml").write_text(f'include: "{name}"\n' + BASE)
        with pytest.raises(InputError, match="included file .* does not exist"):
            load_specs("s.yaml")


def test_an_included_file_is_absolute_or_of_the_working_directory_or_beside_the_spec(
    project, tmp_path_factory
):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "far.yaml"
    elsewhere.write_text("seed: 1\n")
    (project / "here.yaml").write_text("seed: 2\n")
    (project / "below").mkdir()
    (project / "below" / "beside.yaml").write_text("seed: 3\n")
    for include, seed in ((str(elsewhere), 1), ("here.yaml", 2), ("beside.yaml", 3)):
        (project / "below" / "s.yaml").write_text(f"include: {include}\n" + BASE)
        assert load_specs("below/s.yaml")[0].spec.seed == seed


def test_a_long_value_is_cut_in_a_message(project):
    for length, shown in ((78, "'" + "x" * 78 + "'"), (79, "'" + "x" * 76 + "...")):
        (project / "s.yaml").write_text(BASE + f"seed: {'x' * length}\n")
        with pytest.raises(InputError) as caught:
            load_specs("s.yaml")
        assert str(caught.value).endswith(f"found {shown}")


def test_environment_variables_are_expanded_and_missing_ones_named(
    project, monkeypatch
):
    (project / "s.yaml").write_text(
        BASE.replace("task: t", "task: ${NAME_OF_IT:-fallback}")
    )
    assert load_specs("s.yaml")[0].spec.task == "fallback"
    (project / "s.yaml").write_text(BASE.replace("task: t", "task: ${NAME_OF_IT}"))
    with pytest.raises(
        InputError, match=r"s\.yaml:1: the environment variable NAME_OF_IT is not set"
    ):
        load_specs("s.yaml")


def test_a_missing_file_names_the_nearest_task(project):
    with pytest.raises(HarnessError, match="no such spec file or task"):
        load_specs("tasks/nothing-like-it.yaml")


def test_tasks_of_plugins_have_full_names_and_do_not_replace_shipped_ones(project):
    (project / "own.yaml").write_text(BASE.replace("task: t", "task: own"))
    manifest = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        manifest
        + "tasks: {coco: {path: own.yaml, summary: x}, own-task: {path: own.yaml}}\n"
    )
    assert (
        load_specs("own-task")[0].spec.task
        == load_specs("mine/coco")[0].spec.task
        == "own"
    )
    assert (
        load_specs("coco")[0].spec.task
        == load_specs("tasks/coco.yaml")[0].spec.task
        == "coco"
    )
    (project / "own.yaml").write_text(BASE.replace("task: t", "tsk: own"))
    with pytest.raises(
        InputError, match=rf"{project}/own\.yaml:\d+: unknown key 'tsk'"
    ):
        load_specs("own-task")


def test_a_spec_is_checked_from_python_too():
    with pytest.raises(InputError, match="unknown key 'tsk'"):
        load_specs({"tsk": "x"})
    assert isinstance(
        load_specs(
            {
                "task": "x",
                "dataset": {"reader": "words"},
                "models": ["a"],
                "metrics": ["b"],
            }
        )[0].spec,
        Spec,
    )


@pytest.mark.parametrize(
    "annotation", [int, int | None, list[str], dict[str, list[int]]]
)
def test_annotations_without_a_model_have_none(annotation):
    assert _model_in(annotation) is None
    assert _model_in(annotation | DecodingSpec) is DecodingSpec


def test_replaced_keys_are_those_with_a_value(spec_file):
    (loaded,) = load_specs(spec_file, limit=3, seed=None)
    assert (loaded.spec.limit, loaded.spec.seed) == (3, 0)
    assert loaded.located.replaced == {"limit"}
