"""Stored results of finished runs, in place of those of the repository, for
``python -m benchmarks.papers --runs FOLDER``.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from benchmarks import papers_results, study_tables
from benchmarks.papers_rule import RESULTS
from harness.run.finished import Run
from harness.spec.loading import load_specs

SPECS = {
    "a3ds": "a3ds",
    "beam-against-nucleus": "studies/beam-against-nucleus",
    "central": "studies/central",
    "crnrr-curves": "studies/crnrr-curves",
    "crnrr-table1": "studies/crnrr-synthetic",
    "crnrr-table2": "studies/crnrr-table2",
    "search-techniques": "studies/search-techniques",
    "temperature-sweep": "studies/temperature-sweep",
    "trained-here": "studies/trained-here",
    "unique-vs-correct": "studies/unique-vs-correct",
}
"""Study of ``study_tables`` whose tables are those of one spec -> its spec."""


def tasks_of(spec: str) -> list[str]:
    """Return the tasks of a spec, with the data that are there."""
    return [loaded.spec.task for loaded in load_specs(spec)]


def fresh_results(runs: Sequence[Run], folder: Path) -> list[str]:
    """Write the stored results into a folder, those of the runs in place of the
    repository's, and return the names of the files that are replaced.

    A run that lacks what a table needs, such as a metric, leaves the stored results,
    and standard error says so.
    """
    shutil.copytree(RESULTS, folder, dirs_exist_ok=True)
    by_task = {run.provenance.task: run for run in runs}
    replaced: list[str] = []
    for item, (spec, _, _) in papers_results.STUDIES.items():
        skipped = papers_results.SKIPPED.get(item, [])
        found = [
            by_task[t] for t in tasks_of(spec) if t in by_task and t not in skipped
        ]
        if found and _replace_cells(item, found, folder):
            replaced.append(item)

    for study, spec in SPECS.items():
        tasks = tasks_of(spec)
        if all(task in by_task for task in tasks) and _replace_tables(
            study, [by_task[task] for task in tasks], folder
        ):
            replaced.append(study)
    return replaced


def _replace_cells(item: str, runs: Sequence[Run], folder: Path) -> bool:
    """Write the cells of an item, those of the runs' tasks anew; return False where a
    run lacks a number.
    """
    index = yaml.safe_load(papers_results.INDEX.read_text(encoding="utf-8"))
    published_n = index["items"]["chan2022"][item].get("published_n")
    file = folder / f"{item}.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    try:
        fresh = [
            c for run in runs for c in papers_results.published_cells(run, published_n)
        ]
    except KeyError as error:
        _report(item, error)
        return False
    if not fresh:
        return False
    tasks = {cell["task"] for cell in fresh}
    kept = [cell for cell in content["cells"] if cell["task"] not in tasks]
    papers_results.write_results(file, {**content, "cells": [*kept, *fresh]})
    return True


def _replace_tables(study: str, runs: Sequence[Run], folder: Path) -> bool:
    """Write the tables of a study; return False where a run lacks a number."""
    file = folder / f"{study}.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    try:
        tables = study_tables.STUDIES[study][1](runs)
    except (KeyError, ValueError) as error:
        _report(study, error)
        return False
    papers_results.write_results(file, {**content, "tables": tables})
    return True


def _report(name: str, error: Exception) -> None:
    """Say on standard error that the stored results of a file stand."""
    reason = error.args[0] if error.args else error
    print(
        f"{name}: the run has no {reason}; its stored results stand",
        file=sys.stderr,
        flush=True,
    )
