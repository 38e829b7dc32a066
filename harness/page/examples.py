"""Examples of a group as compressed blocks: ids, captions in parts,
scores and p-values as binary numbers.

The blocks of group ``g`` are ``g-index`` (ids, systems, metrics), ``g-refs-K``
(references of examples in order), ``g-caps-S-K`` (captions of system S, in the order of
its rows), ``g-rows-S`` (row of each example, for systems that have other examples or
another order), ``g-score-M`` and ``g-p-M`` (numbers of metric M: float32, systems by
examples, the bytes of one significance together).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Example
from harness.errors import HarnessError
from harness.files.media import check_media
from harness.files.yaml_source import Located
from harness.page.assets import DataBlock
from harness.page.events.words import readable_texts
from harness.page.groups import Group
from harness.page.thumbnails import image_folders
from harness.registry import current
from harness.reporting.table import shown_names
from harness.results import P_PREFIX, Run, System, decoding_text
from harness.spec.models import DatasetSpec

PART = 500
"""Number of examples in one block of captions."""


@dataclass(frozen=True)
class ExampleBlocks:
    """Blocks of one group, and its examples."""

    blocks: tuple[DataBlock, ...]
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
    all_ids = list(
        dict.fromkeys(example for system in systems for example in system.examples)
    )
    ids = all_ids
    if limit is not None and limit < len(all_ids):
        # the middle of each of ``limit`` equal parts
        ids = [all_ids[(2 * k + 1) * len(all_ids) // (2 * limit)] for k in range(limit)]
    if not ids:
        return ExampleBlocks((), 0)

    row_of = {example: k for k, example in enumerate(ids)}
    metrics = [
        m for m in group.metrics if any(m in system.table.metrics for system in systems)
    ]
    # numbers that are no means of the scores would mislead: they come last
    metrics.sort(key=lambda metric: not _is_mean(group, metric))

    names = shown_names(record for _, record in group.records)
    described = {
        record.metric: {
            "higher": record.higher_is_better,
            "signature": record.signature,
        }
        for _, record in group.records
    }
    tested = [
        m
        for m in metrics
        if any(f"{P_PREFIX}{m}" in system.table.names for system in systems)
    ]
    index = {
        "ids": ids,
        "total": len(all_ids),
        "part": PART,
        "systems": [_entry(group, number) for number in range(len(systems))],
        "metrics": [
            {"label": m, "name": names[m], "p": m in tested, **described[m]}
            for m in metrics
        ],
    }

    blocks = [DataBlock.of_json(f"{name}-index", index)]
    for k, metric in enumerate(metrics):
        blocks.append(_numbers(f"{name}-score-{k}", metric, systems, row_of))
        if metric in tested:
            column = f"{P_PREFIX}{metric}"
            blocks.append(_numbers(f"{name}-p-{k}", column, systems, row_of))
    blocks += _texts(group, name, ids, row_of)
    return ExampleBlocks(tuple(blocks), len(all_ids), tuple(ids))


def _entry(group: Group, number: int) -> dict[str, object]:
    """Return the description of a system for the script."""
    side, system = group.systems[number]
    return {
        "model": system.model,
        "label": side.label(system),
        "run": side.name if group.several_runs else "",
        "decoding": decoding_text(system.decoding),
    }


def _is_mean(group: Group, metric: str) -> bool:
    """Return True for a metric whose numbers are the means of its scores: BLEU of a
    corpus, for one, is no mean of BLEU of sentences.
    """
    for side, system in group.systems:
        record = side.record(system, metric)
        if record is None or metric not in system.table.metrics:
            continue
        scores = system.scores(metric)
        defined = scores[np.isfinite(scores)]
        if not defined.size:
            return False
        mean = defined.mean()
        if not math.isclose(mean, record.value, rel_tol=1e-4, abs_tol=1e-9):
            return False
    return True


def _numbers(
    name: str, column: str, systems: Sequence[System], row_of: dict[str, int]
) -> DataBlock:
    """Return a column of all systems, float32, shape (systems, examples), NaN where
    undefined, bytes grouped by significance.
    """
    # Four digits are shown, so float32 halves the page; little-endian, as every
    # browser's Float32Array reads them.
    values = np.full((len(systems), len(row_of)), np.nan, dtype="<f4")
    for row, system in enumerate(systems):
        if column not in system.table.names:
            continue
        numbers = system.table.numbers(column)[system.rows]
        targets = np.array(
            [row_of.get(example, -1) for example in system.examples], dtype=np.int64
        )
        present = targets >= 0
        with np.errstate(over="ignore"):
            values[row, targets[present]] = numbers[present]

    # The first bytes of all numbers, then the second ones, ...: signs and exponents of
    # scores are alike, and gzip finds runs of equal bytes only where they lie side by
    # side. The script puts the four planes together again (data.js, blockNumbers).
    planes = np.ascontiguousarray(values.reshape(-1).view(np.uint8).reshape(-1, 4).T)
    return DataBlock.of(name, planes.tobytes())


def _texts(
    group: Group, name: str, ids: Sequence[str], row_of: dict[str, int]
) -> Iterator[DataBlock]:
    """Yield the blocks of captions and references;
    captions of one system at a time are in memory.
    """
    # Systems share most references. They are stored once, from the system with most of
    # them; a system whose references of an example differ (held-out people, whose own
    # captions left the set) has them in its block of captions.
    references: list[tuple[str, ...] | None] = [None] * len(ids)
    numbers = sorted(
        range(len(group.systems)), key=lambda k: -_reference_count(group, k)
    )
    for number in numbers:
        _, system = group.systems[number]
        rows: dict[int, int] = {}
        chunk: list[object] = []
        own_references: dict[int, tuple[str, ...]] = {}
        count = 0
        for item in system.iter_caption_sets():
            target = row_of.get(item.id)
            if target is None or target in rows:
                continue
            rows[target] = count
            count += 1
            if references[target] is None:
                references[target] = item.references
            elif references[target] != item.references:
                own_references[len(chunk)] = readable_texts(item.references)
            # A block goes out as soon as it is full: one block of one system is in
            # memory, however many examples there are.
            chunk.append(readable_texts(item.candidates))
            if len(chunk) == PART:
                yield _captions(name, number, count // PART - 1, chunk, own_references)
                chunk = []
                own_references = {}
        if chunk:
            yield _captions(name, number, count // PART, chunk, own_references)

        # Blocks follow the order of the system's own file. A map from examples to rows
        # is needed only where this is another order.
        if list(rows.items()) != [(k, k) for k in range(len(ids))]:
            order = np.full(len(ids), -1, dtype="<i4")
            order[list(rows)] = list(rows.values())
            yield DataBlock.of(f"{name}-rows-{number}", order.tobytes())

    for k in range(0, len(ids), PART):
        part = [readable_texts(texts or ()) for texts in references[k : k + PART]]
        yield DataBlock.of_json(f"{name}-refs-{k // PART}", part)


def _reference_count(group: Group, number: int) -> int:
    """Return the largest number of references of a system; the systems with most of
    them come first, held-out people later.
    """
    side, system = group.systems[number]
    counts: list[int] = []
    for metric in side.metrics(system):
        record = side.record(system, metric)
        if record and record.sizes:
            counts += record.sizes.get("references", ())
    return max(counts, default=0)


def _captions(
    name: str,
    system: int,
    chunk: int,
    candidates: Sequence[object],
    own: dict[int, tuple[str, ...]],
) -> DataBlock:
    """Return the block of one part of a system: captions,
    and references where they are not those of the list.
    """
    content: dict[str, object] = {"c": candidates}
    if own:
        content["r"] = own
    return DataBlock.of_json(f"{name}-caps-{system}-{chunk}", content)


def examples_of(run: Run) -> list[Example]:
    """Return the examples of the data set that a run read; empty where its local files
    are missing or have changed.

    Data that are no local files are not read again: a page is written without network.
    """
    dataset = run.provenance.spec.get("dataset")
    if not isinstance(dataset, dict):
        return []
    spec = DatasetSpec.model_validate(dataset)
    values = spec.params.values()
    if not any(isinstance(value, str) and Path(value).is_file() for value in values):
        return []

    try:
        reader: Any = current().create("readers", spec.reader, spec.params)
        if reader.fingerprint() != run.provenance.data.get("fingerprint"):
            return []
        places = [value for _, value in Located(spec.params).walk()]
        places += map(str, image_folders([run]))
        return list(check_media(reader, places, drop=lambda _: None))
    except (HarnessError, OSError):  # the run is complete without its data
        return []
