"""Caption sets from a file of candidates and a file of references."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from harness.contracts import Adapter, CaptionSet, Decoding, Reader, TaskView, Values
from harness.files.yaml_source import Key, Located
from harness.registry import current, split_spec
from harness.run.generate import Generated, as_generation, prepare
from harness.run.plan import ModelPlan
from harness.spec.metric_text import parse_metric


def reference_reader() -> str:
    """Return the name of the reader that recognises the format of a reference file."""
    return current().with_role("readers", "reference-files").name


def candidate_adapter() -> str:
    """Return the name of the adapter that reads candidates from files."""
    return current().with_role("adapters", "candidate-files").name


def read_file_pair(candidates: str | Path, references: str | Path, *, allow_missing: bool = False) -> list[CaptionSet]:
    """Return the caption sets of two files (docs/data-formats.md lists the formats).

    Raises :class:`~harness.errors.InputError` for files that cannot be read and ids that do not match.
    """
    registry = current()
    reader = cast(Reader, registry.create("readers", reference_reader(), {"path": str(references)}))
    params = {"path": str(candidates), "allow_missing": allow_missing}
    adapter = cast(Adapter, registry.create("adapters", candidate_adapter(), params))
    task = TaskView(list(reader), Decoding())
    prepare(ModelPlan("candidates", candidate_adapter(), params, adapter), task)
    items = adapter.generate(task.examples, task.decoding, [0] * len(task.examples))
    return Generated(tuple(task.examples), tuple(as_generation(item, "candidates") for item in items)).caption_sets()


def score_spec(
    candidates: str, references: str, metrics: Sequence[str], *, p_value: str, seed: int, limit: int | None,
    allow_missing: bool,
) -> Located:  # fmt: skip
    """Return the spec of ``harness score``; its places are the command's options, for error messages."""
    name = Path(candidates).name
    params = {"path": candidates, "allow_missing": allow_missing, "label": name}
    spec: Values = {
        "task": f"score {name}",
        "dataset": {"reader": reference_reader(), "path": references},
        "models": [{candidate_adapter(): params}],
        "metrics": [dict([split_spec(parse_metric(text), "metric")]) for text in metrics],
        "significance": {"method": p_value},
        "seed": seed,
        "limit": limit,
    }
    options: dict[Key, str] = {("metrics", index): f"-m {text}" for index, text in enumerate(metrics)}
    options |= {(): "harness score", ("dataset",): "--references", ("models",): "--candidates"}
    options |= {("seed",): "--seed", ("limit",): "--limit"}
    return Located(spec, {key: (option, 0) for key, option in options.items()})
