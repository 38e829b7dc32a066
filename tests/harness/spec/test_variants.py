"""Variants of a spec, and environment variables in it."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.secrets import redact
from harness.registry.permissions import allow
from harness.spec.loading import load_specs
from tests.support.spec_text import BASE


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


@pytest.mark.parametrize("variable", ["${secret:PLAIN_NAME}", "${MY_API_KEY}"])
def test_secrets_are_redacted_once_a_spec_has_read_them(project, monkeypatch, variable):
    value = f"value-of-{variable[2:-1].replace(':', '-')}"
    monkeypatch.setenv(variable[2:-1].removeprefix("secret:"), value)
    (project / "s.yaml").write_text(BASE + f"description: 'x {variable}'\n")
    with allow(["PLAIN_NAME", "MY_API_KEY"]):
        load_specs("s.yaml")
    assert value not in redact(f"a text with {value}")


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
