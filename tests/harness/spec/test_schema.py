"""The JSON Schema of a spec: registered names, loading keys, validity for shipped tasks."""

from __future__ import annotations

import pytest
import yaml

from harness.registry import catalogue, current
from harness.spec.schema import json_schema


def names(schema, section):
    return schema["properties"][section]["items"]["anyOf"][0]["enum"]


def test_names_of_components_and_aliases_are_listed(project):
    schema = json_schema()
    assert {"length", "cider"} <= set(names(schema, "metrics"))
    assert "echo" in names(schema, "models")
    assert "words" in schema["$defs"]["DatasetSpec"]["properties"]["reader"]["enum"]
    aliases = {alias for entry in current().entries("metrics") for alias in entry.aliases}
    assert aliases <= set(names(schema, "metrics"))


def test_a_shadowed_name_is_listed_with_its_provider(project):
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(text.replace("metrics: {", 'metrics: {rouge: {import: "mine_parts:Length"}, '))
    catalogue._load.cache_clear()
    assert {"rouge", "mine/rouge"} <= set(names(json_schema(), "metrics"))
    assert len(names(json_schema(), "metrics")) == len(set(names(json_schema(), "metrics")))


def test_keys_of_loading_are_added_and_the_variant_is_not_a_key(project):
    schema = json_schema()
    assert {"include", "variants", "task", "views"} <= set(schema["properties"])
    assert "variant" not in schema["properties"]
    assert schema["anyOf"] == [{"required": ["task"]}, {"required": ["include"]}, {"required": ["variants"]}]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_descriptions_are_the_summaries(project):
    items = json_schema()["properties"]["metrics"]["items"]["anyOf"][1]
    assert items["properties"]["length"]["description"] == "words"


def test_tasks_of_judgments_have_their_keys(project):
    schema = json_schema()
    assert {"judgments", "statistics", "groups", "published", "ties", "tests"} <= set(schema["properties"])
    assert {"JudgmentSource", "ReferencePolicy", "DatasetSpec"} <= set(schema["$defs"])
    assert len(schema["properties"]["references"]["anyOf"]) == 2


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_shipped_task_is_valid(root, validator):
    problems = {}
    files = [
        file
        for file in (root / "tasks" / "harness_tasks").rglob("*.yaml")
        if not {"recipes", "published", "registry.yaml"} & set(file.parts)
    ]
    for file in files:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        if "paper" in content:  # a list of studies, not a spec
            continue
        errors = [error.message[:200] for error in validator.iter_errors(content)]
        if errors:
            problems[file.name] = errors
    assert len(files) > 20
    assert not problems


@pytest.mark.parametrize(
    "part",
    [
        {"metrics": [{"trm": {"poling": "x"}}]},
        {"metrics": [{"bleu": {"n": "four"}}]},
        {"metrics": ["bleuu"]},
        {"metrics": [{"mmd": None, "when": {"instaled": "numpy"}}]},
        {"models": [{"openai": {"base_url": "http://localhost"}}]},
        {"models": [{"human": {"split": "last"}}]},
        {"dataset": {"reader": "coco", "pth": "captions.json"}},
        {"dataset": {"reader": "coco"}},
        {"decoding": {"candidates": "1-4"}},
        {"significance": "exakt"},
    ],
    ids=str,
)
def test_mistakes_are_marked(validator, part):
    assert list(validator.iter_errors({"task": "t", **part}))


@pytest.mark.parametrize(
    "part",
    [
        {"metrics": [{"trm": {"distance": ["meteor", {"bert": {"embedding": "minilm"}}]}}]},
        {"metrics": [{"bleu": {"n": [1, 2]}}, {"mmd": None, "when": {"installed": ["torch"]}}]},
        {"models": [{"human": {"label": "people", "held_out": "${HELD_OUT:-2}"}}]},
        {"decoding": {"candidates": ["1..3", 8]}},
    ],
    ids=str,
)
def test_lists_names_variables_and_ranges_are_valid(validator, part):
    assert not list(validator.iter_errors({"task": "t", **part}))
