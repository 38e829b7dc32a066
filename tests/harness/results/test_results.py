"""The published types of finished runs: their names and fields, and their use by
visitors.
"""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

from harness import results

FIELDS = {
    "Run": "provenance records samples failed notes path artifacts costs slices",
    "System": "model decoding_key rows table",
    "ResultRecord": (
        "model model_params task decoding metric statistic group params "
        "higher_is_better level signature value ci95 interval_note p_value p_method n "
        "skipped sizes depends_on seconds details p p_note statistics slice"
    ),
    "Comparison": (
        "metric system_a system_b higher_is_better sizes_differ a b difference ci95 "
        "p_value p_bootstrap draws exact note n left_out sign_p_value a_larger "
        "b_larger ties slice forced p_holm p_bh signature anytime better"
    ),
    "ComparedRun": "run model name",
    "ModelEntry": "label adapter params fingerprint source",
    "MetricEntry": "label name params signature",
    "Provenance": "content",
}
"""Type -> its fields: other packages read them."""
MEMBERS = {
    "Run": "open name manifest results to_pandas samples_frame to_dataset chart",
    "System": "label decoding examples scores p_values clusters caption_sets",
    "SampleTable": "names metrics texts lists numbers systems to_arrow to_dict",
    "Provenance": (
        "kind task signature digest readings variant data spec models metrics"
    ),
    "Comparisons": "chart",
}
VISITORS = ("judgments", "page", "decisions", "testing")


@pytest.mark.parametrize("name", FIELDS)
def test_the_fields_of_a_type_are_published(name):
    published = getattr(results, name)
    fields = getattr(published, "model_fields", None) or {
        field.name: field for field in dataclasses.fields(published)
    }
    assert list(fields) == FIELDS[name].split()


@pytest.mark.parametrize("name", MEMBERS)
def test_the_members_of_a_type_are_published(name):
    assert not [
        member
        for member in MEMBERS[name].split()
        if not hasattr(getattr(results, name), member)
    ]


@pytest.mark.parametrize("name", ["Run", "System", "Comparison", "Provenance"])
def test_a_published_type_is_frozen(name):
    assert getattr(results, name).__dataclass_params__.frozen


def test_every_name_is_one_of_the_page(root):
    page = (root / "docs/results.md").read_text(encoding="utf-8")
    assert not [name for name in results.__all__ if f"`{name}`" not in page]


def test_visitors_read_runs_through_the_published_types(root):
    sources = {
        getattr(results, name).__module__: set[str]() for name in FIELDS | MEMBERS
    }
    for name in results.__all__:
        if name in FIELDS | MEMBERS:
            sources[getattr(results, name).__module__].add(name)
    for path in (
        path for visitor in VISITORS for path in (root / "harness" / visitor).rglob("*")
    ):
        if path.suffix == ".py":
            assert not list(_deep_imports(path, sources)), path


WRITTEN = {
    # names and forms of files that visitors write
    "harness.rundir.file_names",
    "harness.rundir.format",
    "harness.rundir.parquet",
    "harness.rundir.kept_file",
    "harness.rundir.unfinished",
    "harness.rundir.artifact_key",
    # the directory in which a run of judgments is executed
    "harness.rundir.directory_check",
    "harness.rundir.rundir",
    "harness.rundir.sample_file",
    "harness.rundir.stored_paths",
}
"""Modules of the run directory that visitors write with."""


def test_visitors_read_no_file_of_a_run_directory(root):
    readers: list[str] = []
    for visitor in VISITORS:
        for path in (root / "harness" / visitor).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                module = getattr(node, "module", None) or ""
                if isinstance(node, ast.ImportFrom) and module.startswith(
                    "harness.rundir"
                ):
                    names = {alias.name for alias in node.names}
                    is_read = any("read" in n or "open" in n for n in names)
                    if module not in WRITTEN or is_read:
                        readers.append(f"{path}: {module}: {', '.join(sorted(names))}")
    assert not readers


def _deep_imports(path: Path, sources: dict[str, set[str]]):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in sources:
            yield from (
                alias.name for alias in node.names if alias.name in sources[node.module]
            )
