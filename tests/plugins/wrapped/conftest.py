"""A SPICE metric over a program that replaces the Java program."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from caption_kernels.coco.spice import JARS
from harness_metrics.wrapped import spice

PROGRAM = """
import json, sys
print("Loading models", file=sys.stderr)
for line in sys.stdin:
    store, out = next(sys.stdin).strip(), next(sys.stdin).strip()
    rows = json.load(open(line.strip()))
    print(f"request of {len(rows)}", file=open(sys.argv[1], "a"))
    for row in rows:
        if row["test"] == "die":
            error = "java.lang.OutOfMemoryError: Java heap space"
            print("x" * 200_000, file=sys.stderr)
            print("Exception in thread main:", error, file=sys.stderr)
            sys.exit(1)
    if rows[0]["test"] != "mute":
        nan = float("nan")
        answer = []
        for row in rows:
            value = (row["test"] in row["refs"]) / len(row["refs"])
            if row["test"] == "empty":
                value = nan
            kinds = dict.fromkeys(
                ("Attribute", "Relation", "Cardinality", "Color", "Size"), nan
            )
            kinds.update(All=value, Object=value)
            if value == 1:
                kinds["Color"] = 1.0
            scores = {kind: {"f": f} for kind, f in kinds.items()}
            answer.append({"image_id": row["image_id"], "scores": scores})
        json.dump(answer, open(out, "w"))
    print("done", flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    """Command line of a program that scores 1/m where a candidate is among its m
    references.

    It writes a line per request to ``log``, exits on the candidate "die", and gives no
    scores on "mute", NaN on "empty".
    """
    (tmp_path / "program.py").write_text(PROGRAM)
    return [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "log")]


@pytest.fixture
def metric(
    tmp_path: Path, program: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[spice.Spice]:
    """The metric over that program."""
    for name in JARS:
        (tmp_path / name).touch()
    monkeypatch.setattr(spice, "command", lambda jars, memory: program)
    metric = spice.Spice(jars=str(tmp_path))
    yield metric
    if metric._process is not None:
        metric._process.close()
