"""Result records by metric, best first, and what is said about several of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from harness.reporting.table import heading, shown_name, shown_names, size_text
from harness.rundir.records import (
    UNDEFINED,
    ResultRecord,
    decoding_text,
    text_of_fields,
    varying_fields,
)

SIZE_NOTE = (
    "the value depends on the set size (candidates + references): "
    "rows compare within one size only"
)
"""Remark on a metric whose rows differ in a set size on which it depends."""
Sizes: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


def sort_key(record: ResultRecord) -> float:
    """Return a key that sorts the best value first and undefined values last."""
    if math.isnan(record.value):
        return math.inf
    return -record.value if record.higher_is_better else record.value


def group_records(records: Sequence[ResultRecord]) -> list[list[ResultRecord]]:
    """Return the records by metric, best first within a metric that has a direction.

    The records of a metric are also divided by the set sizes on which it depends, since
    its values compare within one size only. Groups are in the order of first
    appearance; those of one metric follow each other.
    """
    metrics: dict[str, dict[Sizes, list[ResultRecord]]] = {}
    for record in records:
        groups = metrics.setdefault(record.metric, {})
        groups.setdefault(record.compared_sizes, []).append(record)
    return [
        sorted(group, key=sort_key) if group[0].higher_is_better is not None else group
        for groups in metrics.values()
        for group in groups.values()
    ]


def divided_metrics(groups: Sequence[Sequence[ResultRecord]]) -> list[str]:
    """Return the names of the metrics that have several groups, in order."""
    counts = Counter(group[0].metric for group in groups)
    return [name for name, count in counts.items() if count > 1]


def p_notes(records: Sequence[ResultRecord]) -> dict[str, list[str]]:
    """Return reason -> metrics, for the records without a requested p-value, in the
    order of first appearance.
    """
    notes: dict[str, dict[str, None]] = {}
    for record in records:
        if record.p_note is not None:
            notes.setdefault(record.p_note, {})[shown_name(record)] = None
    return {note: list(names) for note, names in notes.items()}


def interval_notes(
    records: Sequence[ResultRecord], *, missing_only: bool = False
) -> list[str]:
    """Return one line per note, in the order of first appearance,
    with the metrics that it applies to.

    A metric of which some records lack the note is followed by the models that have it.

    Parameters
    ----------
    records : sequence of ResultRecord
        Results of a run.
    missing_only : bool
        Leave out the notes on intervals that are there, such as what they hold fixed.

    Examples
    --------
    >>> note = "repeats n-grams"
    >>> record = ResultRecord(model="a", metric="distinct2", interval_note=note)
    >>> interval_notes([record])
    ['no 95 % interval: Distinct-2 (repeats n-grams)']
    """
    notes: dict[tuple[bool, str], dict[str, list[str]]] = {}
    totals = Counter(map(shown_name, records))
    for record in records:
        if record.interval_note is not None:
            metrics = notes.setdefault((record.ci95 is None, record.interval_note), {})
            metrics.setdefault(shown_name(record), []).append(record.model)

    lines: list[str] = []
    for (missing, note), metrics in notes.items():
        if missing_only and not missing:
            continue
        labels = [
            name
            if len(models) == totals[name]
            else f"{name} of {', '.join(dict.fromkeys(models))}"
            for name, models in metrics.items()
        ]
        interval = "no 95 % interval" if missing else "95 % interval"
        if note.startswith(UNDEFINED):
            interval = "no value"
        lines.append(f"{interval}: {', '.join(labels)} ({note})")
    return lines


def usage_notes(records: Sequence[ResultRecord]) -> list[str]:
    """Return one line per judge with its answers by status, requests, tokens and cost,
    summed over the records of its metric.

    Another line per judge whose details have a ``scale_note``: answers that seem to be
    on another scale.

    >>> usage = {
    ...     "answers": {"valid": 9, "refused": 1},
    ...     "requests": 11,
    ...     "tokens": {"input": 4000, "output": 90},
    ...     "cost": 0.02,
    ... }
    >>> record = ResultRecord(model="a", metric="my-judge", details=usage)
    >>> (line,) = usage_notes([record])
    >>> line.split(", ")[:3]
    ['my-judge: 9 valid', '1 refused', '11 requests']
    >>> line.split(", ")[3:]
    ['4,000 input tokens', '90 output tokens', 'cost 0.02']
    """
    sums: dict[str, Counter[str]] = {}
    costs: dict[str, float] = {}
    for record in records:
        usage = record.details or {}
        if "requests" not in usage or "answers" not in usage:
            continue
        name = shown_name(record)
        total = sums.setdefault(name, Counter())
        total.update(usage["answers"])
        total["requests"] += usage["requests"]
        for kind, count in usage["tokens"].items():
            total[f"{kind} tokens"] += count
        costs[name] = costs.get(name, 0.0) + usage.get("cost", 0)

    lines: list[str] = []
    for name, total in sums.items():
        texts = [f"{count:,} {noun}" for noun, count in total.items() if count]
        if costs[name]:
            texts.append(f"cost {costs[name]:.4g}")
        lines.append(f"{name}: {', '.join(texts)}")

    notes: dict[str, None] = {}
    for record in records:
        note = (record.details or {}).get("scale_note")
        if note:
            notes[f"{shown_name(record)} of {record.model}: {note}"] = None
    return [*lines, *notes]


def system_names(records: Iterable[ResultRecord]) -> dict[tuple[str, str], str]:
    """Return (model, decoding key) -> model,
    with the fields of the decoding in which the systems differ.
    """
    systems = {(record.model, record.decoding_key): record for record in records}
    labels = decoding_labels(systems.values())
    return {(model, key): f"{model} {labels[key]}".strip() for model, key in systems}


def swept_fields(records: Iterable[ResultRecord]) -> list[str]:
    """Return the fields in which the decodings of some records differ;
    results of token scores have no decoding.
    """
    return varying_fields(
        record.decoding for record in records if record.level != "model"
    )


def decoding_labels(records: Iterable[ResultRecord]) -> dict[str, str]:
    """Return decoding key -> what tells the decoding apart from others of the records:
    each varying field, also where it has its default.

    >>> records = [
    ...     ResultRecord(model="a", metric="m", decoding=d)
    ...     for d in ({"temperature": 0.5}, {})
    ... ]
    >>> list(decoding_labels(records).values())
    ['T=0.5', 'T=1']
    """
    items = list(records)
    swept = swept_fields(items)
    varying = varying_fields(record.decoding for record in items)
    labels: dict[str, str] = {}
    for record in items:
        names = [name for name in varying if name in swept or name in record.decoding]
        if record.level == "model":
            names = list(record.decoding)
        labels[record.decoding_key] = text_of_fields(record.decoding, names)
    return labels


def directions(records: Iterable[ResultRecord]) -> dict[str, bool | None]:
    """Return metric -> direction, in the order of the records."""
    return {record.metric: record.higher_is_better for record in records}


def headings(records: Iterable[ResultRecord]) -> dict[str, str]:
    """Return metric -> its name with the arrow of its direction,
    in the order of the records.
    """
    records = list(records)
    names = shown_names(records)
    return {
        record.metric: heading(names[record.metric], record.higher_is_better)
        for record in records
    }


def full_row(record: ResultRecord) -> dict[str, object]:
    """Return column of a CSV -> content of a record, numbers in full; interval, sizes
    and decoding are columns of texts and numbers.
    """
    sizes = record.sizes or {}
    names = (
        "task",
        "model",
        "metric",
        "higher_is_better",
        "value",
        "p_value",
        "p_method",
        "harmonic_p",
        "n",
        "skipped",
        "seconds",
        "signature",
        "slice",
    )
    low, high = record.ci95 or (None, None)
    return {
        **{name: getattr(record, name) for name in names},
        **{
            name: size_text({name: sizes.get(name, ())})
            for name in ("candidates", "references")
        },
        "decoding": decoding_text(record.decoding),
        "ci_low": low,
        "ci_high": high,
        "sizes": size_text(sizes),
    }
