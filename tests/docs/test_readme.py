"""README.md: short, and what it prints is what its command prints."""

from __future__ import annotations

import re

import pytest

from tools.showcase.readme import COMMAND, PAGES, shown_table, table

MOST_WORDS = 900


@pytest.fixture(scope="module")
def text(root):
    return (root / "README.md").read_text(encoding="utf-8")


def test_the_readme_has_at_most_900_words_and_six_documents(text):
    assert len(text.split()) <= MOST_WORDS
    documents = re.findall(
        r"^- \[[^\]]+\]\[(docs/[^\]]+)\]", text.partition("## Read on")[2], re.MULTILINE
    )
    assert len(set(documents)) == len(documents) == 6


def test_the_folder_of_real_data_is_explained_before_it_is_used(text):
    assert text.index("environment variable `HARNESS_DATA`") < text.index(
        "HARNESS_DATA="
    )


def test_both_pages_show_the_table_of_the_command_and_pictures_of_modest_size(root):
    readme, home = map(shown_table, PAGES)
    assert readme == home
    head, *lines = readme.splitlines()
    assert head == f"$ harness {' '.join(COMMAND)}"
    assert max(len(line) for line in lines if re.search("[│┃|]", line)) <= 80
    for name in ("page.png", "page-dark.png"):
        assert 10_000 < (root / "docs" / "figures" / name).stat().st_size < 400_000


@pytest.mark.slow
def test_the_table_is_what_the_command_prints():
    assert shown_table(PAGES[0]) == table(), "run `make picture`"
