"""READMEs have relative links that lead to files; a release makes them absolute."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tools.release import links


def test_links_and_pictures_become_absolute():
    page = (
        "![alt\ntext](figures/a.png) [b](../b.md#c) [d](https://d.org) [e](#f)\n"
        "[g][h]\n\n[h]: i.md\n[j]: https://j.org\n"
    )
    blob = f"{links.REPOSITORY}/blob/v1"
    assert links.make_absolute(page, "docs", "v1") == (
        f"![alt\ntext]({links.IMAGES}/v1/docs/figures/a.png) [b]({blob}/b.md#c) "
        f"[d](https://d.org) [e](#f)\n[g][h]\n\n[h]: {blob}/docs/i.md\n"
        "[j]: https://j.org\n"
    )


@pytest.mark.parametrize("name", links.READMES)
def test_the_pages_link_to_files_that_exist(root, name):
    text = (root / name).read_text(encoding="utf-8")
    defined = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", text, re.MULTILINE))
    assert set(re.findall(r"\]\[([^\]]+)\]", text)) <= defined.keys()
    targets = links.relative_targets(text)
    assert targets
    for target in targets:
        assert ((root / name).parent / target).exists(), target
    assert "/blob/main/" not in text


def test_published_pages_have_no_relative_link(root, tmp_path):
    (tmp_path / "README.md").write_text((root / "README.md").read_text())
    links.publish_readmes(tmp_path, "v1.2.3")
    text = (tmp_path / "README.md").read_text()
    assert links.relative_targets(text) == []
    assert f"{links.IMAGES}/v1.2.3/docs/figures/page.png" in text


def test_the_repository_is_that_of_the_project(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Repository"] == links.REPOSITORY
    assert links.IMAGES.endswith(links.REPOSITORY.partition("github.com")[2])


def test_no_file_but_the_release_names_the_host_of_raw_files(root):
    found = subprocess.run(
        ["git", "grep", "-l", "raw.githubusercontent"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    allowed = {
        Path("tools/release/links.py"),
        Path("tests/tools/release/test_links.py"),
    }
    assert {Path(name) for name in found} <= allowed
