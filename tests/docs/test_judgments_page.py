"""docs/judgments.md documents every key of a judgment task, every statistic,
form and shipped task.
"""

from __future__ import annotations

import re
from typing import get_args

import pytest

from harness.judgments import judgment_models as models
from harness.registry import current


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "judgments.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "model",
    [
        models.JudgmentSpec,
        models.JudgmentSource,
        models.JudgmentColumns,
        models.ReferencePolicy,
        models.GroupsSpec,
        models.PublishedSpec,
        models.MetricTestsSpec,
        models.HuggingFaceSource,
        models.SystemScores,
        models.ReferenceTable,
    ],
)
def test_every_key_is_named(page, model):
    code = " ".join(
        re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", page, flags=re.DOTALL))
    )
    assert [
        name
        for name in model.model_fields
        if name != "variant" and not re.search(rf"\b{name}\b", code)
    ] == []


def test_every_statistic_form_and_tie_policy_is_named(page):
    forms = get_args(models.Form)
    ties = get_args(models.JudgmentSpec.model_fields["ties"].annotation)
    assert [
        name
        for name in (*get_args(models.Statistic), *forms, *ties, *get_args(models.Own))
        if f"`{name}" not in page and f": {name}`" not in page
    ] == []


def test_every_task_is_named(page):
    tasks = [
        entry.name
        for entry in current().entries("tasks")
        if entry.name.startswith("judgments/")
    ]
    assert len(tasks) == 35
    assert [name for name in tasks if f"`{name}`" not in page] == []
