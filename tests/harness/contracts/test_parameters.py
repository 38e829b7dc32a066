"""Names of harness.contracts are imported on first use; those that manifests need import no numpy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import harness.contracts


@pytest.mark.parametrize(
    ("name", "numpy"),
    [("Parameters", False), ("Values", False), ("PathMark", False), ("PathLike", False), ("Metric", True)],
)
def test_only_contracts_with_arrays_import_numpy(name, numpy):
    code = f"import sys; from harness.contracts import {name}; sys.exit('numpy' in sys.modules)"
    assert bool(subprocess.run([sys.executable, "-c", code], check=False).returncode) is numpy


def test_every_name_can_be_imported_and_is_listed():
    for name in harness.contracts.__all__:
        assert getattr(harness.contracts, name) is not None
    assert set(harness.contracts.__all__) <= set(dir(harness.contracts))


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Metrics'"):
        harness.contracts.Metrics  # noqa: B018
