"""docs/specs.md documents every key of a spec and every option of decoding,
significance and views.
"""

from __future__ import annotations

import re
from typing import get_args

import pytest

from harness.spec.models import DecodingSpec, SignificanceSpec, Spec, ViewSpec


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "specs.md").read_text(encoding="utf-8")


def row(page: str, key: str) -> str:
    """Return the row of the table whose first cell contains a key."""
    return next(
        line
        for line in page.splitlines()
        if line.startswith("| `") and f"`{key}`" in line.split("|")[1]
    )


def test_every_key_has_a_row(page):
    keys = set(
        re.findall(
            r"`(\w+)`",
            " ".join(
                line.split("|")[1]
                for line in page.splitlines()
                if line.startswith("| `")
            ),
        )
    )
    assert set(Spec.model_fields) - {"variant"} | {"include", "variants"} <= keys
    assert "`variant`" in row(page, "variants")


@pytest.mark.parametrize(
    ("key", "model"),
    [
        ("decoding", DecodingSpec),
        ("significance", SignificanceSpec),
        ("views", ViewSpec),
    ],
)
def test_every_option_is_listed(page, key, model):
    text = row(page, key)
    assert [
        name for name in model.model_fields if not re.search(rf"\b{name}\b", text)
    ] == []


def test_every_plot_and_required_key_is_listed(page):
    plots = get_args(ViewSpec.model_fields["plot"].annotation)
    assert f"({', '.join(plots)})" in row(page, "views")
    required = {
        name for name, field in Spec.model_fields.items() if field.is_required()
    }
    assert {
        name
        for name in Spec.model_fields
        if name != "variant" and "(required)" in row(page, name)
    } == required
