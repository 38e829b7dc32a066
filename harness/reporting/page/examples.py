"""Examples of a group as compressed blocks: ids, captions in parts, scores and p-values as binary numbers.

The blocks of group ``g`` are ``g-index`` (ids, systems, metrics), ``g-refs-K`` (references of examples in order), ``g-caps-S-K``
(captions of system S, in the order of its rows), ``g-rows-S`` (row of each example, for systems that have other examples or another
order), ``g-score-M`` and ``g-p-M`` (numbers of metric M: float32, systems by examples, the bytes of one significance together).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.reporting.page.assets import Block
from harness.reporting.page.captions_stream import stream
from harness.reporting.page.groups import Group
from harness.rundir.records import decoding_text
from harness.rundir.samples import P_PREFIX, System

PART = 500
"""Number of examples in one block of captions."""


@dataclass(frozen=True)
class ExampleBlocks:
    """Blocks of one group, and its examples."""

    blocks: tuple[Block, ...]
    count: int
    """Number of examples of the runs."""
    ids: tuple[str, ...] = ()
    """Examples on the page."""


def example_blocks(group: Group, name: str, limit: int | None = None) -> ExampleBlocks:
    """Return the blocks of a group's examples; without captions there is none.

    Parameters
    ----------
    group : Group
        Runs of common data.
    name : str
        Prefix of the names of the blocks.
    limit : int, optional
        Maximum number of examples, evenly spread over the data; default: all.
    """
    systems = [system for _, system in group.systems]
    every = list(dict.fromkeys(example for system in systems for example in system.examples))
    ids = every
    if limit is not None and limit < len(every):
        ids = [every[(2 * k + 1) * len(every) // (2 * limit)] for k in range(limit)]
    if not ids:
        return ExampleBlocks((), 0)
    place = {example: k for k, example in enumerate(ids)}
    metrics = [m for m in group.metrics if any(m in system.table.metrics for system in systems)]
    directions = {record.metric: record.higher_is_better for _, record in group.records}
    tested = [m for m in metrics if any(f"{P_PREFIX}{m}" in system.table.names for system in systems)]
    index = {
        "ids": ids,
        "total": len(every),
        "part": PART,
        "systems": [_entry(group, number) for number in range(len(systems))],
        "metrics": [{"name": m, "higher": directions.get(m), "p": m in tested} for m in metrics],
    }
    blocks = [Block.of_json(f"{name}-index", index)]
    for k, metric in enumerate(metrics):
        blocks.append(_numbers(f"{name}-score-{k}", metric, systems, place))
        if metric in tested:
            blocks.append(_numbers(f"{name}-p-{k}", f"{P_PREFIX}{metric}", systems, place))
    return ExampleBlocks((*blocks, *_texts(group, name, ids, place)), len(every), tuple(ids))


def _entry(group: Group, number: int) -> dict[str, object]:
    """Return the description of a system for the script."""
    side, system = group.systems[number]
    return {
        "model": system.model,
        "label": side.label(system),
        "run": side.name if group.several_runs else "",
        "decoding": decoding_text(system.decoding),
    }


def _numbers(name: str, column: str, systems: Sequence[System], place: dict[str, int]) -> Block:
    """Return a column of all systems, float32, shape (systems, examples), NaN where undefined, bytes grouped by significance."""
    values = np.full((len(systems), len(place)), np.nan, dtype="<f4")
    for row, system in enumerate(systems):
        if column not in system.table.names:
            continue
        numbers = system.table.numbers(column)[system.rows]
        targets = np.array([place.get(example, -1) for example in system.examples], dtype=np.int64)
        present = targets >= 0
        with np.errstate(over="ignore"):
            values[row, targets[present]] = numbers[present]
    planes = np.ascontiguousarray(values.reshape(-1).view(np.uint8).reshape(-1, 4).T)
    return Block.of(name, planes.tobytes())


def _texts(group: Group, name: str, ids: Sequence[str], place: dict[str, int]) -> Iterator[Block]:
    """Yield the blocks of captions and references; captions of one system at a time are in memory."""
    references: list[tuple[str, ...] | None] = [None] * len(ids)
    numbers = sorted(range(len(group.systems)), key=lambda k: -_reference_count(group, k))
    for number in numbers:
        side, system = group.systems[number]
        rows: dict[int, int] = {}
        part: list[object] = []
        own_references: dict[int, tuple[str, ...]] = {}
        count = 0
        for item in stream(side.run, system):
            target = place.get(item.example)
            if target is None or target in rows:
                continue
            rows[target] = count
            count += 1
            if references[target] is None:
                references[target] = item.references
            elif references[target] != item.references:
                own_references[len(part)] = item.references
            part.append(item.candidates)
            if len(part) == PART:
                yield _captions(name, number, count // PART - 1, part, own_references)
                part, own_references = [], {}
        if part:
            yield _captions(name, number, count // PART, part, own_references)
        if list(rows.items()) != [(k, k) for k in range(len(ids))]:
            order = np.full(len(ids), -1, dtype="<i4")
            order[list(rows)] = list(rows.values())
            yield Block.of(f"{name}-rows-{number}", order.tobytes())
    for k in range(0, len(ids), PART):
        yield Block.of_json(f"{name}-refs-{k // PART}", [texts or () for texts in references[k : k + PART]])


def _reference_count(group: Group, number: int) -> int:
    """Return the largest number of references of a system; the systems with most of them come first, held-out people later."""
    side, system = group.systems[number]
    sizes = (side.record(system, metric) for metric in side.metrics(system))
    return max(
        (n for record in sizes if record and record.sizes for n in record.sizes.get("references", ())), default=0
    )


def _captions(
    name: str, system: int, part: int, candidates: Sequence[object], own: dict[int, tuple[str, ...]]
) -> Block:
    """Return the block of one part of a system: captions, and references where they are not those of the list."""
    return Block.of_json(f"{name}-caps-{system}-{part}", {"c": candidates, **({"r": own} if own else {})})
