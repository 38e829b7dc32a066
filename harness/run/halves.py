"""Batches of half the size, for a batch that does not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence

from harness.contracts import Features, PositionedBatch


def halve_batches(batches: Sequence[PositionedBatch], features: Features) -> list[PositionedBatch] | None:
    """Return the same examples in batches of half the size; None where every batch holds one example.

    Rows do not depend on the batch that they are computed in, so that no digit changes.
    """
    if all(len(batch) == 1 for _, batch in batches):
        return None
    smaller: list[PositionedBatch] = []
    for positions, batch in batches:
        middle = (len(batch) + 1) // 2
        for start, stop in ((0, middle), (middle, len(batch))):
            if start < stop:
                smaller.append(PositionedBatch(positions[start:stop], features.batch(batch.sets[start:stop])))
    return smaller
