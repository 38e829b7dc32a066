"""Judges: every prompt once, answers from the cache, repetitions, counts that do not
depend on the cache, a kill.
."""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness_metrics.judges.answers import read_number, verdict_of
from harness_metrics.judges.judge import REMINDER, Judge, resolve_judge
from harness_metrics.judges.local import LocalModel
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.server import Server
from tests.support.paid_server import Meter, kill_when

PROMPTS = 300
CONCURRENCY = 8
ASK = f"""
import sys
from harness_metrics.judges.answers import read_number, verdict_of
from harness_metrics.judges.judge import resolve_judge
spec = {{"base_url": sys.argv[1], "model": "m", "concurrency": {CONCURRENCY}}}
judge = resolve_judge(spec, "clair")
judge.ask(
    [f"prompt {{k}}." for k in range({PROMPTS})],
    lambda reply: verdict_of(reply, read_number("score", 0, 100)),
)
"""


def read(reply: Reply):
    return verdict_of(reply, read_number("score", 0, 100))


def test_a_prompt_is_asked_once_and_then_read_from_the_cache(scripted):
    model = scripted(lambda talk: json.dumps({"score": len(talk[0]["content"])}))
    first = Judge(model).ask(["aa", "b", "aa"], read)
    assert [verdict.value for verdict in first] == [2.0, 1.0, 2.0]
    assert len(model.talks) == 2
    again = scripted(lambda talk: pytest.fail("asked again"))
    assert Judge(again).ask(["b", "aa", "b"], read) == [first[1], first[0], first[1]]
    other = scripted(lambda talk: '{"score": 0}', name="other model")
    assert Judge(other).ask(["b"], read)[0].value == 0.0


def test_without_a_cache_nothing_is_written(scripted, cache):
    assert (
        Judge(scripted(lambda talk: '{"score": 1}'), cache=False)
        .ask(["a"], read)[0]
        .value
        == 1.0
    )
    assert not cache.exists()


def test_a_cache_has_the_folder_that_is_named(scripted, tmp_path):
    Judge(scripted(lambda talk: '{"score": 1}'), cache=str(tmp_path / "here")).ask(
        ["a"], read
    )
    assert len(list((tmp_path / "here").rglob("*.sqlite"))) == 1


def test_an_answer_without_value_is_asked_again_with_a_reminder(scripted):
    model = scripted(lambda talk: '{"score": 9}' if len(talk) > 1 else "nine, I think")
    verdict = Judge(model).ask(["a"], read)[0]
    assert (
        verdict.value,
        verdict.requests,
        verdict.prompt_tokens,
        verdict.completion_tokens,
    ) == (9.0, 2, 20, 10)
    assert [message["content"] for message in model.talks[1]] == [
        "a",
        "nine, I think",
        REMINDER,
    ]
    assert (
        Judge(scripted(lambda talk: pytest.fail("asked again"))).ask(["a"], read)[0]
        == verdict
    )


@pytest.mark.parametrize(
    ("reply", "status", "requests"),
    [
        (Reply("no score"), "invalid", 3),
        (Reply(""), "empty", 3),
        (Reply('{"sco', "length"), "truncated", 3),
        (Reply("I can't help with that."), "refused", 1),
        (Reply("", "rejected"), "rejected", 1),
    ],
)
def test_requests_are_repeated_a_few_times_and_refusals_are_not(
    scripted, reply, status, requests, caplog
):
    with caplog.at_level(logging.WARNING):
        verdict = Judge(scripted(lambda talk: reply), repeats=2).ask(["a"], read)[0]
    assert (verdict.status, verdict.value, verdict.requests) == (status, None, requests)
    assert f"1 of 1 prompts have no valid answer (1 {status})" in caplog.text


def test_rejections_are_not_kept(scripted, cache):
    Judge(scripted(lambda talk: Reply("", "rejected"))).ask(["a"], read)
    assert stored(cache) == 0


def test_no_prompts_no_requests(scripted):
    assert Judge(scripted(lambda talk: pytest.fail("asked"))).ask([], read) == []


def test_judges_from_mappings(tmp_path):
    judge = resolve_judge(
        {
            "base_url": "http://x/v1",
            "model": "m",
            "concurrency": 3,
            "cache": False,
            "repeats": 0,
            "prices": {"input": 1, "output": 2},
        },
        "clair",
    )
    assert isinstance(judge.backend, Server)
    assert (judge.backend.client.concurrency, judge.caches, judge.repeats) == (
        3,
        False,
        0,
    )
    assert judge.prices == {"input": 1, "output": 2}

    (tmp_path / "config.json").write_text("{}")
    assert isinstance(
        resolve_judge({"path": str(tmp_path)}, "clair").backend, LocalModel
    )
    assert resolve_judge(judge, "clair") is judge


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "clair: judge is {}; expected"),
        ("gpt", "clair: judge is 'gpt'; expected"),
        ({"base_url": "http://x/v1", "path": "y"}, "expected"),
        ({"base_url": "http://x/v1"}, "judge of 'clair' needs the parameter 'model'"),
        (
            {"base_url": "http://x/v1", "modell": "m"},
            "no parameter 'modell'; did you mean 'model'",
        ),
        ({"base_url": "http://x/v1", "model": 3}, "model is 3; expected a text"),
        (
            {"path": "/no/such/folder"},
            "/no/such/folder: the judge: no such folder",
        ),
        (
            {"base_url": "http://x/v1", "model": "m", "prices": 3},
            "prices is 3; expected a mapping of input or output",
        ),
        ({"base_url": "http://x/v1", "model": "m", "repeats": -1}, "repeats is -1"),
    ],
)
def test_other_judges_are_refused_in_one_line(spec, message: str):
    with pytest.raises(HarnessError) as error:
        resolve_judge(spec, "clair")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def stored(folder: Path) -> int:
    """Number of replies in all files of a folder; 0 while the first one is made."""
    counts = []
    for file in folder.rglob("*.sqlite"):
        with (
            closing(sqlite3.connect(file)) as connection,
            suppress(sqlite3.OperationalError),
        ):
            counts.append(
                connection.execute("SELECT count(*) FROM answers").fetchone()[0]
            )
    return sum(counts)


@pytest.mark.parametrize(
    "moment", [PROMPTS - 1, pytest.param(20, marks=pytest.mark.slow)]
)
def test_a_kill_loses_only_the_answers_under_way(server, cache, moment):
    """One prompt is slow; ``moment`` is the number of answers at the kill."""
    meter = Meter(
        server,
        lambda body: {"choices": [{"message": {"content": '{"score": 5}'}}]},
        "prompt 3.",
    )

    def is_time() -> bool:
        is_stored = moment < PROMPTS - 1 or stored(cache) >= moment
        return meter.answered >= moment and is_stored

    kill_when([sys.executable, "-c", ASK, server.url], {}, is_time)
    time.sleep(0.2)  # requests that were sent arrive
    kept = stored(cache)
    sent = len(server.requests)
    assert kept >= meter.answered - CONCURRENCY and kept >= moment - CONCURRENCY

    # a second run asks what is not kept
    meter.released.set()
    judge = resolve_judge({"base_url": server.url, "model": "m"}, "clair")
    verdicts = judge.ask([f"prompt {k}." for k in range(PROMPTS)], read)
    assert [verdict.value for verdict in verdicts] == [5.0] * PROMPTS
    assert len(server.requests) - sent == PROMPTS - kept
    assert len(server.requests) <= PROMPTS + CONCURRENCY
