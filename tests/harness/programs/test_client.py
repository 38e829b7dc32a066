"""Clients: answers that are kept, chunks, greetings, other processes."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.programs.client import ProgramClient
from harness.programs.program import Limits, Program
from harness.programs.values import read_numbers, read_vectors
from tests.support.program_clients import client_of, scores

SOURCE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "protocol" in message:
        answer = {"protocol": 1, "name": "x", "version": VERSION}
    elif "id" in message:
        print(message["text"], file=open(LOG, "a"))
        answer = {"id": message["id"], "value": len(message["text"])}
        if message["text"] == "bad":
            answer = {"id": message["id"], "error": "no connection"}
    elif "end" in message:
        break
    else:
        continue
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def counting(tmp_path):
    """Returns a function that creates clients of a program that writes each request to
    a file, and the file.
    """
    log = tmp_path / "log"

    def create(version="1", parameters=None, **limits):
        file = tmp_path / "score.py"
        source = SOURCE.replace("VERSION", repr(version))
        file.write_text(source.replace("LOG", repr(str(log))))
        program = Program(
            "metric 'x'",
            (sys.executable, "-S", "score.py"),
            tmp_path,
            limits=Limits(**limits),
        )
        return ProgramClient(program, "metric", parameters or {}, stored=True)

    return create, log


def values(client, texts):
    def read(answers, name_of):
        return read_numbers(answers, name_of, label="x", bounds=None, may_fail=True)

    items = [{"text": text} for text in texts]
    found = client.values(items, "text {}".format, read).tolist()
    client.close()
    return found


def test_answers_are_kept_and_not_asked_again(counting):
    create, log = counting
    assert values(create(batch=2), ["one", "three", "x"]) == [3, 5, 1]
    assert log.read_text().split() == ["one", "three", "x"]
    # Of chunks that are there nothing is asked; the program greets alone.
    assert values(create(batch=2), ["one", "three", "y"]) == [3, 5, 1]
    assert log.read_text().split() == ["one", "three", "x", "y"]


@pytest.mark.parametrize("options", [{"version": "2"}, {"parameters": {"lower": True}}])
def test_another_version_or_parameter_is_asked_anew(counting, options):
    create, log = counting
    values(create(), ["one"])
    values(create(**options), ["one"])
    assert log.read_text().split() == ["one", "one"]


def test_answers_with_errors_are_not_kept(counting, caplog):
    create, log = counting
    for _ in range(2):
        assert np.isnan(values(create(batch=1), ["one", "bad"])).tolist() == [
            False,
            True,
        ]
    assert log.read_text().split() == ["one", "bad", "bad"]
    assert caplog.text.count("errors for 1 item") == 2


def test_the_signature_names_the_program_and_its_parameters(counting):
    create, _ = counting
    client = create(parameters={"lower": True, "a": [1]})
    digest = client.program.digest()
    assert client.signature("mine") == f"mine|x:1|program:{digest}|a:[1]|lower:true"
    client.close()


def test_a_client_is_sent_without_its_process():
    client = client_of()
    before = scores(client)
    again = pickle.loads(pickle.dumps(client))
    assert client.children() and not again.children()
    assert scores(again).tolist() == before.tolist()
    for item in (client, again):
        item.close()
        assert not item.children()


def test_a_program_that_greets_otherwise_than_before_is_refused(counting):
    client = client_of()
    _ = client.greeting
    client.close()
    object.__setattr__(client._greeting, "version", "0")
    with pytest.raises(
        HarnessError, match="the program greets differently than before"
    ):
        scores(client)
    assert not client.children()


def test_vectors_of_several_chunks_have_one_length(tmp_path):
    file = tmp_path / "embed.py"
    file.write_text(
        SOURCE.replace("VERSION", "'1'")
        .replace("LOG", repr(str(tmp_path / "log")))
        .replace('len(message["text"])', '[0.5] * len(message["text"])')
    )
    program = Program(
        "embedding 'x'", (sys.executable, str(file)), tmp_path, limits=Limits(batch=1)
    )
    client = ProgramClient(program, "embedding", {}, stored=False)

    def read(answers, name_of):
        return read_vectors(answers, name_of, label="embedding 'x'")

    items = [{"text": text} for text in ("aa", "b")]
    with pytest.raises(HarnessError, match="vectors of the lengths 1, 2; expected one"):
        client.values(items, str, read)
    client.close()
