"""Time of a judge metric against a local server,
beside the time that the server itself needs.

    python -m benchmarks.sections.judge_requests [--items 300] [--concurrency 16]
    [--latency 0.4]

The server speaks the chat protocol, waits between half and one and a half times
``--latency`` seconds per request, and fails one request in ten. Its own time is the sum
of the times that it takes from reading a request to its answer, failed ones included,
over the number of simultaneous requests: on a machine that does other work it is longer
than the waits. The second pass reads all answers from the cache. The goal is 1.2 times
the server's own time; the exit status is 1 when it is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.judges.clair_metric import Clair

GOAL = 1.2
"""Seconds of the metric over those of the server."""


class Stub(ThreadingHTTPServer):
    """Server that waits, fails one request in ten,
    and answers every other one with a score.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, latency: float) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.random = random.Random(0)
        self.lock = threading.Lock()
        self.latency = latency
        self.requests = 0
        self.failures = 0
        self.busy = 0.0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def next_request(self) -> tuple[float, bool]:
        """Return the wait of the next request, and True when it fails."""
        with self.lock:
            wait = self.latency * self.random.uniform(0.5, 1.5)
            self.requests += 1
            fails = self.requests % 10 == 0
            self.failures += fails
            return wait, fails

    def add(self, seconds: float) -> None:
        """Add the time of one request."""
        with self.lock:
            self.busy += seconds


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        """Wait, then fail or answer."""
        server = self.server
        start = time.perf_counter()
        assert isinstance(server, Stub)
        self.rfile.read(int(self.headers["Content-Length"]))
        wait, fails = server.next_request()
        time.sleep(wait)
        content = json.dumps({"score": 70, "reason": "the same dog"})
        reply = {
            "choices": [{"message": {"content": content}, "finish_reason": "stop"}]
        }
        server.add(time.perf_counter() - start)  # before the client can have the answer
        self.send_response(503 if fails else 200)
        self.end_headers()
        self.wfile.write(b"busy" if fails else json.dumps(reply).encode())


class Times(NamedTuple):
    """Seconds of one measurement."""

    first: float
    cached: float
    server: float
    requests: int
    failures: int

    @property
    def ratio(self) -> float:
        """Seconds of the first pass over those of the server."""
        return self.first / self.server


def measure(items: int = 300, concurrency: int = 16, latency: float = 0.4) -> Times:
    """Return the times of CLAIR on so many examples."""
    stub = Stub(latency)
    url = f"http://127.0.0.1:{stub.server_address[1]}/v1"
    sets = [
        CaptionSet(str(k), (f"a dog {k}", f"dog {k}"), (f"the dog {k}", f"one dog {k}"))
        for k in range(items)
    ]

    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    with tempfile.TemporaryDirectory() as folder:
        metric = Clair(
            judge={
                "base_url": url,
                "model": "stub",
                "concurrency": concurrency,
                "cache": folder,
            }
        )

        start = time.perf_counter()
        stats = metric.stats(batch, features, None)
        first = time.perf_counter() - start
        server_seconds = stub.busy / concurrency
        requests = stub.requests
        failures = stub.failures

        # The second pass finds all answers in the store.
        start = time.perf_counter()
        again = metric.stats(batch, features, None)
        cached = time.perf_counter() - start

    stub.shutdown()
    stub.server_close()

    if (
        stub.requests != requests
        or not (stats == again).all()
        or not (stats[:, 0] == 0.7).all()
    ):
        raise SystemExit("the second pass differs from the first")
    return Times(first, cached, server_seconds, requests, failures)


def report(times: Times) -> bool:
    """Print the times; return True when the goal is met."""
    print(
        f"judge: {times.requests} requests, {times.failures} of them failed and were "
        "repeated"
    )
    print(
        f"  {times.first:.2f} s; the server's own time {times.server:.2f} s; "
        f"ratio {times.ratio:.3f} (goal {GOAL})"
    )
    print(f"  from the cache: {times.cached:.3f} s", flush=True)
    return times.ratio <= GOAL


def main() -> int:
    """Print the times; return 1 when the goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--items", type=int, default=300, help="number of examples (default 300)"
    )
    parser.add_argument(
        "--concurrency", type=int, default=16, help="simultaneous requests (default 16)"
    )
    parser.add_argument(
        "--latency",
        type=float,
        default=0.4,
        help="mean seconds of a request (default 0.4)",
    )
    args = parser.parse_args()
    return 0 if report(measure(args.items, args.concurrency, args.latency)) else 1


if __name__ == "__main__":
    sys.exit(main())
