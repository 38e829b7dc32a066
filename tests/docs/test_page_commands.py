"""The commands of the pages: blocks marked ``bash`` run, from a folder with the
repository's examples and files of a reader; blocks marked ``sh`` say what they need.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

from harness.files.user_path import cache_folder
from tests.docs.test_guides import PAGES as GUIDES

BLOCK = re.compile(r"^( *)```(\w*).*\n((?:.*\n)*?)\1```$", re.MULTILINE)
COMMAND = re.compile(
    r"^(?:\$ )?(?:[A-Z_]+=\S* )*(?:harness|pip|uv|make|docker|curl|python|bash) [^:]",
    re.MULTILINE,
)
"""A line that begins as a command does."""
NEED = re.compile(
    r"^# needs (?=.*\b(?:accounts?|browser|checkout|data|GPU|index|Java|package|ray"
    r"|repository|server|torch|weights)\b)"
)
"""The first line of commands that do not run everywhere."""
FILES = {"A.json": "init_1.json", "B.json": "par_1.json", "R.json": "references.json"}
"""Files of a reader, as the pages call them -> those of examples/captions."""
WITH_PROGRAMS = ("figures", "hugging-face", "results")
"""Pages whose programs read what their commands wrote; those of other pages have tests
of their own.
"""
OUTPUT_IS_TESTED = ("same",)
"""Pages with commands and what they print, which have tests of their own."""


def blocks_of(root, page):
    """Return (language, content) of the code blocks of a page, in its order."""
    text = (root / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return [
        (language, re.sub(f"^{indent}", "", content, flags=re.MULTILINE))
        for indent, language, content in BLOCK.findall(text)
    ]


@pytest.fixture(scope="module")
def pages(root):
    """Return the names of all pages."""
    folder = root / "docs"
    return [
        file.relative_to(folder).with_suffix("").as_posix()
        for file in sorted(folder.rglob("*.md"))
    ]


def test_every_command_is_marked(root, pages):
    for page in pages:
        for language, content in blocks_of(root, page):
            if not COMMAND.search(content):
                continue
            if language == "console" and page in OUTPUT_IS_TESTED:
                continue
            # The home page shows what the command of README prints.
            if (page, language) in {("index", "text"), ("outputs", "text")}:
                continue
            assert language in ("bash", "sh"), f"{page}: mark {content}"


def test_commands_that_do_not_run_say_what_they_need(root, pages):
    for page in pages:
        for language, content in blocks_of(root, page):
            if language == "sh":
                assert NEED.match(content), f"{page}: say what is needed: {content}"


RUN = (
    "commands",
    "data-formats",
    "dense",
    "editors",
    "estimate",
    "figures",
    "hugging-face",
    "index",
    "kernels",
    "metrics/chrf",
    "metrics/retrieval",
    "metrics/ter",
    "power",
    "protocol",
    "report-page",
    "results",
    "scale",
)
"""Pages with commands that run, but for the guides, which test_guides.py runs."""


def test_every_page_with_commands_that_run_is_run(root, pages):
    with_commands = [
        page
        for page in pages
        if page not in GUIDES
        and any(language == "bash" for language, _ in blocks_of(root, page))
    ]
    assert with_commands == sorted(RUN)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_run(root, tmp_path, page):
    (tmp_path / "examples").symlink_to(root / "examples")
    for name, file in FILES.items():
        shutil.copy(root / "examples" / "captions" / file, tmp_path / name)
    scripts = sysconfig.get_path("scripts")
    environment = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        # Completions go into the reader's home; what was built before stays built.
        "HOME": str(tmp_path / "home"),
        "HARNESS_CACHE": str(cache_folder("meteor").parent),
    }
    environment.pop("HARNESS_DATA", None)

    for language, content in blocks_of(root, page):
        if language == "bash":
            command = ["bash", "-ec", content]
        elif language == "python" and page in WITH_PROGRAMS:
            command = [sys.executable, "-c", content]
        else:
            continue
        done = subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, f"{content}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
