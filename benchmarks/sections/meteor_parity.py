"""METEOR against meteor-1.5.jar: golden items, then real pairs from every data set of
captions and of other text.

    python -m benchmarks.sections.meteor_parity [PAIRS]

The pairs are drawn at random, with a fixed seed, from model output, references and
unrelated texts; some have several references. Statistics must be equal, scores within
1e-12. The jar processes about 1000 to 2000 pairs per second.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import captions
from caption_kernels.batches.meteor import Pair
from harness_metrics.meteor import engine as meteor
from harness_metrics.meteor.java import JavaMeteor

PAIRS = 60_000
TOLERANCE = 1e-12
SEED = 20


def report(n_pairs: int = PAIRS) -> bool:
    """Print the table; return True when no statistic differs."""
    print("\nMETEOR 1.5: differences from the jar")
    print(f"  {'':<34} {'items':>9} {'statistics':>11} {'scores':>9}")
    good = _golden()
    folder = captions.data_folder()
    files = sorted(folder.glob("*/*.jsonl.gz")) + sorted(folder.glob("*/*.txt.gz"))
    with JavaMeteor() as jar:
        by_set: dict[str, list[Pair]] = {}
        share = -(-n_pairs // len(files))
        for path in files:
            pairs = list(_pairs(path, share))
            if pairs:
                by_set.setdefault(path.parent.name, []).extend(pairs)
        for name, pairs in by_set.items():
            theirs = jar.statistics(pairs)
            good &= _line(
                name,
                meteor.statistics(pairs),
                theirs,
                meteor.scores(pairs),
                jar.evaluate(theirs)[0],
            )
    total = sum(map(len, by_set.values()))
    print(f"  {total:,} pairs: {'no statistic differs' if good else 'DIFFERENT'}")
    return good


def _golden() -> bool:
    items = captions.read_json_lines(captions.GOLDEN / "meteor/meteor_golden.jsonl.gz")
    pairs = [(item["hyp"], item["refs"]) for item in items]
    statistics, scores = (
        np.array([item[key] for item in items]) for key in ("stats", "score")
    )
    return _line(
        "golden", meteor.statistics(pairs), statistics, meteor.scores(pairs), scores
    )


def _line(
    name: str,
    ours: np.ndarray,
    theirs: np.ndarray,
    our_scores: np.ndarray,
    their_scores: np.ndarray,
) -> bool:
    different = int((ours != theirs).any(axis=1).sum())
    worst = float(np.abs(our_scores - their_scores).max())
    print(f"  {name:<34} {len(ours):>9,} {different:>11,} {worst:>9.1e}", flush=True)
    return different == 0 and worst <= TOLERANCE


def _pairs(path: Path, n: int) -> Iterator[Pair]:
    """Yield ``n`` pairs of texts of one file,
    from one record that has several texts or from two records.
    """
    rng = random.Random(f"{SEED}{path.name}")
    records = [texts for texts in map(_sentences, captions.records_of(path)) if texts]
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
    """Return the strings of a record that contain a blank."""
    return [text for text in captions.strings(value) if " " in text.strip()]


if __name__ == "__main__":
    sys.exit(0 if report(*map(int, sys.argv[1:])) else 1)
