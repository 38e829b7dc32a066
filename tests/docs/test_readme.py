"""README.md: short, and what it prints is what its command prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig

import pytest

from tools.showcase.readme import COMMAND, PAGES, shown_table, table

MOST_WORDS = 900


BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ON_A_FRESH_MACHINE = ("git clone ", "make demo ", "make test ")
"""Commands that set a machine up; they are run outside of the tests."""


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


def commands(text):
    """Return the shell commands and the programs of a page, in its order."""
    found = []
    for language, content in BLOCK.findall(text):
        if language == "python":
            found.append([sys.executable, "-c", content])
        elif not language:
            found += [
                ["bash", "-ec", line]
                for line in content.splitlines()
                if not line.startswith(ON_A_FRESH_MACHINE)
            ]
    return found


def test_the_first_command_has_files_that_are_there(root, text):
    blocks = [content for language, content in BLOCK.findall(text) if not language]
    clone, first = blocks[0].splitlines()
    assert clone.startswith("git clone ") and clone.endswith("pip install ./kernels .")
    assert first == f"harness {' '.join(COMMAND)}"
    for word in first.split():
        assert not word.endswith(".json") or (root / word).is_file()


@pytest.mark.slow
def test_the_commands_run_from_a_clean_folder(root, tmp_path, text):
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(root / name)
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    environment.pop("HARNESS_DATA", None)
    program = "import harness\n"
    assert len(commands(text)) >= 5
    for command in commands(text):
        if command[1] == "-c":  # the second program goes on with the first
            command[2] = program + command[2]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
