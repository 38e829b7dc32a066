"""METEOR against meteor-1.5.jar: golden items, then real pairs from every data set of captions and of other text.

    python benchmarks/sections/meteor_parity.py [PAIRS]

The pairs are drawn at random, with a fixed seed, from model output, references and unrelated texts; a few have several references.
Statistics must be equal, scores within 1e-12. The jar answers some 1000 to 2000 pairs a second, so 60,000 pairs take a minute or two.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import coco_data

from harness.plugins.meteor import engine as meteor
from harness.plugins.meteor.java import JavaMeteor

PAIRS = 60_000
TOLERANCE = 1e-12
SEED = 20


def report(shared: Path, n_pairs: int = PAIRS) -> bool:
    """Print the table; True when no statistic differs."""
    print("\nMETEOR 1.5: differences from the jar")
    print(f"  {'':<34} {'items':>9} {'statistics':>11} {'scores':>9}")
    good = _golden(shared)
    groups = sorted(shared.glob("data/*/*.jsonl.gz")) + sorted(shared.glob("data/*/*.txt.gz"))
    with JavaMeteor() as jar:
        done: dict[str, list[Any]] = {}
        share = -(-n_pairs // len(groups))
        for path in groups:
            pairs = list(_pairs(path, share))
            if pairs:
                done.setdefault(path.parent.name, []).extend(pairs)
        for name, pairs in done.items():
            theirs = jar.statistics(pairs)
            good &= _line(name, meteor.statistics(pairs), theirs, meteor.scores(pairs), jar.evaluate(theirs)[0])
    total = sum(map(len, done.values()))
    print(f"  {total:,} pairs: {'no statistic differs' if good else 'DIFFERENT'}")
    return good


def _golden(shared: Path) -> bool:
    items = coco_data.read(shared / "golden/meteor/meteor_golden.jsonl.gz")
    pairs = [(item["hyp"], item["refs"]) for item in items]
    known = np.array([item["stats"] for item in items])
    return _line(
        "golden", meteor.statistics(pairs), known, meteor.scores(pairs), np.array([item["score"] for item in items])
    )


def _line(name: str, ours: np.ndarray, theirs: np.ndarray, our_scores: np.ndarray, their_scores: np.ndarray) -> bool:
    different = int((ours != theirs).any(axis=1).sum())
    worst = float(np.abs(our_scores - their_scores).max())
    print(f"  {name:<34} {len(ours):>9,} {different:>11,} {worst:>9.1e}", flush=True)
    return different == 0 and worst <= TOLERANCE


def _pairs(path: Path, n: int) -> Iterator[meteor.Pair]:
    """``n`` pairs of texts from one file: of one record where it has several texts, and of two records."""
    rng = random.Random(f"{SEED}{path.name}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [
            _sentences(json.loads(line) if path.name.endswith("jsonl.gz") else line.rstrip("\n")) for line in lines
        ]
    records = [texts for texts in records if texts]
    if len(records) < 2:
        return
    for k in range(n):
        one, other = rng.sample(records, 2)
        if k % 4 == 0 or len(one) < 2:
            yield rng.choice(one), [rng.choice(other)]
        elif k % 8 == 1:
            hypothesis, *references = rng.sample(one, min(len(one), 6))
            yield hypothesis, references
        else:
            hypothesis, reference = rng.sample(one, 2)
            yield hypothesis, [reference]


def _sentences(value: Any) -> list[str]:
    """The strings of a record with a blank in them."""
    return [text for text in coco_data.strings(value) if " " in text.strip()]


if __name__ == "__main__":
    sys.exit(0 if report(coco_data.shared_folder(), *map(int, sys.argv[1:])) else 1)
