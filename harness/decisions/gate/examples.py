"""The examples that a gate compares: all of the baseline,
also those that the new version lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.analysis.comparison_frame import Frame
from harness.analysis.paired_family import PairedMetric, SystemData
from harness.analysis.pairs import Pair
from harness.contracts import is_defined
from harness.decisions.gate.margin_tests import (
    GatedExamples,
    look_right_or_wrong,
    worst_value,
)
from harness.errors import HarnessError, counted
from harness.results import System, slice_masks


@dataclass(frozen=True)
class ComparedExamples:
    """The examples of a frame that a metric of a pair is compared on."""

    examples: GatedExamples
    """All examples of the frame."""
    mask: np.ndarray
    """Mask (B,) of those for which the baseline has a value."""
    of_baseline: np.ndarray
    """Mask (B,) of those that the baseline has."""
    notes: tuple[str, ...]
    """Sentences on the others."""

    def choose(self, mask: np.ndarray) -> GatedExamples:
        """Return the examples of a mask (B,)."""
        whole = self.examples
        return GatedExamples(
            [name for name, is_kept in zip(whole.names, mask) if is_kept],
            None if whole.clusters is None else whole.clusters[mask],
            whole.lacking[mask],
            None if whole.same_outputs is None else whole.same_outputs[mask],
            whole.are_answers,
        )


def compare_examples(
    pair: Pair, frame: Frame, item: PairedMetric, name: str, allow_missing: bool
) -> ComparedExamples:
    """Return the examples on which a metric of a pair is compared.

    Raises :class:`HarnessError` where the new version (A) lacks some, or where the
    metric has a value in one version alone, unless ``allow_missing``.
    """
    names = list(frame.examples)
    in_new, in_old = (
        np.array([name in system.row_of for name in names])
        for system in (pair.a, pair.b)
    )
    new, old = (_find_defined(side) for side in (item.a, item.b))
    new_label, old_label = pair.labels

    def describe(mask: np.ndarray) -> str:
        first = names[int(np.argmax(mask))]
        return f"{counted(int(mask.sum()), 'example')} (such as '{first}')"

    missing = in_old & ~in_new
    dropped_in_new = in_new & old & ~new
    dropped_in_old = in_old & in_new & new & ~old
    further = in_new & ~in_old
    total = f"{int(in_old.sum()):,} of {old_label}"
    are_answers = look_right_or_wrong(item)
    if not allow_missing:
        worst = worst_value(item, are_answers)
        counts = (
            "leaves the metric undecided"
            if worst is None
            else f"counts them as {worst:g}, the worst value"
        )
        refusal = ""
        if missing.any():
            refusal = (
                f"{new_label} lacks {describe(missing)} of the {total}: "
                "a gate compares all of them; score them too, or give "
                f"allow_missing=True, which {counts}"
            )
        elif dropped_in_new.any():
            refusal = (
                f"'{name}' has no value in {new_label} alone for "
                f"{describe(dropped_in_new)} of the {total}; "
                f"allow_missing=True {counts}"
            )
        elif dropped_in_old.any():
            refusal = (
                f"'{name}' has no value in {old_label} alone for "
                f"{describe(dropped_in_old)}; allow_missing=True compares the others"
            )
        if refusal:
            raise HarnessError(refusal, parameter="allow_missing")

    notes: list[str] = []
    if further.any():
        notes.append(
            f"not compared: {describe(further)} of {new_label} that {old_label} lacks"
        )
    if dropped_in_old.any():
        notes.append(
            f"not compared: {describe(dropped_in_old)} without a value of '{name}' "
            f"in {old_label}"
        )
    # What the new version has no value for counts as the worst one.
    examples = GatedExamples(
        names,
        frame.clusters(),
        old & ~new,
        _find_equal_outputs(pair, names),
        are_answers,
    )
    return ComparedExamples(examples, in_old & old, in_old, tuple(notes))


def find_slices(pair: Pair, frame: Frame, column: str | None) -> dict[str, np.ndarray]:
    """Return name -> mask (B,) of all examples (the empty name) and of those of each
    value of a metadata column.
    """
    masks = {"": np.ones(len(frame.examples), dtype=bool)}
    if column is None:
        return masks
    value_of = dict(zip(pair.a.examples, pair.a.clusters(column, "slice")))
    # what the new version lacks has its place in the baseline
    if any(example not in value_of for example in pair.b.examples):
        of_baseline = zip(pair.b.examples, pair.b.clusters(column, "slice"))
        value_of = dict(of_baseline) | value_of

    # Slices are those of the examples that the baseline has; a value that the new
    # version alone has makes none.
    masks_of_values = slice_masks(
        column, [value_of.get(example, "") for example in frame.examples]
    )
    in_baseline = set(pair.b.examples)
    for example, value in value_of.items():
        if example in in_baseline:
            masks[f"{column}={value}"] = masks_of_values[f"{column}={value}"]
    return masks


def _find_defined(side: SystemData) -> np.ndarray:
    """Return the mask (B,) of the examples for which a system has a value."""
    return ~np.isnan(side.scores) if side.stats is None else is_defined(side.stats)


def _find_equal_outputs(pair: Pair, names: list[str]) -> np.ndarray | None:
    """Return the mask (B,) of the examples whose outputs are the same texts in both
    versions; None where no output is known.
    """
    new, old = (_read_outputs(system) for system in (pair.a, pair.b))
    if not any(new.values()):  # a log of scores has none
        return None
    return np.array([name in new and new[name] == old.get(name) for name in names])


def _read_outputs(system: System) -> dict[str, Any]:
    """Return example -> candidates of a system."""
    lists: Any = system.table.lists("candidates")
    rows = zip(system.examples, system.rows)
    return {name: lists[int(row)] for name, row in rows}
