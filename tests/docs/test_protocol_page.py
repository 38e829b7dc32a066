"""The page of the protocol and its schema: what is exchanged is as they say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from harness.programs.program import Limits
from harness.programs.protocol import (
    END,
    announce_batch,
    encode_fields,
    greet,
    parse_answers,
    parse_greeting,
    request_line,
)


@pytest.fixture(scope="module")
def validator(root):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((root / "docs" / "protocol.schema.json").read_text())

    def validate(side, message):
        part = {**schema, "$ref": f"#/$defs/{side}"}
        jsonschema.Draft202012Validator(part).validate(message)

    return validate


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "protocol.md").read_text(encoding="utf-8")


def test_the_exchange_of_the_page_is_that_of_the_example(root, page, validator):
    section = page.partition("## The exchange")[2].partition("\n1. ")[0]
    rows = re.findall(r"^\|(.*?)\|(.*?)\|$", section, re.MULTILINE)[2:]
    requests = [left.strip("` ") for left, _ in rows if left.strip()]
    answers = [right.strip("` ") for _, right in rows if right.strip()]
    for line in requests:
        validator("from_harness", json.loads(line))
    for line in answers:
        validator("from_program", json.loads(line))
    program = [sys.executable, str(root / "examples" / "programs" / "overlap.py")]
    done = subprocess.run(
        program, input="\n".join(requests), capture_output=True, text=True, check=True
    )
    greeting, *found = map(json.loads, done.stdout.splitlines())
    expected = [json.loads(line) for line in answers]
    assert greeting["name"] == expected[0]["name"]
    key = lambda answer: answer["id"]  # noqa: E731
    assert sorted(found, key=key) == sorted(expected[1:], key=key)


def test_what_the_harness_writes_is_as_the_schema_says(validator):
    fields = encode_fields({"candidate": "a\u2028dog", "references": ("b",)})
    lines = [
        greet("metric", {"lower": True}),
        announce_batch(1, 2).encode(),
        request_line(7, fields).encode(),
        END,
    ]
    for line in lines:
        assert line.isascii() and line.count(b"\n") == 1
        validator("from_harness", json.loads(line))


def test_greetings_and_answers_of_the_schema_are_read(validator):
    greeting = {"protocol": 1, "name": "x", "version": "1", "bounds": [None, 1]}
    validator("from_program", greeting)
    line = json.dumps(greeting).encode()
    assert parse_greeting(line, "metric 'x'", "metric").bounds == (float("-inf"), 1.0)
    for value in (0.5, None, [1.0, 2], "AAAA", ["a", "b"]):
        answer = {"id": 3, "value": value}
        validator("from_program", answer)
        (read,) = parse_answers([json.dumps(answer).encode()], "x")
        assert read == answer


def test_every_limit_is_on_the_page(page):
    for name in Limits.__dataclass_fields__:
        assert f"`{name}`" in page, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "command", "needs"),
    [
        ("metrics", f"{sys.executable} overlap.py", None),
        ("distances", "node letters.mjs", "node"),
        ("embeddings", "node letters.mjs", "node"),
        ("adapters", "sh template.sh", "jq"),
    ],
)
def test_the_example_programs_pass_the_check(
    root, monkeypatch, tmp_path, kind, command, needs
):
    import harness

    if needs and not shutil.which(needs):
        pytest.skip(f"{needs} is not installed")
    monkeypatch.chdir(root / "examples" / "programs")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    outcomes = harness.check("command", kind=kind, params={"run": command})
    assert outcomes.passed, str(outcomes)
    assert "clean-end" in {row["check"] for row in outcomes.checks}
