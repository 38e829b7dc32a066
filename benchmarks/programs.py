"""CPU time of the protocol of programs: 100,000 items against programs that answer at
once, and vectors beside json's own cost.

    python -m benchmarks.programs [--items 100000]

Prints, for numbers, microseconds of CPU an item in the harness and items a second; for
vectors (lists of numbers, and base64 of float32) the CPU time over that of json.loads
on lines with lists. The answers are not stored.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from harness.programs.client import ProgramClient
from harness.programs.program import Limits, Program
from harness.programs.values import read_numbers, read_vectors

WIDTH = 384
TEXT = "a dog runs over the green grass near a fence number {}"
HEAD = """
import json, os, sys
out = os.fdopen(os.dup(1), "w", buffering=1)
hello = json.loads(sys.stdin.readline())
out.write(json.dumps({"protocol": 1, "name": "speed", "version": "1"}) + "\\n")
for line in sys.stdin:
    message = json.loads(line)
    if "end" in message:
        break
    if "id" in message:
"""
NUMBER = (
    HEAD
    + """
        words = message["candidate"].split()
        value = len(set(words)) / len(words)
        out.write('{"id":%d,"value":%r}\\n' % (message["id"], value))
"""
)
VECTOR = (
    HEAD
    + """
        out.write('{"id":%d,"value":VALUE}\\n' % message["id"])
"""
)


def client_of(source: str, folder: Path, kind: str) -> ProgramClient:
    """Return a started program of a Python source."""
    file = folder / f"{kind}.py"
    file.write_text(source, encoding="utf-8")
    program = Program(kind, (sys.executable, "-S", str(file)), folder, limits=Limits())
    client = ProgramClient(program, kind, {}, stored=False)
    _ = client.greeting
    return client


def measure_numbers(folder: Path, count: int) -> None:
    """Print the cost of an item with one number."""
    client = client_of(NUMBER, folder, "metric")
    texts = [TEXT.format(number) for number in range(count)]
    items = [{"candidate": text, "references": [text]} for text in texts]

    def read(answers, name_of):
        return read_numbers(
            answers, name_of, label="metric", bounds=(0.0, 1.0), may_fail=True
        )

    cpu, wall = time.process_time(), time.perf_counter()
    values = client.values(items, str, read)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    client.close()
    assert len(values) == count
    print(
        f"numbers: {1e6 * cpu / count:.1f} us of CPU an item in the harness, "
        f"{count / wall:,.0f} items a second"
    )


def measure_vectors(folder: Path, count: int) -> None:
    """Print the cost of vectors of both forms beside that of json."""
    vector = np.random.default_rng(0).normal(size=WIDTH).astype(np.float32)
    coded = base64.b64encode(vector.tobytes()).decode("ascii")
    forms = {
        "list of numbers": json.dumps([round(float(x), 6) for x in vector]),
        "base64": f'"{coded}"',
    }
    line = f'{{"id":123456,"value":{forms["list of numbers"]}}}'.encode("ascii")
    started = time.process_time()
    for _ in range(count):
        json.loads(line)
    of_json = time.process_time() - started
    for form, value in forms.items():
        client = client_of(VECTOR.replace("VALUE", value), folder, "embedding")
        items = [{"text": TEXT.format(number)} for number in range(count)]

        def read(answers, name_of):
            return read_vectors(answers, name_of, label="embedding")

        cpu, wall = time.process_time(), time.perf_counter()
        vectors = client.values(items, str, read)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        client.close()
        assert vectors.shape == (count, WIDTH)
        print(
            f"{form} of {WIDTH}: {1e6 * cpu / count:.1f} us of CPU a vector, "
            f"{cpu / of_json:.2f} times json.loads of a list "
            f"({1e6 * of_json / count:.1f} us); {count / wall:,.0f} a second"
        )


def main() -> None:
    """Print all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    items = parser.parse_args().items
    with tempfile.TemporaryDirectory() as name:
        measure_numbers(Path(name), items)
        measure_vectors(Path(name), max(1, items // 10))


if __name__ == "__main__":
    main()
