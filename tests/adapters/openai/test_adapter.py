"""The ``openai`` adapter with an HTTP server on the loopback interface."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.adapters.openai.adapter import OpenAI
from harness.contracts import Adapter, Decoding, Example, Failure, Generation, TaskView
from harness.errors import HarnessError, InputError


def generations(items: Iterable[object]) -> list[Generation]:
    """Return results of an adapter; fail for anything but generations."""
    result = list(items)
    assert all(isinstance(item, Generation) for item in result), result
    return result  # type: ignore[return-value]


def failure(item: object) -> str:
    """Return the reason of a failure."""
    assert isinstance(item, Failure)
    return item.reason


def adapter(server, **params):
    return OpenAI(
        **{"base_url": server.url, "model": "m", "prompt": "say {source}", "first_wait": 0.001, "timeout": 5, **params}
    )


EXAMPLES = [Example(f"e{i}", ("a",), source=f"s{i}") for i in range(6)]


def test_all_candidates_come_from_one_request(server):
    model = adapter(server)
    assert isinstance(model, Adapter)
    decoding = Decoding("nucleus", temperature=0.7, top_p=0.9, top_k=20, candidates=3, max_length=12)
    results = generations(model.generate(EXAMPLES, decoding, range(10, 16)))
    assert results[2].candidates == ("say s2 12 0", "say s2 12 1", "say s2 12 2")
    assert results[2].log_probs == (-1.5, -1.5, -1.5)
    assert results[2].lengths == (2, 2, 2)
    assert results[2].stop_reasons == ("stop", "length", "stop")
    assert len(server.requests) == 6
    request = server.requests[0]
    assert request["path"] == "/v1/chat/completions"
    assert (request["n"], request["temperature"], request["top_p"], request["top_k"], request["max_tokens"]) == (
        3,
        0.7,
        0.9,
        20,
        12,
    )


def test_greedy_search_is_one_request(server):
    (item,) = generations(adapter(server).generate(EXAMPLES[:1], Decoding("greedy", candidates=4), [1]))
    assert len(item.candidates) == 4
    assert len(set(item.candidates)) == 1
    assert server.requests[0]["temperature"] == 0.0
    assert server.requests[0]["n"] == 1


def test_requests_are_repeated_for_missing_choices(server):
    server.limit = 2
    (item,) = generations(adapter(server).generate(EXAMPLES[:1], Decoding("sample", candidates=5), [100]))
    assert len(set(item.candidates)) == 5
    assert [request["n"] for request in server.requests] == [5, 3, 1]


@pytest.mark.parametrize(
    "step",
    [
        (429, {"Retry-After": "0"}, "slow down"),
        (500, {}, '{"error": {"message": "boom"}}'),
        (503, {"Retry-After": "soon"}, ""),
        (200, {}, "not JSON"),
        (200, {}, '{"choices": []}'),
        (200, {}, '{"choices": [{"message": {"content": null}}]}'),
        (200, {}, "[1, 2"),
    ],
    ids=["429", "500", "503", "no-json", "no-choices", "no-text", "truncated"],
)
def test_temporary_errors_are_retried(server, step):
    server.script = [step, step]
    (item,) = generations(adapter(server).generate(EXAMPLES[:1], Decoding("sample"), [7]))
    assert item.candidates == ("say s0 7 0",)
    assert len(server.requests) == 3


def test_a_server_that_does_not_reply(server):
    server.script = [1.0]
    (item,) = generations(adapter(server, timeout=0.2).generate(EXAMPLES[:1], Decoding("sample"), [7]))
    assert item.candidates == ("say s0 7 0",)
    server.script = [1.0] * 3
    (item,) = adapter(server, timeout=0.1, retries=2).generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert "no answer within 0.1 s, after 3 tries" in failure(item)


def test_a_permanent_error_is_a_failure_of_the_example(server):
    server.script = [(500, {}, '{"error": {"message": "boom"}}')] * 3
    first, second = adapter(server, retries=2, concurrency=1).generate(EXAMPLES[:2], Decoding("sample"), [7, 8])
    assert "HTTP 500: boom, after 3 tries" in failure(first)
    assert generations([second])[0].candidates == ("say s1 8 0",)


def test_a_rejected_request_is_not_retried(server):
    server.script = [(401, {}, '{"error": {"message": "bad key"}}')]
    (item,) = adapter(server).generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert "HTTP 401: bad key" in failure(item)
    assert len(server.requests) == 1


def test_a_server_that_does_not_exist():
    model = OpenAI(base_url="http://127.0.0.1:9/v1", model="m", prompt="x", retries=1, first_wait=0.001)
    (item,) = model.generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert "no connection" in failure(item)


def test_the_number_of_simultaneous_requests_is_limited(server):
    server.pause = 0.05
    list(adapter(server, concurrency=2).generate(EXAMPLES, Decoding("sample"), range(6)))
    assert server.peak == 2


def test_images_and_keys_are_sent(server, tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    monkeypatch.setenv("MY_KEY", "secret")
    model = adapter(server, prompt="what", images=str(tmp_path), api_key_env="MY_KEY", system="be brief")
    examples = [Example("a", ("r",), media="a.png"), Example("b", ("r",), media="b.png")]
    first, second = model.generate(examples, Decoding("sample"), [1, 2])
    assert generations([first])[0].candidates == ("what 1 0",)
    assert "b.png: the image cannot be read" in failure(second)
    (request,) = server.requests
    assert request["key"] == "Bearer secret"
    assert request["messages"][0] == {"role": "system", "content": "be brief"}
    assert request["messages"][1]["content"][0]["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert "secret" not in model.fingerprint()


def test_invalid_parameters_are_refused(server, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(HarnessError, match="MY_KEY holds no key"):
        adapter(server, api_key_env="MY_KEY")
    with pytest.raises(HarnessError, match="base_url begins with http"):
        adapter(server, base_url="localhost:8000")
    with pytest.raises(HarnessError, match="strategy is one of greedy, sample, nucleus; found 'beam'"):
        adapter(server).prepare(TaskView(EXAMPLES, Decoding("beam")))
    with pytest.raises(InputError, match="example 'x' has no source text"):
        adapter(server).prepare(TaskView([Example("x", ("a",))], Decoding("sample")))
