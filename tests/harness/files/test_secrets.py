"""Secrets: declared, recognised, and kept out of everything that is written."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import harness
from harness.errors import InputError
from harness.files.secrets import (
    holds_secret,
    redact,
    redact_values,
    remember,
    remember_keys,
)
from harness.rundir.format import plain
from harness.spec.loading import load_specs

VALUE = "hunter2-correct-horse"
SPEC = """
task: words
dataset: {reader: words}
models:
  - echo: {log: "%s"}
metrics: [length]
bootstrap: {samples: 0}
"""
KEY = "sk-AbC/dEf+ghi_jkl=mno"


@pytest.fixture(autouse=True)
def allowed(monkeypatch):
    """The specs of these tests may read their secrets."""
    monkeypatch.setenv("HARNESS_ALLOWED_SECRETS", "PLACE, MYSECRET,SERVICE_API_KEY")


def written(folder: Path) -> list[str]:
    """Return the names of the files below a folder that contain the secret."""
    return [
        file.name
        for file in folder.rglob("*")
        if file.is_file() and VALUE.encode() in file.read_bytes()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["${secret:PLACE}", "x-${secret:PLACE}", "${MYSECRET}", "${SERVICE_API_KEY}"],
)
def test_a_secret_is_in_no_file_of_a_run_and_in_no_output(project, text, monkeypatch):
    for name in ("PLACE", "MYSECRET", "SERVICE_API_KEY"):
        monkeypatch.setenv(name, VALUE)
    (project / "spec.yaml").write_text(SPEC % text)

    for arguments in (
        ["run", "spec.yaml", "--output", "out"],
        ["report", "out"],
        ["run", "spec.yaml", "--json"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "harness", *arguments],
            cwd=project,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert VALUE not in done.stdout + done.stderr

    log = text.replace(text[text.index("$") :], VALUE)
    assert (project / log).is_file(), "the component has the value"
    (project / log).unlink()
    assert written(project) == []
    assert "${secret:" in (project / "out/manifest.json").read_text()


def test_another_value_of_a_secret_is_the_same_run(project, monkeypatch):
    (project / "spec.yaml").write_text(
        SPEC.replace("log", "fail").replace('"%s"', '["${secret:PLACE}"]')
    )
    digests: list[Any] = []
    for value in ("first-value", "second-value"):
        monkeypatch.setenv("PLACE", value)
        digests.append(harness.evaluate("spec.yaml").manifest["spec"])
    assert digests[0] == digests[1]


def test_a_message_has_no_secret(project, monkeypatch, capsys):
    from harness.cli.main import main

    monkeypatch.setenv("PLACE", VALUE)
    (project / "spec.yaml").write_text(
        SPEC % "x" + "views: [{plot: '${secret:PLACE}'}]\n"
    )
    assert main(["run", "spec.yaml"]) == 2
    err = capsys.readouterr().err
    assert VALUE not in err
    assert "${secret:PLACE}" in err


def test_a_short_secret_is_refused(project, monkeypatch):
    monkeypatch.setenv("PLACE", "abc")
    (project / "spec.yaml").write_text(SPEC % "${secret:PLACE}")
    with pytest.raises(
        InputError,
        match=r"spec\.yaml:5: the secret PLACE has 3 characters; expected at least 6",
    ):
        load_specs("spec.yaml")


def test_defaults_and_a_variable_called_secret(project, monkeypatch):
    (project / "spec.yaml").write_text(
        SPEC % "${secret:-a}/${secret:NONE:-default-value}"
    )
    (loaded,) = load_specs("spec.yaml")
    assert loaded.spec.models == [{"echo": {"log": "a/default-value"}}]
    assert redact("default-value") == "${secret:NONE}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"api_key": "0123456789"}, {"api_key": "${secret}"}),
        ({"extra": {"X-API-Key": "0123456789"}}, {"extra": {"X-API-Key": "${secret}"}}),
        ({"url": "https://me:password@host/v1"}, {"url": "https://${secret}@host/v1"}),
        (
            {"url": "https://host/v1?api_key=0123456789&x=1"},
            {"url": "https://host/v1?api_key=${secret}&x=1"},
        ),
        (["sk-abcdefghijklmnop0123"], ["${secret}"]),
        ({"headers": ["Bearer abcdefgh12345"]}, {"headers": ["Bearer ${secret}"]}),
        ({"tokeniser": "ptb", "max_tokens": "123456", "key": "caption"}, None),
        ({"url": "https://host/a@b", "path": "a/b.json"}, None),
        ({"api_key": "short"}, None),
    ],
)
def test_what_looks_like_a_key_is_redacted(value, expected):
    remember_keys(value)
    assert redact_values(value) == (expected or value)
    assert plain(value) == (expected or value)


def test_the_longer_secret_is_replaced_first():
    remember("abcdef", "A")
    remember("abcdefghi", "B")
    assert redact("abcdefghi abcdef") == "B A"
    assert redact_values({"x": ("abcdef", 1)}) == {"x": ["A", 1]}


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"x{KEY}y",
        json.dumps({"a": KEY}).replace("/", "\\/"),
        "".join(f"\\u{ord(letter):04x}" for letter in KEY),
        quote(KEY, safe=""),
        *(
            base64.b64encode(before + KEY.encode() + after).decode()
            for before in (b"", b"a", b"ab", b"Bearer ")
            for after in (b"", b"z")
        ),
        base64.urlsafe_b64encode(KEY.encode()).decode(),
        base64.encodebytes(b"x" * 60 + KEY.encode()).decode(),
    ],
)
def test_a_secret_is_found_in_its_usual_spellings(text):
    assert not holds_secret(text)
    remember(KEY)
    assert holds_secret(text)
    assert not holds_secret("a dog runs") and not holds_secret(KEY[:-1])


def test_a_short_secret_is_found_where_it_stands_alone():
    remember("dog-runs")
    assert holds_secret("the dog-runs here") and holds_secret('{"key": "dog-runs"}')
    assert not holds_secret("the hotdog-runs here") and not holds_secret("dog-runs-2")
