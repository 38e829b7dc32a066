"""The HTTP client: retries, waits, errors that are not retried."""

from __future__ import annotations

import urllib.error
from email.message import Message
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.files.http_client import Client, RequestFailed, _retry_after


def client(url: str, waits: list[float], **settings: Any) -> Client:
    return Client(base_url=url, sleep=waits.append, **{"timeout": 5.0, **settings})


def accept(reply: Any) -> Any:
    if "answer" not in reply:
        raise ValueError("no answer")
    return reply["answer"]


def test_a_valid_reply_is_returned(server):
    server.script = [(200, {}, '{"answer": 3}')]
    waits: list[float] = []
    assert client(server.url + "/", waits, api_key="k").post("x/y", {"n": 1}, accept) == 3
    assert server.requests == [{"path": "/v1/x/y", "key": "Bearer k", "n": 1}]
    assert waits == []


def test_waits_double_up_to_the_longest(server):
    server.script = [(500, {}, "")] * 5 + [(200, {}, '{"answer": 3}')]
    waits: list[float] = []
    assert client(server.url, waits, first_wait=1.0, longest_wait=5.0).post("x", {}, accept) == 3
    bounds = [(0.75 * wait, wait) for wait in (1, 2, 4, 5, 5)]
    assert all(low <= wait <= high for wait, (low, high) in zip(waits, bounds, strict=True))


def test_the_server_sets_the_wait(server):
    server.script = [(429, {"Retry-After": "7"}, ""), (429, {"Retry-After": "700"}, ""), (200, {}, '{"answer": 3}')]
    waits: list[float] = []
    client(server.url, waits, longest_wait=60.0).post("x", {}, accept)
    assert waits == [7.0, 60.0]


@pytest.mark.parametrize(("status", "message"), [(400, "HTTP 400: bad field"), (401, "HTTP 401: bad field")])
def test_a_rejected_request_is_not_repeated(server, status: int, message: str):
    server.script = [(status, {}, '{"error": {"message": "bad field"}}')]
    with pytest.raises(RequestFailed, match=f"^{message}$"):
        client(server.url, []).post("x", {}, accept)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ((503, {}, "busy"), "HTTP 503: busy, after 3 tries"),
        ((200, {}, "{"), "invalid reply .*, after 3 tries"),
        ((200, {}, "{}"), r"invalid reply \(no answer\), after 3 tries"),
    ],
)
def test_the_last_problem_is_reported(server, step: Any, message: str):
    server.script = [step] * 3
    with pytest.raises(RequestFailed, match=message):
        client(server.url, [], retries=2).post("x", {}, accept)
    assert len(server.requests) == 3


def test_an_address_needs_a_scheme():
    with pytest.raises(HarnessError, match="base_url begins with http:// or https://; found 'localhost:8000'"):
        Client(base_url="localhost:8000")


@pytest.mark.parametrize(("value", "seconds"), [(None, None), ("3", 3.0), ("-1", 0.0), ("99", 10.0), ("soon", None)])
def test_the_header_of_the_wait(value: str | None, seconds: float | None):
    headers = Message()
    if value is not None:
        headers["Retry-After"] = value
    error = urllib.error.HTTPError("http://x", 429, "busy", headers, None)
    assert _retry_after(error, 10.0) == seconds
