"""Numbers of the field's evaluators on captions with times: files, and results of the
protocols of ``dense`` beside them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import harness

TIOUS = (0.3, 0.5, 0.7, 0.9)
"""Thresholds of the overlap in the stored numbers."""


def load(path: Path) -> Any:
    """Return the content of a JSON file, compressed or not."""
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def results_of(
    folder: Path, prediction: str, references: Sequence[str], params: Mapping[str, Any]
) -> Any:
    """Return the result of ``dense`` for files."""
    files = [str(folder / f"{name}.json.gz") for name in references]
    return harness.score(
        [str(folder / f"pred_{prediction}.json.gz")],
        files,
        [{"dense": params}],
        bootstrap=0,
        labels=["system"],
    )


def scores_by_video(scored: Any) -> dict[str, float]:
    """Return the scores of a run of one system and metric by id."""
    (system,) = scored.run.samples.systems
    (record,) = scored.run.records
    values = system.scores(record.metric)
    return dict(zip(system.examples, values))


def values_by_video(
    expected: Mapping[str, Any], name: str, place: int
) -> dict[str, float]:
    """Return the evaluator's values of each video at a threshold, empty without."""
    if place >= len(TIOUS):
        return {}
    if name in ("Precision", "Recall"):
        pairs = expected.get("detection", {}).get(f"{TIOUS[place]}", {})
        column = ("Precision", "Recall").index(name)
        return {video: pair[column] for video, pair in pairs.items()}
    return expected.get("per_video", {}).get(name, {}).get(f"{TIOUS[place]}", {})
