"""Schemas of parameters: types, defaults, docstrings; names alone where a component cannot be imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from harness.errors import HarnessError, MissingExtra
from harness.registry import current
from harness.registry.catalogue import Registry
from harness.spec.parameter_schema import docstring_parameters, parameters_schema, type_schema


def schema_of(kind, name):
    return parameters_schema(current().get(kind, name))


def test_types_and_defaults_come_from_the_constructor():
    bleu = schema_of("metrics", "bleu")
    assert bleu["properties"]["n"]["default"] == 4
    assert {"type": "integer", "minimum": 1, "maximum": 4} in bleu["properties"]["n"]["anyOf"]
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
    assert any(part.get("type") == "array" for part in schema_of("metrics", "bleu")["properties"]["n"]["anyOf"])
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
    (project / "mine_parts.py").write_text((project / "mine_parts.py").read_text() + "\nraise SystemError('imported')\n")
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
        "n": "Sizes of Set, at least 1.", "m": "Sizes of Set, at least 1.", "path": "A file. Second paragraph.",
    }  # fmt: skip
    assert docstring_parameters("Title.") == {}
