"""No verb creates a component from a foreign file with a key or with code that the user
has not allowed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import harness
from harness.contracts.parameters import guarded_parameters
from harness.errors import HarnessError, InputError
from harness.registry import current
from harness.registry.permissions import CODE_PARAMETERS, KEY_PARAMETERS, permitted
from tests.support.verbs import ARGUMENTS, CAPTIONS, run_verb, write_inputs

LEAKY = '''
from harness.contracts import CodePath, KeyVariable, MeanMetric, MetricSpec, RunsCode

created = []

class Leaky(MeanMetric):
    """Length; keeps what it was created with, where another metric would send the key
    or run the code.
    """
    def __init__(
        self,
        *,
        program: CodePath | None = None,
        password: KeyVariable | None = None,
        api_key_env: str | None = None,
        trust_remote_code: RunsCode = False,
        jars: CodePath | None = None,
        judge: object = None,
    ):
        values = {**locals()}
        del values["self"]
        values.pop("__class__", None)
        created.append({name: value for name, value in values.items() if value})
        self.spec = MetricSpec("leaky", True, needs=frozenset())

    def scores(self, batch, features, state):
        import numpy as np
        return np.array([float(len(item.candidates[0])) for item in batch.sets])
'''
DANGEROUS = {
    "program": "evil/program",
    "password": "MY_SECRET",
    "api_key_env": "MY_SECRET",
    "trust_remote_code": True,
    "jars": "evil/jars",
    "judge": {
        "base_url": "http://127.0.0.1:9/v1",
        "model": "m",
        "api_key_env": "MY_SECRET",
    },
}
"""Parameter -> a value that a foreign file gives it;
the first two are known by their marks alone.
"""
SPEC = {
    "task": "sample",
    "dataset": {"reader": "coco", "path": str(CAPTIONS)},
    "references": 5,
    "limit": 6,
    "models": [
        {"human": {"label": "people", "held_out": 5}},
        {"shuffled": {"label": "other", "n": 5}},
    ],
    "metrics": ["rouge", "bleu1", "leaky"],
    "bootstrap": {"samples": 20},
}


@pytest.fixture
def leaky(project, monkeypatch):
    """A project with the metric ``leaky``, a finished run of it,
    and what it was created with since.
    """
    (project / "leaky_parts.py").write_text(LEAKY)
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        text.replace("metrics: {", 'metrics: {leaky: {import: "leaky_parts:Leaky"}, ')
    )
    sys.modules.pop("leaky_parts", None)
    monkeypatch.setenv("MY_SECRET", "value-of-the-secret")
    for name in ("HARNESS_ALLOWED_SECRETS", "HARNESS_ALLOW_CODE"):
        monkeypatch.delenv(name, raising=False)
    write_inputs(project, json.dumps(SPEC))
    harness.evaluate(SPEC, output=project / "theirs")
    created = sys.modules["leaky_parts"].created
    created.clear()
    return created


def plant(project: Path, parameter: str) -> None:
    """Let the manifest of a run name a dangerous parameter of its metric."""
    file = project / "theirs" / "manifest.json"
    text = file.read_text()
    content = json.loads(text)
    for metrics in (content["metrics"], content["spec"]["metrics"]):
        for position, item in enumerate(metrics):
            if item == "leaky":
                metrics[position] = {"leaky": {parameter: DANGEROUS[parameter]}}
            elif isinstance(item, dict) and item.get("name") == "leaky":
                item["params"] = {parameter: DANGEROUS[parameter]}
    assert (
        json.dumps(content).count("MY_SECRET")
        + json.dumps(content).count("evil")
        + json.dumps(content).count("true")
        > 0
    )
    file.write_text(json.dumps(content))


@pytest.mark.slow
@pytest.mark.parametrize("parameter", DANGEROUS)
def test_no_verb_creates_a_metric_of_a_manifest_with_what_is_not_allowed(
    parameter, project, leaky
):
    plant(project, parameter)
    codes = {}
    for verb in sorted(set(ARGUMENTS) - {"new-plugin", "convert", "schema"}):
        options = {"correlate": ["--strata", "2"], "power": ["-m", "leaky"]}.get(
            verb, []
        )
        codes[verb] = run_verb(verb, project / "theirs", *options)
        assert not [
            given for given in leaky if given.get(parameter) == DANGEROUS[parameter]
        ], verb
    assert codes["correlate"] == 2 and codes["rescore"] == 2
    assert codes["compare"] == codes["report"] == codes["export"] == 0, (
        "what reads a run needs no key and no code"
    )


@pytest.mark.parametrize("parameter", DANGEROUS)
def test_a_spec_needs_a_permission_and_who_types_a_parameter_does_not(
    parameter, project, leaky
):
    item = {"leaky": {parameter: DANGEROUS[parameter]}}
    with pytest.raises(
        InputError, match=r"asks for the secret MY_SECRET|runs code that"
    ):
        harness.evaluate({**SPEC, "metrics": [item]})
    assert not leaky
    harness.score({"a": ["a dog"]}, {"a": ["the dog"]}, [item])
    assert leaky == [{parameter: DANGEROUS[parameter]}]


@pytest.mark.parametrize("parameter", DANGEROUS)
def test_a_permission_serves_every_verb(parameter, project, leaky, monkeypatch):
    plant(project, parameter)
    monkeypatch.setenv("HARNESS_ALLOWED_SECRETS", "MY_SECRET")
    monkeypatch.setenv("HARNESS_ALLOW_CODE", "1")
    assert run_verb("correlate", project / "theirs", "--strata", "2") == 0
    assert [given for given in leaky if parameter in given]


def test_a_secret_is_allowed_in_the_command_that_asks_for_it(project, leaky, capsys):
    plant(project, "judge")
    assert run_verb("correlate", project / "theirs", "--strata", "2") == 2
    error = capsys.readouterr().err
    assert "manifest.json" in error and "--allow-secret MY_SECRET" in error
    assert (
        run_verb(
            "correlate",
            project / "theirs",
            "--strata",
            "2",
            "--allow-secret",
            "MY_SECRET",
        )
        == 0
    )
    Path("judge.yaml").write_text(
        "base_url: http://127.0.0.1:9/v1\nmodel: m\napi_key_env: MY_SECRET\n"
    )
    assert run_verb("arena", CAPTIONS) == 2
    assert (
        "judge.yaml:3" in (error := capsys.readouterr().err)
        and "--allow-secret MY_SECRET" in error
    )


def test_a_component_within_a_component_has_the_permission_of_the_outer_one(
    project, leaky
):
    inner = {"leaky": {"program": "evil/program"}}
    with pytest.raises(InputError, match="program runs code that a file names"):
        current().create("metrics", "best", {"metric": inner})
    assert not leaky


def test_what_is_not_allowed_is_left_out_at_any_depth(monkeypatch):
    monkeypatch.delenv("HARNESS_ALLOW_CODE", raising=False)
    monkeypatch.delenv("HARNESS_ALLOWED_SECRETS", raising=False)
    judge = {"base_url": "https://api.openai.com/v1", "api_key_env": "OPENAI_API_KEY"}
    given = {
        "jars": "x",
        "n": 1,
        "parts": [{"api_key_env": "A", "k": 2}],
        "judge": judge,
        "trust_remote_code": False,
    }
    assert permitted(given, {}) == {
        "n": 1,
        "parts": [{"k": 2}],
        "judge": judge,
        "trust_remote_code": False,
    }
    assert permitted({"program": "x", "n": 1}, {"program": "code"}) == {"n": 1}
    monkeypatch.setenv("HARNESS_ALLOW_CODE", "1")
    monkeypatch.setenv("HARNESS_ALLOWED_SECRETS", "A")
    assert permitted(given, {}) == given
    assert permitted({"program": "x", "n": 1}, {"program": "code"}) == {
        "program": "x",
        "n": 1,
    }


@pytest.mark.slow
def test_every_guarded_parameter_that_ships_is_known_within_other_components():
    names = set()
    for entry in current().entries():
        if (
            entry.provider != "harness"
            or not entry.target
            or entry.kind in ("commands", "tasks")
        ):
            continue
        try:
            names |= set(
                guarded_parameters(current().load(entry.kind, entry.full_name))
            )
        except (HarnessError, TypeError):
            # an extra that is not installed, or no constructor
            continue
    assert (
        {"jars", "api_key_env", "trust_remote_code"}
        <= names
        <= {*KEY_PARAMETERS, *CODE_PARAMETERS}
    )
