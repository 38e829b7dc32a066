"""The data set of a finished run, read again where its files are there and unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from harness.contracts import Example
from harness.errors import HarnessError
from harness.registry import current
from harness.run.finished import Run
from harness.spec.models import DatasetSpec


def examples_of(run: Run) -> list[Example]:
    """Return the examples of the data set that a run read; empty where its local files are missing or have changed.

    Data that are no local files are not read again: a page is written without network.
    """
    dataset = run.provenance.spec.get("dataset")
    if not isinstance(dataset, dict):
        return []
    spec = DatasetSpec.model_validate(dataset)
    if not any(isinstance(value, str) and Path(value).is_file() for value in spec.params.values()):
        return []
    try:
        reader: Any = current().create("readers", spec.reader, spec.params)
        if reader.fingerprint() != run.provenance.data.get("fingerprint"):
            return []
        return list(cast("list[Example]", reader))
    except (HarnessError, OSError):  # the run is complete without its data
        return []
