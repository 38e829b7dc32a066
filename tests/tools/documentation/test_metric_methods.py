"""The page of methods by metric is what the command prints."""

from __future__ import annotations

import pytest

from tests.support import metric_cases
from tools.documentation import metric_methods

LINES = metric_methods.PAGE.read_text("utf-8").splitlines()


def _row(name: str) -> str:
    return next(line for line in LINES if line.startswith(f"| [`{name}`]"))


@pytest.mark.parametrize(
    "name",
    [
        "rouge",
        "cider",
        "mmd",
        "vendi",
        "cr",
        "distinct",
        "corpus-bleu",
        "precision",
        "mauve",
        "clipscore",
        "pregen",
    ],
)
def test_a_row_of_the_page_is_that_of_the_metric(name):
    cells = metric_methods.cells(name)
    assert len(cells) == len(metric_methods.HEADERS) - 1
    assert _row(name).split(" | ", 1)[1] == " | ".join(cells) + " |"


def test_the_page_has_a_row_of_every_built_in_metric():
    rows = [line.split("`")[1] for line in LINES if line.startswith("| [`")]
    assert rows == metric_cases.names()


@pytest.mark.slow
def test_the_page_is_what_the_command_prints():
    assert metric_methods.page(metric_cases.names()) == metric_methods.PAGE.read_text(
        "utf-8"
    )
