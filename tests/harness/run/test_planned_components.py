"""Models and metrics of a spec: labels, and places of mistakes."""

from __future__ import annotations

import json

import pytest

from harness import api
from harness.errors import InputError
from harness.run import planned_components
from harness.run.plan import make_plan
from harness.spec.loading import load_specs

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


def plan(**values):
    (item,) = api.plans("spec.yaml", **values)
    return item


def test_models_get_unique_labels_and_label_is_no_parameter(project):
    item = plan(
        models=["echo", {"echo": {"n": 3}}, {"echo": {"label": "mine", "n": 1}}]
    )
    assert [(model.label, model.name, model.params) for model in item.models] == [
        ("echo", "echo", {}),
        ("echo #2", "echo", {"n": 3}),
        ("mine", "echo", {"n": 1}),
    ]


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
    assert planned_components._parameter_at_fault(params, error) == fault


def test_models_are_named_by_their_weights():
    assert planned_components._name_weights(
        ["org/blip", "/data/blip2/", "gpt-4o", 3, ""]
    ) == [
        "blip",
        "blip2",
        "gpt-4o",
        "",
        "",
    ]
    assert planned_components._name_weights(
        ["out/one/last", "out/two/last", "last"]
    ) == [
        "one/last",
        "two/last",
        "last",
    ]
    assert planned_components._name_weights(["a/x", "a/x", "b/x"]) == [
        "a/x",
        "a/x",
        "b/x",
    ]


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
