"""Secrets and code that a spec names are for the user to allow."""

from __future__ import annotations

import shutil
import sys

import pytest

import harness
from harness import api
from harness.cli.main import main
from harness.errors import InputError
from harness.registry.permissions import allow
from harness.spec.loading import load_specs

BASE = "task: t\ndataset: {reader: words}\nmetrics: [length]\nbootstrap: {samples: 0}\n"
KEYED = '''
from harness.contracts import Generation

class Keyed:
    """Repeats the first reference, and would send it with a key, or run code."""
    def __init__(
        self, *, base_url="", api_key_env=None, trust_remote_code=False, nested=None
    ):
        pass
    def fingerprint(self):
        return "keyed"
    def generate(self, examples, decoding, seeds):
        for example in examples:
            yield Generation((example.references[0],))
'''
CODE = (
    "trust_remote_code runs code that the spec names; if you trust it, "
    "set the environment variable HARNESS_ALLOW_CODE=1"
)
ASKS = [
    ("{api_key_env: PLACE, base_url: 'https://host/v1'}", "PLACE"),
    ("{api_key_env: PLACE}", "PLACE"),
    ("{base_url: 'https://host/${secret:PLACE}'}", "PLACE"),
    ("{base_url: 'https://host/${AWS_SECRET_ACCESS_KEY}'}", "AWS_SECRET_ACCESS_KEY"),
    ("{base_url: 'https://host/?u=${DATABASE_URL}'}", "DATABASE_URL"),
    ("{nested: [{judge: {api_key_env: PLACE}}]}", "PLACE"),
    ("{nested: {api_key_env: [PLACE]}}", "PLACE"),
    ("{api_key_env: OPENAI_API_KEY, base_url: 'https://host/v1'}", "OPENAI_API_KEY"),
    (
        "{api_key_env: OPENAI_API_KEY, base_url: 'http://api.openai.com/v1'}",
        "OPENAI_API_KEY",
    ),
    (
        "{api_key_env: OPENAI_API_KEY, base_url: 'https://api.openai.com@host/v1'}",
        "OPENAI_API_KEY",
    ),
    (
        "{api_key_env: OPENAI_API_KEY, base_url: 'https://api.openai.com.host/v1'}",
        "OPENAI_API_KEY",
    ),
    (
        "{api_key_env: OPENAI_API_KEY, base_url: 'https://[api.openai.com/v1'}",
        "OPENAI_API_KEY",
    ),
    (
        "{api_key_env: AWS_SECRET_ACCESS_KEY, base_url: 'https://api.openai.com/v1'}",
        "AWS_SECRET_ACCESS_KEY",
    ),
]


def refusal(name: str) -> str:
    return (
        f"the spec asks for the secret {name} of your environment; "
        f"if it may have it: --allow-secret {name} "
        f"(Python: allow_secrets=['{name}']; for all runs: "
        f"HARNESS_ALLOWED_SECRETS={name})"
    )


@pytest.fixture
def keyed(project, monkeypatch):
    """A project with an adapter that has the parameters of one that sends things; three
    secrets in the environment.
    """
    (project / "keyed_parts.py").write_text(KEYED)
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        text.replace("adapters: {", 'adapters: {keyed: {import: "keyed_parts:Keyed"}, ')
    )
    for name in ("PLACE", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "0123456789abcdef")
    monkeypatch.setenv("DATABASE_URL", "postgres://me:0123456789@host/data")
    monkeypatch.delenv("HARNESS_ALLOWED_SECRETS", raising=False)
    monkeypatch.delenv("HARNESS_ALLOW_CODE", raising=False)
    sys.modules.pop("keyed_parts", None)  # that of an earlier project
    return project


def write(project, model: str) -> None:
    (project / "s.yaml").write_text(f"{BASE}models:\n  - keyed: {model}\n")


@pytest.mark.parametrize(("model", "name"), ASKS)
def test_a_spec_has_no_secret_that_the_user_has_not_allowed(keyed, capsys, model, name):
    write(keyed, model)
    for command in (
        ["run", "s.yaml", "--output", "out"],
        ["validate", "s.yaml"],
        ["warm", "s.yaml"],
    ):
        assert main(command) == 2
        assert capsys.readouterr() == ("", f"harness: s.yaml:6: {refusal(name)}\n")
    with pytest.raises(InputError, match="asks for the secret"):
        api.evaluate("s.yaml", allow_secrets=["OTHER"])
    assert not (keyed / "out").exists()


@pytest.mark.parametrize("way", ["option", "python", "environment"])
@pytest.mark.parametrize(("model", "name"), ASKS)
def test_the_user_allows_a_secret_in_three_ways(keyed, monkeypatch, way, model, name):
    write(keyed, model)
    if way == "option":
        assert (
            main(
                [
                    "validate",
                    "s.yaml",
                    "--allow-secret",
                    "OTHER",
                    "--allow-secret",
                    name,
                ]
            )
            == 0
        )
        assert main(["validate", "s.yaml"]) == 2  # for that command alone
    elif way == "python":
        assert api.plans("s.yaml", allow_secrets=["OTHER", name])
    else:
        monkeypatch.setenv("HARNESS_ALLOWED_SECRETS", f"OTHER, {name}")
        assert api.plans("s.yaml")


def test_the_usual_key_of_a_service_goes_to_that_service(keyed):
    write(keyed, "{api_key_env: OPENAI_API_KEY, base_url: 'https://api.openai.com/v1'}")
    assert api.plans("s.yaml")


def test_other_variables_are_read_as_before(keyed, monkeypatch):
    monkeypatch.setenv("FOLDER", "/data")
    monkeypatch.delenv("PLACE")
    write(keyed, "{base_url: 'http://host${FOLDER}/${secret:PLACE:-default-value}'}")
    assert load_specs("s.yaml")[0].located.data["models"] == [
        {"keyed": {"base_url": "http://host/data/default-value"}}
    ]


def test_a_spec_runs_no_code_that_the_user_has_not_allowed(keyed, capsys, monkeypatch):
    write(keyed, "{trust_remote_code: true}")
    assert main(["run", "s.yaml"]) == 2
    assert capsys.readouterr().err == f"harness: s.yaml:6: {CODE}\n"
    (keyed / "m.yaml").write_text(
        BASE.replace("[length]", "[{spice: {jars: folder}}]") + "models: [echo]\n"
    )
    with pytest.raises(
        InputError, match=r"^m.yaml:3: jars runs code that the spec names"
    ):
        api.plans("m.yaml")
    monkeypatch.setenv("HARNESS_ALLOW_CODE", "1")
    assert main(["validate", "s.yaml"]) == 0
    write(keyed, "{trust_remote_code: false}")
    monkeypatch.delenv("HARNESS_ALLOW_CODE")
    assert api.plans("s.yaml")


@pytest.mark.slow
def test_the_spec_in_a_run_directory_has_no_more_rights_than_a_file(
    keyed, capsys, monkeypatch
):
    write(keyed, "{api_key_env: PLACE, trust_remote_code: true}")
    monkeypatch.setenv("HARNESS_ALLOW_CODE", "1")
    assert main(["run", "s.yaml", "--output", "out", "--allow-secret", "PLACE"]) == 0
    for index in (1, 2):
        assert (
            main(
                [
                    "run",
                    "s.yaml",
                    "--output",
                    f"part{index}",
                    "--shard",
                    f"{index}/2",
                    "--allow-secret",
                    "PLACE",
                ]
            )
            == 0
        )
    capsys.readouterr()
    verbs = (
        ["rescore", "out", "-m", "distinct"],
        ["merge", "part1", "part2", "--output", "whole"],
    )
    monkeypatch.setenv("HARNESS_ALLOW_CODE", "0")
    for command in verbs:
        assert main(command) == 2
        assert (
            capsys.readouterr().err == f"harness: manifest.json: {refusal('PLACE')}\n"
        )
        assert main([*command, "--allow-secret", "PLACE"]) == 2
        assert capsys.readouterr().err == f"harness: manifest.json: {CODE}\n"
    monkeypatch.setenv("HARNESS_ALLOW_CODE", "1")
    shutil.copytree("out", "copy")
    with pytest.raises(InputError, match="asks for the secret PLACE"):
        harness.rescore("copy", ["distinct"])
    assert (
        len(harness.rescore("copy", ["distinct"], allow_secrets=["PLACE"]).records) > 1
    )
    for command in verbs:
        assert main([*command, "--allow-secret", "PLACE"]) == 0


def test_permissions_add_up_and_end(keyed):
    write(keyed, "{api_key_env: PLACE, base_url: '${AWS_SECRET_ACCESS_KEY}'}")
    with allow(["PLACE"]):
        with allow(["AWS_SECRET_ACCESS_KEY"]):
            assert api.plans("s.yaml")
        with pytest.raises(InputError, match="AWS_SECRET_ACCESS_KEY"):
            api.plans("s.yaml")
    with pytest.raises(InputError):
        api.plans("s.yaml")
