"""Differences of ``dense: {protocol: soda-...}`` from stored numbers of SODA's program,
whose code was not read: the whole set, and the videos that differ.

    python -m benchmarks.soda_differences FOLDER

FOLDER has ``pred_main.json.gz``, ``val_1.json.gz``, ``val_2.json.gz`` and
``soda_results.json``: by references (``merged``, ``multi``, ``val1``, ``val2``),
variant and text metric the numbers of the program, also of each video. With
``hypothesis=reference`` METEOR takes the reference for its hypothesis.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import harness
from harness.contracts.parameters import Values

ANNOTATORS = {"merged": ("val_1", "val_2"), "multi": ("val_1", "val_2")}
"""Files of references by their name in the stored numbers."""
DIFFERENT = 1e-8
"""Difference of a video from which on it is named: an overlap of the program has 1e-8
in its denominator.
"""


class SodaRow(NamedTuple):
    """A number and its difference from the stored one."""

    references: str
    variant: str
    hypothesis: str
    stored: float
    value: float
    videos: dict[str, float]
    """Difference of each video."""

    @property
    def different(self) -> list[str]:
        """Videos whose difference is larger than :data:`DIFFERENT`."""
        return [name for name, gap in self.videos.items() if abs(gap) > DIFFERENT]


def compare_numbers(folder: Path) -> Iterator[SodaRow]:
    """Yield the rows of all stored numbers with METEOR."""
    stored = json.loads((folder / "soda_results.json").read_text("utf-8"))
    for run, expected in stored["runs"].items():
        references, variant, text = run.split("/")
        if text != "Meteor":
            continue
        for hypothesis in (
            ("prediction",)
            if variant == "d"
            else (
                "prediction",
                "reference",
            )
        ):
            yield _compare(folder, references, variant, hypothesis, expected)


def _compare(
    folder: Path,
    references: str,
    variant: str,
    hypothesis: str,
    expected: Mapping[str, Any],
) -> SodaRow:
    names = ANNOTATORS.get(references, (references.replace("val", "val_"),))
    parameters: Values = {"protocol": f"soda-{variant}"}
    if references == "merged":
        parameters["annotators"] = "merged"
    if hypothesis == "reference":
        parameters["hypothesis"] = hypothesis
    scored: Any = harness.score(
        [str(folder / "pred_main.json.gz")],
        [str(folder / f"{name}.json.gz") for name in names],
        [{"dense": parameters}],
        bootstrap=0,
        labels=["system"],
    )
    (record,) = scored.run.records
    (system,) = scored.run.samples.systems
    scores = dict(zip(system.examples, system.scores(record.metric).tolist()))
    videos = {
        name: scores[name] - numbers[2]
        for name, numbers in expected["per_video"].items()
    }
    return SodaRow(
        references,
        variant,
        hypothesis,
        expected["precision_recall_f1"][2],
        float(record.value),
        videos,
    )


def main() -> None:
    """Print the differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    print("| references | protocol | hypothesis | stored | here | difference | |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in compare_numbers(args.folder):
        gap = row.value - row.stored
        print(
            f"| {row.references} | `soda-{row.variant}` | {row.hypothesis} "
            f"| {row.stored:.6f} | {row.value:.6f} | {gap:+.2e} "
            f"| {len(row.different)} of {len(row.videos)} differ: "
            f"{', '.join(row.different[:3])} |"
        )


if __name__ == "__main__":
    main()
