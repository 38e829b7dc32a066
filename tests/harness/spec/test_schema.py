"""The JSON Schema of a spec: registered names, loading keys, validity for shipped tasks."""

from __future__ import annotations

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
    (project / "registry.yaml").write_text(
        text.replace("metrics: {", 'metrics: {rouge: {import: "mine_parts:Length"}, ')
    )
    catalogue._load.cache_clear()
    assert {"rouge", "mine/rouge"} <= set(names(json_schema(), "metrics"))
    assert len(names(json_schema(), "metrics")) == len(set(names(json_schema(), "metrics")))


def test_keys_of_loading_are_added_and_the_variant_is_not_a_key(project):
    schema = json_schema()
    assert {"include", "variants", "task", "views"} <= set(schema["properties"])
    assert "variant" not in schema["properties"]
    assert schema["required"] == ["task"]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_descriptions_are_the_summaries(project):
    items = json_schema()["properties"]["metrics"]["items"]["anyOf"][1]
    assert items["properties"]["length"]["description"] == "words"


def test_tasks_of_judgments_have_their_keys(project):
    schema = json_schema()
    assert {"judgments", "statistics", "groups", "published", "ties", "tests"} <= set(schema["properties"])
    assert {"JudgmentSource", "ReferencePolicy", "DatasetSpec"} <= set(schema["$defs"])
    assert len(schema["properties"]["references"]["anyOf"]) == 2
