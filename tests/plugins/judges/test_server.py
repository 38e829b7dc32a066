"""A judge behind a server: failures, refusals, simultaneous requests, settings."""

from __future__ import annotations

import itertools
import json
import pickle
import threading
from typing import Any

import pytest

from harness.errors import HarnessError
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.server import Server, read_reply
from tests.support.raw_server import RawServer

pytest.importorskip("httpx2")


def backend(server, **settings: Any) -> Server:
    return Server(
        **{
            "base_url": server.url,
            "model": "m",
            "first_wait": 0.01,
            "timeout": 10.0,
            **settings,
        }
    )


def talk(text: str):
    return ({"role": "user", "content": text},)


def replies(model: Server, number: int) -> dict[int, Reply]:
    out: dict[int, Reply] = {}
    model.complete([talk(f"prompt {k}") for k in range(number)], out.__setitem__)
    return out


def choice(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    return {
        "choices": [{"message": {"content": text, **message}, "finish_reason": finish}],
        "usage": usage,
    }


@pytest.mark.slow
def test_one_of_ten_requests_fails_and_all_have_replies(server):
    counter = itertools.count()
    lock = threading.Lock()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        with lock:
            number = next(counter)
        return (
            {"choices": []}
            if number % 10 == 9
            else choice(body["messages"][-1]["content"])
        )

    server.answer = answer
    server.pause = 0.005
    out = replies(backend(server), 100)
    assert {k: out[k].text for k in sorted(out)} == {
        k: f"prompt {k}" for k in range(100)
    }
    assert out[0] == Reply("prompt 0", "stop", 7, 2)
    assert len(server.requests) > 100


@pytest.mark.slow
def test_at_most_sixteen_requests_at_once_by_default(server):
    server.answer = lambda body: choice("x")
    server.pause = 0.02
    assert len(replies(backend(server), 80)) == 80
    assert 8 < server.peak <= 16


def test_a_request_that_waits_leaves_its_place(server):
    server.answer = lambda body: choice("x")
    model = backend(server, concurrency=1)
    replies(model, 1)  # the first request of a client is sent alone
    server.script = [(500, {"Retry-After": "0.2"}, "")]
    order: list[int] = []
    model.complete(
        [talk("a"), talk("b"), talk("c")], lambda index, reply: order.append(index)
    )
    assert sorted(order) == [0, 1, 2]
    assert order[-1] == "abc".index(server.requests[1]["messages"][0]["content"])
    assert server.peak == 1


def test_the_body_of_a_request(server, monkeypatch):
    monkeypatch.setenv("KEY_OF_JUDGE", "secret")
    server.answer = lambda body: choice("x")
    model = backend(
        server,
        api_key_env="KEY_OF_JUDGE",
        temperature=0.5,
        max_tokens=9,
        seed=3,
        extra={"top_p": 0.9},
    )

    replies(model, 1)
    assert server.requests == [
        {
            "path": "/v1/chat/completions",
            "key": "Bearer secret",
            "model": "m",
            "temperature": 0.5,
            "max_tokens": 9,
            "seed": 3,
            "top_p": 0.9,
            "messages": [{"role": "user", "content": "prompt 0"}],
        }
    ]
    assert "secret" not in model.signature()
    assert model.signature() != backend(server).signature()


def test_a_server_that_is_down_stops_the_rest(server):
    server.script = [(500, {}, "down")] * 1000
    with pytest.raises(
        HarnessError, match=r"3 requests in a row have no answer, .*HTTP 500"
    ):
        replies(backend(server, retries=0, concurrency=4), 300)
    assert len(server.requests) < 40


def test_failures_are_an_error_after_the_others_are_stored(server):
    server.script = [(500, {}, '{"error": {"message": "down"}}')]
    server.answer = lambda body: choice("x")
    out: dict[int, Reply] = {}
    with pytest.raises(
        HarnessError,
        match="1 of 5 requests to the judge failed; the first: HTTP 500: down",
    ):
        backend(server, concurrency=1, retries=0).complete(
            [talk(str(k)) for k in range(5)], out.__setitem__
        )
    assert len(out) == 4


def test_a_refused_key_ends_the_work_after_one_request(server):
    server.script = [(401, {}, '{"error": {"message": "no key"}}')] * 5
    with pytest.raises(
        HarnessError, match="HTTP 401: no key; give the name of the variable"
    ):
        replies(backend(server), 5)
    assert len(server.requests) == 1


def test_fields_have_the_names_of_the_server(server):
    server.answer = lambda body: choice("x")
    model = backend(
        server, parameters={"max_tokens": "max_completion_tokens", "temperature": None}
    )
    replies(model, 1)
    assert (
        server.requests[0]["max_completion_tokens"] == 512
        and "max_completion_tokens" in model.signature()
    )
    assert not {"max_tokens", "temperature"} & set(server.requests[0])


def test_a_rejected_request_is_one_without_answer(server):
    server.script = [(400, {}, '{"error": {"message": "too long"}}')]
    server.answer = lambda body: choice("x")
    assert sorted(reply.finish for reply in replies(backend(server), 3).values()) == [
        "rejected",
        "stop",
        "stop",
    ]


def test_a_server_that_rejects_all_is_an_error(server):
    server.script = [(400, {}, '{"error": {"message": "unknown field"}}')] * 9
    with pytest.raises(HarnessError, match="HTTP 400: unknown field"):
        replies(backend(server), 3)


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        (choice("a"), Reply("a", "stop", 7, 2)),
        (choice("a", "length"), Reply("a", "length", 7, 2)),
        (choice(None), Reply("", "stop", 7, 2)),
        (choice(None, refusal="I cannot"), Reply("I cannot", "refused", 7, 2)),
        (choice("", "content_filter"), Reply("", "refused", 7, 2)),
        (
            {**choice("a"), "usage": {"prompt_tokens": None, "completion_tokens": -1}},
            Reply("a"),
        ),
        ({**choice("a"), "usage": None}, Reply("a")),
    ],
)
def test_replies_are_read(value: Any, reply: Reply):
    assert read_reply(value) == reply


@pytest.mark.parametrize(
    "value",
    [None, [], {}, {"choices": []}, {"choices": [1]}, {"choices": [{}]}, choice(3)],
)  # type: ignore[arg-type]
def test_other_replies_are_invalid(value: Any):
    with pytest.raises(ValueError):
        read_reply(value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base_url": "localhost:8000"}, "base_url begins with"),
        ({"concurrency": 0}, "concurrency is 0; expected a whole number of at least 1"),
        ({"temperature": -1}, "temperature is -1"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"retries": -1}, "retries is -1; expected a whole number of at least 0"),
    ],
)
def test_settings_have_ranges(server, settings: dict[str, Any], message: str):
    with pytest.raises(HarnessError, match=message):
        backend(server, **settings)


def test_an_absent_key_is_an_error_at_the_first_request(server):
    model = backend(server, api_key_env="NO_SUCH_VARIABLE")
    with pytest.raises(
        HarnessError, match="the environment variable NO_SUCH_VARIABLE holds no key"
    ):
        replies(model, 1)


def test_a_key_with_a_line_break_is_refused_before_the_first_request(
    server, monkeypatch
):
    monkeypatch.setenv("MY_KEY", "sk-0123456789\n")
    with pytest.raises(
        HarnessError,
        match=r"^judge: the key in MY_KEY is not ASCII without spaces and line breaks: "
        r"character 14 of 14",
    ):
        replies(backend(server, api_key_env="MY_KEY"), 1)
    assert server.requests == []


def test_a_redirect_of_the_judge_carries_no_key_to_another_host(server, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-0123456789")
    other = RawServer(lambda connection, number: None)
    server.script = [(302, {"Location": f"{other.url}/chat/completions"}, "")]
    with pytest.raises(
        HarnessError,
        match=f"HTTP 302; the server redirects to {other.url}/chat/completions; "
        "give that as base_url$",
    ):
        replies(backend(server, api_key_env="MY_KEY"), 1)
    other.close()
    assert ([request["key"] for request in server.requests], other.connections) == (
        ["Bearer sk-0123456789"],
        0,
    )


def test_a_server_pickles(server):
    model = backend(server)
    assert pickle.loads(pickle.dumps(model)).signature() == model.signature()
    assert json.dumps(model.fields)
