"""The openai adapter against a real HTTP server on the loopback."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness.adapters.openai.adapter import OpenAI
from harness.contracts import Adapter, Decoding, Example, Failure, TaskView
from harness.errors import HarnessError, InputError


class Server(ThreadingHTTPServer):
    """Answers with ``script`` entries first (status, headers, body or seconds to hang), then with captions."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list = []
        self.requests: list[dict] = []
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self.most = 100
        self.pause = 0.0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        server: Server = self.server  # type: ignore[assignment]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
            server.requests.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
            step = server.script.pop(0) if server.script else None
        time.sleep(server.pause)
        try:
            self.answer(step, body, server)
        finally:
            with server.lock:
                server.busy -= 1

    def answer(self, step, body, server):
        if isinstance(step, (int, float)):
            time.sleep(step)
            return
        status, headers, text = step or (200, {}, json.dumps(captions(body, min(server.most, body["n"]))))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())


def captions(body, n):
    content = body["messages"][-1]["content"]
    told = content if isinstance(content, str) else content[-1]["text"]
    return {
        "choices": [
            {
                "message": {"role": "assistant", "content": f" {told} {body.get('seed', 0)} {i}"},
                "finish_reason": "length" if i == 1 else "stop",
                "logprobs": {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1.0}]},
            }
            for i in range(n)
        ]
    }


@pytest.fixture
def server():
    made = Server()
    yield made
    made.shutdown()
    made.server_close()


def adapter(server, **params):
    return OpenAI(
        **{"base_url": server.url, "model": "m", "prompt": "say {source}", "first_wait": 0.001, "timeout": 5, **params}
    )


EXAMPLES = [Example(f"e{i}", ("a",), source=f"s{i}") for i in range(6)]


def test_all_candidates_come_from_one_request(server):
    found = adapter(server)
    assert isinstance(found, Adapter)
    decoding = Decoding("nucleus", temperature=0.7, top_p=0.9, top_k=20, candidates=3, max_length=12)
    made = list(found.generate(EXAMPLES, decoding, range(10, 16)))
    assert made[2].candidates == ("say s2 12 0", "say s2 12 1", "say s2 12 2")
    assert made[2].log_probs == (-1.5, -1.5, -1.5)
    assert made[2].lengths == (2, 2, 2)
    assert made[2].stop_reasons == ("stop", "length", "stop")
    assert len(server.requests) == 6
    asked = server.requests[0]
    assert asked["path"] == "/v1/chat/completions"
    assert (asked["n"], asked["temperature"], asked["top_p"], asked["top_k"], asked["max_tokens"]) == (
        3,
        0.7,
        0.9,
        20,
        12,
    )


def test_greedy_is_asked_once_and_repeated(server):
    (made,) = adapter(server).generate(EXAMPLES[:1], Decoding("greedy", candidates=4), [1])
    assert len(made.candidates) == 4
    assert len(set(made.candidates)) == 1
    assert server.requests[0]["temperature"] == 0.0
    assert server.requests[0]["n"] == 1


def test_a_server_that_gives_one_at_a_time_is_asked_again(server):
    server.most = 2
    (made,) = adapter(server).generate(EXAMPLES[:1], Decoding("sample", candidates=5), [100])
    assert len(set(made.candidates)) == 5
    assert [request["n"] for request in server.requests] == [5, 3, 1]


@pytest.mark.parametrize(
    "trouble",
    [
        (429, {"Retry-After": "0"}, "slow down"),
        (500, {}, '{"error": {"message": "boom"}}'),
        (503, {"Retry-After": "soon"}, ""),
        (200, {}, "this is no JSON"),
        (200, {}, '{"choices": []}'),
        (200, {}, '{"choices": [{"message": {"content": null}}]}'),
        (200, {}, "[1, 2"),
    ],
    ids=["429", "500", "503", "no-json", "no-choices", "no-text", "cut"],
)
def test_passing_trouble_is_retried(server, trouble):
    server.script = [trouble, trouble]
    (made,) = adapter(server).generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert made.candidates == ("say s0 7 0",)
    assert len(server.requests) == 3


def test_a_server_that_hangs_or_hangs_up(server):
    server.script = [1.0]
    (made,) = adapter(server, timeout=0.2).generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert made.candidates == ("say s0 7 0",)
    server.script = [1.0] * 3
    (made,) = adapter(server, timeout=0.1, retries=2).generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert isinstance(made, Failure)
    assert "no answer within 0.1 s, after 3 tries" in made.reason


def test_lasting_trouble_is_a_failure_of_the_example(server):
    server.script = [(500, {}, '{"error": {"message": "boom"}}')] * 3
    made = list(adapter(server, retries=2, concurrency=1).generate(EXAMPLES[:2], Decoding("sample"), [7, 8]))
    assert isinstance(made[0], Failure)
    assert "HTTP 500: boom, after 3 tries" in made[0].reason
    assert made[1].candidates == ("say s1 8 0",)


def test_a_refusal_is_not_retried(server):
    server.script = [(401, {}, '{"error": {"message": "bad key"}}')]
    (made,) = adapter(server).generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert "HTTP 401: bad key" in made.reason
    assert len(server.requests) == 1


def test_no_server_at_all():
    found = OpenAI(base_url="http://127.0.0.1:9/v1", model="m", prompt="x", retries=1, first_wait=0.001)
    (made,) = found.generate(EXAMPLES[:1], Decoding("sample"), [7])
    assert "no connection" in made.reason


def test_no_more_requests_at_a_time_than_allowed(server):
    server.pause = 0.05
    list(adapter(server, concurrency=2).generate(EXAMPLES, Decoding("sample"), range(6)))
    assert server.busiest == 2


def test_images_and_keys_are_sent(server, tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    monkeypatch.setenv("MY_KEY", "secret")
    found = adapter(server, prompt="what", images=str(tmp_path), api_key_env="MY_KEY", system="be brief")
    examples = [Example("a", ("r",), media="a.png"), Example("b", ("r",), media="b.png")]
    made = list(found.generate(examples, Decoding("sample"), [1, 2]))
    assert made[0].candidates == ("what 1 0",)
    assert "b.png: the image cannot be read" in made[1].reason
    (request,) = server.requests
    assert request["key"] == "Bearer secret"
    assert request["messages"][0] == {"role": "system", "content": "be brief"}
    assert request["messages"][1]["content"][0]["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert "secret" not in found.fingerprint()


def test_mistakes_are_told(server, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(HarnessError, match="MY_KEY holds no key"):
        adapter(server, api_key_env="MY_KEY")
    with pytest.raises(HarnessError, match="base_url begins with http"):
        adapter(server, base_url="localhost:8000")
    with pytest.raises(HarnessError, match="strategy is one of greedy, sample, nucleus; found 'beam'"):
        adapter(server).prepare(TaskView(EXAMPLES, Decoding("beam")))
    with pytest.raises(InputError, match="example 'x' has no source text"):
        adapter(server).prepare(TaskView([Example("x", ("a",))], Decoding("sample")))
