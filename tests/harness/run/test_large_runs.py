"""A hundred thousand examples: bounded memory, state on disk,
the same digits by other executors and parts.
"""

from __future__ import annotations

import json

import pytest

from benchmarks import scale

EXAMPLES = 100_000


@pytest.mark.slow
def test_a_hundred_thousand_examples(tmp_path):
    size = scale.write_data(tmp_path, EXAMPLES, 1)
    spec = str(scale.write_spec(tmp_path, ["bleu", "rouge", "cider"]))
    cost = scale.run("run", spec, "--output", str(tmp_path / "local"))
    assert cost.peak_gib < 1
    assert scale.folder_bytes(tmp_path / "local") < 2 * size
    results = json.loads((tmp_path / "local" / "results.json").read_text())["results"]
    assert {row["n"] for row in results} == {EXAMPLES} and all(
        row["ci95"] for row in results
    )
    scale.run(
        "run",
        spec,
        "--executor",
        "process",
        "--workers",
        "2",
        "--shard-size",
        "7001",
        "--output",
        str(tmp_path / "two"),
    )
    assert scale.identical(tmp_path / "local", tmp_path / "two")
