"""The asynchronous client: one pool of connections, a rate, retries; servers that hang,
close connections and refuse.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.llm.client import ChatClient
from harness.llm.session import RequestFailed, Unanswered
from tests.support.raw_server import RawServer, read_request, reply

pytest.importorskip("httpx2")


@pytest.fixture
def raw() -> Iterator[Callable[..., RawServer]]:
    """A function that starts a server with a function for its connections."""
    servers: list[RawServer] = []

    def start(play: Callable[..., None]) -> RawServer:
        servers.append(
            RawServer(lambda connection, number: play(servers[-1], connection, number))
        )
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def client(url: str, **settings: Any) -> ChatClient:
    return ChatClient(
        owner="openai",
        base_url=url,
        **{"timeout": 5.0, "first_wait": 0.001, **settings},
    )


def accept(value: Any) -> Any:
    if "answer" not in value:
        raise ValueError("no answer")
    return value["answer"]


def ask(chat: ChatClient, *bodies: dict[str, Any]) -> list[Any]:
    """Send requests at once and return their results or errors."""

    async def all_of_them() -> list[Any]:
        async with chat.session() as session:
            posts = [session.post("chat/completions", body, accept) for body in bodies]
            return await asyncio.gather(*posts, return_exceptions=True)

    return asyncio.run(all_of_them())


def failure(chat: ChatClient) -> Exception:
    (error,) = ask(chat, {})
    assert isinstance(error, Exception), error
    assert "\n" not in str(error)
    return error


def test_connections_are_used_again(raw):
    def play(server, connection, number):
        while (body := read_request(connection)) is not None:
            connection.sendall(reply({"answer": body["number"]}))

    server = raw(play)
    answers = ask(
        client(server.url, concurrency=2), *({"number": number} for number in range(20))
    )
    assert answers == list(range(20))
    assert server.connections <= 2


def test_requests_are_spaced_by_the_rate(server):
    server.answer = lambda body: {"answer": 1}
    now = [100.0]
    starts = []

    async def sleep(seconds: float) -> None:
        starts.append(seconds)

    chat = client(server.url, requests_per_minute=30, sleep=sleep, clock=lambda: now[0])
    assert ask(chat, {}, {}, {}) == [1, 1, 1]
    assert starts == [2.0, 4.0]  # the first at once, the others 2 s apart


def test_waits_double_and_the_server_may_set_them(server):
    server.script = [
        (500, {}, ""),
        (503, {}, ""),
        (429, {"Retry-After": "7"}, ""),
        (429, {"Retry-After": "700"}, ""),
    ]
    server.answer = lambda body: {"answer": 3}
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    chat = client(server.url, first_wait=1.0, sleep=sleep)
    assert ask(chat, {}) == [3]
    assert (
        0.75 <= waits[0] <= 1.0 and 1.5 <= waits[1] <= 2.0 and waits[2:] == [7.0, 60.0]
    )
    assert (chat.usage.requests, chat.usage.retries) == (5, 4)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ((429, {}, "slow down"), "HTTP 429: slow down, after 3 tries"),
        ((500, {}, '{"error": {"message": "boom"}}'), "HTTP 500: boom, after 3 tries"),
        ((503, {}, ""), "HTTP 503, after 3 tries"),
        (
            (200, {}, "{"),
            "invalid reply (Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1)), after 3 tries",
        ),
        ((200, {}, "{}"), "invalid reply (no answer), after 3 tries"),
    ],
)
def test_the_last_problem_is_reported(server, step, message):
    server.script = [step] * 3
    error = failure(client(server.url, retries=2))
    assert isinstance(error, Unanswered) and str(error) == message
    assert len(server.requests) == 3


def test_a_hanging_server(raw):
    server = raw(
        lambda server, connection, number: (read_request(connection), server.wait(30))
    )
    error = failure(client(server.url, timeout=0.2, retries=1))
    assert str(error) == "no answer within 0.2 s, after 2 tries"
    assert server.connections == 2


def test_a_server_that_sends_a_byte_now_and_then(raw):
    def play(server, connection, number):
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            server.wait(0.05)
            connection.sendall(b" ")

    server = raw(play)
    started = time.monotonic()
    assert (
        str(failure(client(server.url, timeout=0.4, retries=0)))
        == "no answer within 0.4 s, after 1 try"
    )
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("cut", ["before the reply", "within the body", "reset"])
def test_half_closed_connections_are_repeated(raw, cut):
    def play(server, connection, number):
        read_request(connection)
        if number == 1:
            connection.sendall(reply({"answer": 8}))
        elif cut == "within the body":
            connection.sendall(reply({"answer": 8}, length=500))
        elif cut == "reset":
            # SO_LINGER of 0 s: closing sends RST
            connection.setsockopt(1, 13, b"\x01\0\0\0\0\0\0\0")

    server = raw(play)
    assert ask(client(server.url), {}) == [8]
    error = failure(client(raw(lambda s, c, n: play(s, c, 0)).url, retries=0))
    assert str(error).startswith("the connection broke (") and str(error).endswith(
        "), after 1 try"
    )


def test_a_server_that_does_not_exist():
    error = failure(client("http://127.0.0.1:9/v1", retries=1))
    assert str(error).startswith("no connection (") and str(error).endswith(
        "after 2 tries"
    )


def test_a_reply_without_end(raw, monkeypatch):
    monkeypatch.setattr("harness.llm.session.MAX_REPLY", 2**20)

    def play(server, connection, number):
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" " * 65536)

    server = raw(play)
    assert str(failure(client(server.url))) == "the reply is larger than 1 MiB"
    assert server.connections == 1


def compressed(body: bytes, encoding: str) -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n"
        % (encoding.encode(), len(body))
        + body
    )


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "br", "deflate"])
def test_a_reply_that_would_inflate_without_bound(raw, encoding):
    packer = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    bomb = b"".join(packer.compress(b" " * 2**20) for _ in range(160)) + packer.flush()
    server = raw(
        lambda server, connection, number: (
            read_request(connection),
            connection.sendall(compressed(bomb, encoding)),
        )
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (
        str(failure(client(server.url)))
        == f"the reply is compressed ({encoding}), which was not asked for"
    )
    assert server.connections == 1
    # KiB above the highest so far
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 64 * 1024


def test_no_compression_is_asked_for(raw):
    seen: list[bytes] = []

    def play(server, connection, number):
        seen.append(connection.recv(65536, socket.MSG_PEEK))
        read_request(connection)
        connection.sendall(reply({"answer": 6}))

    assert ask(client(raw(play).url), {}) == [6]
    assert b"accept-encoding: identity\r\n" in seen[0].lower()


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_carries_no_key(server, raw, status):
    def play(elsewhere, connection, number):
        elsewhere.requests += 1
        read_request(connection)
        connection.sendall(reply({"answer": "of another host"}))

    other = raw(play)
    server.script = [(status, {"Location": f"{other.url}/chat/completions"}, "")] * 2
    error = failure(client(server.url, api_key="secret-of-the-user"))
    assert isinstance(error, HarnessError)
    expected = (
        f"HTTP {status}; the server redirects to {other.url}/chat/completions; "
        "give that as base_url"
    )
    assert str(error) == f"{server.url}: {expected}"
    assert (other.connections, len(server.requests)) == (0, 1)


@pytest.mark.parametrize(
    ("status", "final"),
    [(400, False), (413, False), (401, True), (403, True), (404, True)],
)
def test_refusals_are_not_repeated(server, status, final):
    server.script = [(status, {}, '{"error": {"message": "no"}}')] * 2
    error = failure(client(server.url))
    assert isinstance(error, HarnessError if final else RequestFailed)
    assert f"HTTP {status}: no" in str(error)
    assert len(server.requests) == 1


def test_the_proxy_of_the_environment_and_of_the_parameter(server, monkeypatch):
    server.answer = lambda body: {"answer": 5}
    proxy = server.url.removesuffix("/v1")
    assert ask(client("http://model.invalid/v1", proxy=proxy), {}) == [5]
    assert server.requests[-1]["path"] == "http://model.invalid/v1/chat/completions"
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("http_proxy", proxy)
    assert ask(client("http://other.invalid/v1"), {}) == [5]
    assert server.requests[-1]["path"] == "http://other.invalid/v1/chat/completions"
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert ask(client(server.url), {}) == [5]
    assert server.requests[-1]["path"] == "/v1/chat/completions"


def test_the_key_is_sent_and_not_shown(server):
    server.answer = lambda body: {"answer": 5}
    chat = client(server.url, api_key="secret")
    assert ask(chat, {}) == [5]
    assert server.requests[0]["key"] == "Bearer secret" and "secret" not in repr(chat)


def test_an_answer_is_stored_before_the_next_request_is_sent(server):
    """However slow the store is: the server never has more answers than ``concurrency``
    beyond those that are stored.
    """
    stored: list[int] = []
    ahead: list[int] = []

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        ahead.append(len(ahead) + 1 - len(stored))
        return {"answer": body["number"]}

    async def store_answer(session: Any, number: int) -> None:
        value = await session.post("chat/completions", {"number": number}, accept)
        time.sleep(0.002)
        stored.append(value)

    server.answer = answer
    client(server.url, concurrency=4).ask_all(store_answer, range(60))
    assert sorted(stored) == list(range(60))
    assert max(ahead) <= 4


def test_the_first_error_of_many_requests_is_raised_alone(server):
    async def fail(session: Any, number: int) -> None:
        await session.post("chat/completions", {"number": number}, accept)
        if number:
            raise OSError(28, "No space left on device")

    server.answer = lambda body: {"answer": 1}
    with pytest.raises(OSError, match="No space left on device"):
        client(server.url, concurrency=4).ask_all(fail, range(60))
    assert len(server.requests) < 30


def send_in_turn(server, chat: ChatClient, valid: list[bool]) -> int:
    """Send requests one after the other, whose replies are valid or not, and return how
    many were sent until the client gives up.
    """
    server.answer = lambda body: {"answer": 1} if body["valid"] else {}

    async def send() -> int:
        async with chat.session() as session:
            for sent, is_valid in enumerate(valid):
                try:
                    await session.post("chat/completions", {"valid": is_valid}, accept)
                except RequestFailed:
                    continue
                except HarnessError:
                    return sent + 1
        return len(valid)

    return asyncio.run(send())


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_a_server_counts_as_down_after_three_failures_per_simultaneous_request(
    server, concurrency
):
    most = 3 * concurrency
    assert (
        send_in_turn(
            server,
            client(server.url, retries=0, concurrency=concurrency),
            [True] + 40 * [False],
        )
        == 1 + most
    )
    assert (
        send_in_turn(
            server, client(server.url, retries=0, concurrency=concurrency), 40 * [False]
        )
        == 3
    ), "no request had an answer"


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_failures_before_an_answer_are_forgotten(server, concurrency):
    pattern = [True, *(2 * [*(3 * concurrency - 1) * [False], True])]
    assert send_in_turn(
        server, client(server.url, retries=0, concurrency=concurrency), pattern
    ) == len(pattern)
