"""The ``openai`` adapter with an HTTP server on the loopback interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable

import pytest

from harness.contracts import Adapter, Decoding, Example, Failure, Generation, TaskView
from harness.errors import HarnessError, InputError
from harness_models.openai.adapter import OpenAI
from tests.support.chat_server import captions

pytest.importorskip("httpx2")
EXAMPLES = [Example(f"e{i}", ("a",), source=f"s{i}") for i in range(6)]


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
        **{
            "base_url": server.url,
            "model": "m",
            "prompt": "say {source}",
            "first_wait": 0.001,
            "timeout": 5,
            **params,
        }
    )


def test_all_candidates_come_from_one_request(server):
    model = adapter(server)
    assert isinstance(model, Adapter)
    decoding = Decoding(
        "nucleus", temperature=0.7, top_p=0.9, top_k=20, candidates=3, max_length=12
    )
    results = generations(model.generate(EXAMPLES, decoding, range(10, 16)))
    assert results[2].candidates == ("say s2 12 0", "say s2 12 1", "say s2 12 2")
    assert results[2].log_probs == (-1.5, -1.5, -1.5)
    assert results[2].lengths == (2, 2, 2)
    assert results[2].stop_reasons == ("stop", "length", "stop")
    assert len(server.requests) == 6
    request = server.requests[0]
    assert request["path"] == "/v1/chat/completions"
    assert (
        request["n"],
        request["temperature"],
        request["top_p"],
        request["top_k"],
        request["max_tokens"],
    ) == (3, 0.7, 0.9, 20, 12)


def test_greedy_search_is_one_request(server):
    (item,) = generations(
        adapter(server).generate(EXAMPLES[:1], Decoding("greedy", candidates=4), [1])
    )
    assert len(item.candidates) == 4
    assert len(set(item.candidates)) == 1
    assert server.requests[0]["temperature"] == 0.0
    assert server.requests[0]["n"] == 1


def test_requests_are_repeated_for_missing_choices(server):
    server.limit = 2
    (item,) = generations(
        adapter(server).generate(EXAMPLES[:1], Decoding("sample", candidates=5), [100])
    )
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
    (item,) = generations(
        adapter(server).generate(EXAMPLES[:1], Decoding("sample"), [7])
    )
    assert item.candidates == ("say s0 7 0",)
    assert len(server.requests) == 3


@pytest.mark.slow
def test_a_server_that_does_not_reply(server):
    server.script = [1.0]
    (item,) = generations(
        adapter(server, timeout=0.2).generate(EXAMPLES[:1], Decoding("sample"), [7])
    )
    assert item.candidates == ("say s0 7 0",)
    server.script = [1.0] * 3
    (item,) = adapter(server, timeout=0.1, retries=2).generate(
        EXAMPLES[:1], Decoding("sample"), [7]
    )
    assert "no answer within 0.1 s, after 3 tries" in failure(item)


def test_a_permanent_error_is_a_failure_of_the_example(server):
    server.script = [(500, {}, '{"error": {"message": "boom"}}')] * 3
    first, second = adapter(server, retries=2, concurrency=1).generate(
        EXAMPLES[:2], Decoding("sample"), [7, 8]
    )
    assert "HTTP 500: boom, after 3 tries" in failure(first)
    assert generations([second])[0].candidates == ("say s1 8 0",)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_model_ends_the_run_after_one_request(server, status):
    server.script = [(status, {}, '{"error": {"message": "bad key"}}')] * 300
    examples = [Example(f"e{i}", ("a",), source="s") for i in range(300)]
    with pytest.raises(HarnessError, match=f"/v1: HTTP {status}: bad key; "):
        list(adapter(server).generate(examples, Decoding("sample"), range(300)))
    assert len(server.requests) == 1


def test_a_refusal_later_cancels_the_other_requests(server):
    def answer(body):
        if len(server.requests) > 3:
            server.script = [(401, {}, "expired")] * 300
        return captions(body, 1)

    server.answer = answer
    examples = [Example(f"e{i}", ("a",), source="s") for i in range(300)]
    results = []
    with pytest.raises(HarnessError, match="HTTP 401: expired"):
        for item in adapter(server, concurrency=2).generate(
            examples, Decoding("sample"), range(300)
        ):
            results.append(item)
    assert len(server.requests) < 20
    assert results and generations(results)


def test_fields_are_renamed_and_left_out(server):
    refused = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    server.script = [
        (400, {}, json.dumps({"error": {"message": refused, "param": "max_tokens"}}))
    ]
    with pytest.raises(
        HarnessError,
        match=r"parameters: \{max_tokens: max_completion_tokens\} renames it",
    ):
        list(adapter(server).generate(EXAMPLES, Decoding("sample"), range(6)))
    assert len(server.requests) == 1

    model = adapter(
        server,
        parameters={
            "max_tokens": "max_completion_tokens",
            "logprobs": None,
            "seed": None,
            "n": None,
        },
    )
    (item,) = generations(
        model.generate(
            EXAMPLES[:1], Decoding("sample", candidates=2, max_length=9), [7]
        )
    )

    assert len(item.candidates) == 2
    sent = server.requests[-1]
    assert sent["max_completion_tokens"] == 9 and not {
        "max_tokens",
        "logprobs",
        "seed",
        "n",
    } & set(sent)
    assert model.fingerprint() != adapter(server).fingerprint()


def test_a_dead_server_is_not_asked_for_every_example(server):
    server.script = [(500, {}, "down")] * 100
    with pytest.raises(
        HarnessError,
        match=r"/v1: 3 requests in a row have no answer, .*; the last: HTTP 500: down, "
        r"after 2 tries",
    ):
        list(
            adapter(server, retries=1).generate(EXAMPLES, Decoding("sample"), range(6))
        )
    assert len(server.requests) == 6


def test_usage_and_cost(server):
    counts = {"usage": {"prompt_tokens": 100, "completion_tokens": 10}}
    server.answer = lambda body: {**captions(body, 1), **counts}
    model = adapter(server, prices={"input": 1.0, "output": 4.0})
    list(model.generate(EXAMPLES, Decoding("sample"), range(6)))
    assert model.usage() == {
        "requests": 6,
        "repeated": 0,
        "prompt_tokens": 600,
        "cached_tokens": 0,
        "completion_tokens": 60,
        "cost": pytest.approx(840e-6),
    }
    server.answer = lambda body: captions(body, 1)
    other = adapter(server)
    list(other.generate(EXAMPLES[:2], Decoding("sample"), range(2)))
    assert other.usage()["replies_without_counts"] == 2 and "cost" not in other.usage()


def test_it_works_inside_an_event_loop(server):
    async def notebook():
        return list(adapter(server).generate(EXAMPLES, Decoding("sample"), range(6)))

    assert len(generations(asyncio.run(notebook()))) == 6


def test_a_server_that_does_not_exist():
    model = OpenAI(
        base_url="http://127.0.0.1:9/v1",
        model="m",
        prompt="x",
        retries=1,
        first_wait=0.001,
    )
    (item,) = model.generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert "no connection" in failure(item)


def test_the_number_of_simultaneous_requests_is_limited(server):
    server.pause = 0.05
    list(
        adapter(server, concurrency=2).generate(EXAMPLES, Decoding("sample"), range(6))
    )
    assert server.peak == 2


def test_images_and_keys_are_sent(server, tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    monkeypatch.setenv("MY_KEY", "secret")

    model = adapter(
        server,
        prompt="what",
        images=str(tmp_path),
        api_key_env="MY_KEY",
        system="be brief",
    )
    examples = [
        Example("a", ("r",), media="a.png"),
        Example("b", ("r",), media="b.png"),
    ]

    first, second = model.generate(examples, Decoding("sample"), [1, 2])
    assert generations([first])[0].candidates == ("what 1 0",)
    assert "b.png: the image cannot be read" in failure(second)

    (request,) = server.requests
    assert request["key"] == "Bearer secret"
    assert request["messages"][0] == {"role": "system", "content": "be brief"}
    assert request["messages"][1]["content"][0]["image_url"]["url"].startswith(
        "data:image/png;base64,iVBORw"
    )
    assert "secret" not in model.fingerprint()


def test_invalid_parameters_are_refused(server, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(HarnessError, match="MY_KEY holds no key"):
        adapter(server, api_key_env="MY_KEY")
    with pytest.raises(HarnessError, match="base_url begins with http"):
        adapter(server, base_url="localhost:8000")
    for parameters in ({"n": 3}, [1], {"model": None}):
        with pytest.raises(
            HarnessError, match="expected a mapping of texts|has the same name"
        ) as caught:
            adapter(server, parameters=parameters)
        assert caught.value.parameter == "parameters"

    with pytest.raises(
        HarnessError,
        match="expected a mapping of input or output or cached to numbers of at "
        "least 0",
    ):
        adapter(server, prices={"prompt": 1})
    with pytest.raises(
        HarnessError, match="prices is {'input': -1}; expected a mapping"
    ):
        adapter(server, prices={"input": -1})
    with pytest.raises(HarnessError, match="prices is 3; expected a mapping"):
        adapter(server, prices=3)

    with pytest.raises(
        HarnessError, match="strategy is one of greedy, sample, nucleus; found 'beam'"
    ):
        adapter(server).prepare(TaskView(EXAMPLES, Decoding("beam")))
    with pytest.raises(InputError, match="the fields of example 'x' are .id."):
        adapter(server).prepare(TaskView([Example("x", ("a",))], Decoding("sample")))


def test_answers_are_sets_of_events_or_failures_that_keep_them(server):
    from harness.contracts import EventSet

    model = adapter(server, prompt="{source}", events="sets")
    examples = [
        Example("v1", ("a",), source="0 - 4 seconds, a dog"),
        Example("v2", ("a",), source="I cannot see it"),
    ]
    first, second = model.generate(examples, Decoding("greedy"), [1, 2])
    (candidate,) = generations([first])[0].candidates
    (event,) = EventSet.from_text(candidate).events
    assert event.place == (0.0, 4.0) and event.text.startswith("a dog")
    assert "I cannot see it" in failure(second)


def test_the_reading_of_events_is_part_of_the_fingerprint(server):
    names = {
        adapter(server, **params).fingerprint()
        for params in (
            {},
            {"events": "sets"},
            {"events": "sets", "time_unit": "seconds"},
            {"events": "sets", "time_unit": "frames", "fps": 2.0},
        )
    }
    assert len(names) == 4
    with pytest.raises(InputError, match="expected events: sets"):
        adapter(server, fps=2.0)
