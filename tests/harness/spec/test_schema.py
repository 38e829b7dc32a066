"""The JSON Schema of a spec: registered names, loading keys,
validity for shipped tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
import yaml

from harness.errors import HarnessError, MissingExtra
from harness.registry import current, in_use
from harness.registry.catalogue import Registry
from harness.spec.schema import (
    docstring_parameters,
    json_schema,
    parameters_schema,
    type_schema,
)


def names(schema, section):
    return schema["properties"][section]["items"]["anyOf"][0]["enum"]


def test_names_of_components_and_aliases_are_listed(project):
    schema = json_schema()
    assert {"length", "cider"} <= set(names(schema, "metrics"))
    assert "echo" in names(schema, "models")
    assert "words" in schema["$defs"]["DatasetSpec"]["properties"]["reader"]["enum"]
    aliases = {
        alias for entry in current().entries("metrics") for alias in entry.aliases
    }
    assert aliases <= set(names(schema, "metrics"))


@pytest.mark.slow
def test_a_shadowed_name_is_listed_with_its_provider(project):
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        text.replace("metrics: {", 'metrics: {rouge: {import: "mine_parts:Length"}, ')
    )
    in_use._load.cache_clear()
    assert {"rouge", "mine/rouge"} <= set(names(json_schema(), "metrics"))
    assert len(names(json_schema(), "metrics")) == len(
        set(names(json_schema(), "metrics"))
    )


def test_keys_of_loading_are_added_and_the_variant_is_not_a_key(project):
    schema = json_schema()
    assert {"include", "variants", "task", "views"} <= set(schema["properties"])
    assert "variant" not in schema["properties"]
    assert schema["anyOf"] == [
        {"required": ["task"]},
        {"required": ["include"]},
        {"required": ["variants"]},
    ]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_descriptions_are_the_summaries(project):
    items = json_schema()["properties"]["metrics"]["items"]["anyOf"][1]
    assert items["properties"]["length"]["description"] == "words"


def test_tasks_of_judgments_have_their_keys(project):
    schema = json_schema()
    assert {"judgments", "statistics", "groups", "published", "ties", "tests"} <= set(
        schema["properties"]
    )
    assert {"JudgmentSource", "ReferencePolicy", "DatasetSpec"} <= set(schema["$defs"])
    assert len(schema["properties"]["references"]["anyOf"]) == 2


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.slow
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
        {
            "metrics": [
                {"trm": {"distance": ["meteor", {"bert": {"embedding": "minilm"}}]}}
            ]
        },
        {
            "metrics": [
                {"bleu": {"n": [1, 2]}},
                {"mmd": None, "when": {"installed": ["torch"]}},
            ]
        },
        {"models": [{"human": {"label": "people", "held_out": "${HELD_OUT:-2}"}}]},
        {"decoding": {"candidates": ["1..3", 8]}},
    ],
    ids=str,
)
def test_lists_names_variables_and_ranges_are_valid(validator, part):
    assert not list(validator.iter_errors({"task": "t", **part}))


def schema_of(kind, name):
    return parameters_schema(current().get(kind, name))


def test_types_and_defaults_come_from_the_constructor():
    bleu = schema_of("metrics", "bleu")
    assert bleu["properties"]["n"]["default"] == 4
    assert {"type": "integer", "minimum": 1, "maximum": 4} in bleu["properties"]["n"][
        "anyOf"
    ]
    assert bleu["additionalProperties"] is False


def test_required_parameters_and_the_label_of_a_model():
    server = schema_of("adapters", "openai")
    assert server["required"] == ["base_url", "model"]
    assert server["type"] == "object"
    assert server["properties"]["label"]["type"] == "string"


def test_a_parameter_that_is_a_component_lists_the_names_of_its_kind():
    distance = schema_of("metrics", "trm")["properties"]["distance"]
    single = distance["anyOf"][0]
    assert "meteor" in single["anyOf"][0]["enum"]
    assert "registered distance" in distance["description"]


def test_parameters_of_metrics_are_axes_and_those_of_readers_are_not():
    assert any(
        part.get("type") == "array"
        for part in schema_of("metrics", "bleu")["properties"]["n"]["anyOf"]
    )
    path = schema_of("readers", "coco")["properties"]["path"]
    assert not any(part.get("type") == "array" for part in path["anyOf"])


def test_without_its_packages_a_component_has_the_names_of_its_parameters(monkeypatch):
    def missing(self, kind, name):
        raise MissingExtra("no torch")

    full = schema_of("adapters", "clipcap")["properties"]
    monkeypatch.setattr(Registry, "load", missing)
    names = schema_of("adapters", "clipcap")["properties"]
    assert names.keys() == full.keys()


def test_a_component_that_cannot_be_loaded_takes_any_parameter(monkeypatch):
    def broken(self, kind, name):
        raise HarnessError("the plugin failed")

    monkeypatch.setattr(Registry, "load", broken)
    schema = schema_of("metrics", "bleu")
    assert schema["properties"] == {} and schema["additionalProperties"] is True


def test_a_local_component_is_not_imported(project):
    (project / "mine_parts.py").write_text(
        (project / "mine_parts.py").read_text() + "\nraise SystemError('imported')\n"
    )
    assert "properties" in schema_of("metrics", "length")


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (bool, {"type": "boolean"}),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Callable[[int], int], {}),
    ],
    ids=str,
)
def test_types(hint, expected):
    assert type_schema(hint) == expected


def test_descriptions_of_a_docstring():
    text = """Title.

    Parameters
    ----------
    n, m : int
        Sizes of :class:`~a.b.Set`,
        at least 1.
    path : str, optional
        A file.

        Second paragraph.

    Returns
    -------
    int
        Not a parameter.
    """
    assert docstring_parameters(text) == {
        "n": "Sizes of Set, at least 1.",
        "m": "Sizes of Set, at least 1.",
        "path": "A file. Second paragraph.",
    }
    assert docstring_parameters("Title.") == {}
