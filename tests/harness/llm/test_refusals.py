"""Refusals of servers in their usual forms,
and what they mean for the other requests.
"""

from __future__ import annotations

import json

import pytest

from harness.llm.refusals import Refusal, stop_reason

BODY = {
    "model": "m",
    "messages": [],
    "n": 1,
    "max_tokens": 64,
    "logprobs": True,
    "temperature": 0.0,
    "top_k": 5,
}
VALUE = "Unsupported value: 'temperature' does not support 0.0 with this model."
UNSUPPORTED = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)


def refusal(status: int, value: object, **headers: str) -> Refusal:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Refusal.of(status, headers, content)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"error": {"message": "bad\n key"}}, "HTTP 400: bad key"),
        ({"error": "bad key"}, "HTTP 400: bad key"),
        ({"object": "error", "message": "bad key", "code": 400}, "HTTP 400: bad key"),
        ({"detail": "bad key"}, "HTTP 400: bad key"),
        ({"detail": [{"loc": ["body", "n"], "msg": "bad key"}]}, "HTTP 400: bad key"),
        (["bad key"], "HTTP 400: ['bad key']"),
        (b"<html>bad key</html>", "HTTP 400: <html>bad key</html>"),
        (b"", "HTTP 400"),
        (b"\xff" * 9000, "HTTP 400: " + "\ufffd" * 200),
    ],
)
def test_messages_of_servers(value, text):
    assert refusal(400, value).text == text


@pytest.mark.parametrize(
    ("status", "has_key", "hint"),
    [
        (401, False, "give the name of the variable with the key as api_key_env"),
        (401, True, "the key is refused"),
        (403, True, "the key has no permission for this model"),
        (404, True, "check base_url (most end with /v1) and the model, 'm'"),
        (405, True, "check base_url (most end with /v1) and the model, 'm'"),
    ],
)
def test_refusals_of_all_requests(status, has_key, hint):
    assert (
        stop_reason(
            refusal(status, {"error": {"message": "no"}}), BODY, has_key=has_key
        )
        == f"HTTP {status}: no; {hint}"
    )


def test_redirects_and_quotas():
    moved = stop_reason(refusal(301, b"", location="https://x/v1"), BODY, has_key=False)
    assert (
        moved == "HTTP 301; the server redirects to https://x/v1; give that as base_url"
    )
    spent = refusal(
        429,
        {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}},
    )
    assert (
        stop_reason(spent, BODY, has_key=True)
        == "HTTP 429: You exceeded your quota; the quota of the key is used up"
    )
    assert (
        stop_reason(
            refusal(429, {"error": {"message": "slow down"}}), BODY, has_key=True
        )
        is None
    )


@pytest.mark.parametrize(
    ("status", "value", "hint"),
    [
        (
            400,
            {"error": {"message": UNSUPPORTED, "param": "max_tokens"}},
            "max_tokens: max_completion_tokens} renames it",
        ),
        (
            400,
            {"error": {"message": UNSUPPORTED}},
            "max_tokens: max_completion_tokens} renames it",
        ),
        (
            400,
            {"error": {"message": "logprobs are not supported"}},
            "logprobs: null} leaves it out",
        ),
        (
            400,
            {"error": {"message": "Unrecognized request argument supplied: top_k"}},
            "top_k: null} leaves it out",
        ),
        (
            422,
            {
                "detail": [
                    {"loc": ["body", "top_k"], "msg": "Extra inputs are not permitted"}
                ]
            },
            "top_k: null} leaves it out",
        ),
        (
            400,
            {"error": {"message": VALUE, "param": "temperature"}},
            "temperature: null} leaves it out",
        ),
    ],
)
def test_fields_that_the_server_does_not_accept(status, value, hint):
    reason = stop_reason(refusal(status, value), BODY, has_key=True)
    assert reason is not None and reason.endswith(f"parameters: {{{hint}")


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens",
        "max_tokens is too large: 64",
        "images are not supported",
        "bad",
    ],
)
def test_refusals_of_one_request(message):
    assert (
        stop_reason(refusal(400, {"error": {"message": message}}), BODY, has_key=True)
        is None
    )
    assert (
        stop_reason(refusal(413, {"error": {"message": message}}), BODY, has_key=True)
        is None
    )
