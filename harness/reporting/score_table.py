"""The table of ``harness score``: a row per metric and system, with its difference to a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.contracts import Parameters
from harness.reporting.numbers import ARROWS, interval_text, number, p_text, signed, size_text
from harness.reporting.tables import Sheet
from harness.rundir.records import ResultRecord
from harness.stats.paired import LEVEL

Comparisons = Mapping[tuple[str, str], Parameters]
"""(metric, system) -> comparison of the system (``system_a``) with the baseline (``system_b``)."""
HEADERS = {
    "metric": "l", "system": "l", "set": "r", "value": "r", "95 % interval": "r", "permutation p": "r",
    "harmonic p": "r", "difference": "r", "p": "r", "p (Holm)": "r", "note": "l",
}  # fmt: skip
"""Columns of the table and their alignment; columns without content are left out."""
DATA = (
    "metric", "higher_is_better", "system", "value", "ci_low", "ci_high", "n", "skipped", "candidates", "references",
    "permutation_p", "harmonic_p", "baseline", "difference", "difference_ci_low", "difference_ci_high", "p_value", "p_holm",
    "n_compared", "note",
)  # fmt: skip
"""Columns of the CSV."""


def score_sheet(
    records: Sequence[ResultRecord], rows: Sequence[Parameters] = (), baseline: str = "", draws: int = 0
) -> Sheet:
    """Return the table of the records of one run and of the comparisons of its systems with the baseline.

    Parameters
    ----------
    records : sequence of ResultRecord
        Results, one per metric and system.
    rows : sequence of mapping
        Comparisons as of :func:`harness.api.compare` with ``baseline``; empty for one system.
    baseline : str
        Label of the baseline.
    draws : int
        Draws of the comparisons, for the note below the table.
    """
    compared: Comparisons = {(row["metric"], row["system_a"]): row for row in rows}
    groups: dict[str, list[ResultRecord]] = {}
    for record in records:
        groups.setdefault(record.metric, []).append(record)
    ordered = [record for group in groups.values() for record in group]
    lines = [_line(record, compared.get((record.metric, record.model)), baseline if rows else "") for record in ordered]
    starts = [sum(len(group) for group in list(groups.values())[:k]) for k in range(len(groups))]
    for place, line in enumerate(lines):
        if place not in starts:
            line["metric"] = ""
    sizes = {size_text(record.sizes) for record in ordered}
    used = [name for name in HEADERS if any(line[name] for line in lines) and (name != "set" or len(sizes) > 1)]
    counts = {record.n + record.skipped for record in ordered}
    best = {place for start, group in zip(starts, groups.values()) for place in _best(group, compared, baseline, start)}
    return Sheet(
        headers=used,
        rows=[[line[name] for name in used] for line in lines],
        alignment="".join(HEADERS[name] for name in used),
        title=_title(counts, sizes),
        notes=_notes(rows, baseline, draws),
        bold=frozenset((place, used.index("value")) for place in best),
        groups=frozenset(starts) if len(ordered) > len(starts) else frozenset(),
        data=[
            DATA,
            *(
                _data(record, compared.get((record.metric, record.model)), baseline if rows else "")
                for record in ordered
            ),
        ],
    )


def _title(counts: set[int], sizes: set[str]) -> str:
    examples = ", ".join(f"{count} {'example' if count == 1 else 'examples'}" for count in sorted(counts))
    captions = (
        f", {next(iter(sizes))} captions (candidates + references)" if len(sizes) == 1 and "" not in sizes else ""
    )
    return examples + captions


def _line(record: ResultRecord, row: Parameters | None, baseline: str) -> dict[str, str]:
    """Return the cells of a record by column."""
    is_tested = row is not None and row["p_value"] is not None and not _sizes_differ(row)
    return {
        "metric": f"{record.metric} {ARROWS[record.higher_is_better]}".strip(),
        "system": record.model,
        "set": size_text(record.sizes),
        "value": number(record.value),
        "95 % interval": interval_text(record.ci95),
        "permutation p": "" if record.p_value is None else p_text(record.p_value),
        "harmonic p": "" if record.harmonic_p is None else number(record.harmonic_p),
        "difference": signed(row["difference"]) if row is not None and is_tested else _dash(row, record, baseline),
        "p": p_text(row["p_value"]) if row is not None and is_tested else _dash(row, record, baseline),
        "p (Holm)": f"{p_text(row['p_holm'])}{'*' if significant(row) else ''}" if row is not None and is_tested
        else _dash(row, record, baseline),
        "note": "; ".join(_remarks(record, row)),
    }  # fmt: skip


def _dash(row: Parameters | None, record: ResultRecord, baseline: str) -> str:
    return "–" if row is not None or (baseline and record.model != baseline) else ""


def _remarks(record: ResultRecord, row: Parameters | None) -> list[str]:
    """Return the remarks on a row: reasons for missing tests, examples left out, sizes that differ."""
    remarks: list[str] = []
    if row is not None and _sizes_differ(row):
        remarks.append("sizes differ: values are not comparable")
    elif row is not None and row["note"]:
        remarks.append(str(row["note"]))
    if record.skipped:
        remarks.append(f"{record.skipped} of {record.n + record.skipped} examples without a score")
    if row is not None and row["n"] < record.n:
        remarks.append(f"difference on the {row['n']} common examples")
    return remarks


def _sizes_differ(row: Parameters) -> bool:
    return row["better"] == "sizes differ"


def significant(row: Parameters) -> bool:
    """Return True when the adjusted p-value of a comparison is at most the level and the sizes are equal."""
    return not _sizes_differ(row) and row["p_holm"] is not None and row["p_holm"] <= LEVEL


def _best(group: Sequence[ResultRecord], compared: Comparisons, baseline: str, start: int) -> list[int]:
    """Return the place of the best record of a metric when its difference to the baseline is significant, else nothing.

    The baseline itself is best when every other system differs from it significantly.
    """
    direction = group[0].higher_is_better
    rows = [compared.get((record.metric, record.model)) for record in group]
    others = [row for record, row in zip(group, rows) if record.model != baseline]
    if len(group) < 2 or direction is None or any(row is None or _sizes_differ(row) for row in others):
        return []
    place = max(range(len(group)), key=lambda k: _rank(group[k], direction))
    decisive = others if group[place].model == baseline else [rows[place]]
    return [start + place] if all(row is not None and significant(row) for row in decisive) else []


def _rank(record: ResultRecord, higher_is_better: bool) -> float:
    if record.value != record.value:
        return float("-inf")
    return record.value if higher_is_better else -record.value


def _notes(rows: Sequence[Parameters], baseline: str, draws: int) -> list[str]:
    if not rows:
        return []
    pairs = len({row["system_a"] for row in rows})
    adjusted = f"; p (Holm): adjusted for the {pairs} comparisons of a metric" if pairs > 1 else ""
    notes = [
        f"difference: to {baseline}; p: approximate randomisation of the reported number, {draws} draws{adjusted}",
        f"*: p (Holm) of at most {LEVEL:g}",
    ]
    if pairs > 1:
        notes[1] += f"; systems are tested against {baseline} alone"
    return notes


def _data(record: ResultRecord, row: Parameters | None, baseline: str) -> list[object]:
    """Return the values of a record in the order of :data:`DATA`; None becomes an empty cell."""
    low, high = record.ci95 or (None, None)
    values: list[object] = [record.metric, record.higher_is_better, record.model, record.value, low, high, record.n]
    values += [record.skipped, *(_range(record.sizes, name) for name in ("candidates", "references"))]
    values += [record.p_value, record.harmonic_p, baseline]
    if row is None:
        return [*values, *[None] * 6, "; ".join(_remarks(record, row))]
    ci = row["ci95"] or (None, None)
    values += [row["difference"], *ci, row["p_value"], row["p_holm"], row["n"]]
    return [*values, "; ".join(_remarks(record, row))]


def _range(sizes: Mapping[str, Sequence[int]] | None, name: str) -> str:
    return size_text({name: (sizes or {}).get(name, ())})
