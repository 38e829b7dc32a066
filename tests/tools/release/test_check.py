"""The checks of a release that need no account, and what is left for a person."""

from __future__ import annotations

import shutil

import pytest

from tools.release import check
from tools.release.links import READMES


@pytest.fixture
def copy(root, tmp_path):
    """Files of the repository that the checks read."""
    names = (
        *READMES,
        "LICENSE",
        "CITATION.cff",
        "pyproject.toml",
        "harness/__init__.py",
        "kernels/LICENSE",
        "kernels/pyproject.toml",
        "kernels/caption_kernels/__init__.py",
        "kernels/reference/LICENSE",
        "kernels/reference/pyproject.toml",
        "docs/release.md",
        "docs/paper.md",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, tmp_path / name)
    return tmp_path


def test_the_repository_passes(root):
    assert check.check_version(root) == []
    assert check.check_links(root) == []
    assert check.check_licences(root) == []


def test_another_version_is_named(copy):
    citation = copy / "CITATION.cff"
    lines = citation.read_text().splitlines(keepends=True)
    citation.write_text(
        "".join(
            'version: "9.9.9"\n' if line.startswith("version:") else line
            for line in lines
        )
    )
    (problem,) = check.check_version(copy)
    assert problem.startswith("CITATION.cff: no line with version ")


def test_a_link_to_no_file_is_named(tmp_path):
    for name in READMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("[a](https://x.org) [b](#c) [d](absent.md#e)\n")
    assert check.check_links(tmp_path) == [
        f"{name}: no file absent.md#e" for name in READMES
    ]


def test_a_distribution_without_the_licence_is_named(copy):
    (copy / "kernels" / "LICENSE").write_text("another\n")
    (problem,) = check.check_licences(copy)
    assert problem.startswith("kernels: no LICENSE")


def test_pages_are_rendered_as_on_an_index(root):
    pytest.importorskip("comrak", reason="readme-renderer[md] is not installed")
    assert check.check_readmes(root) == []


def test_what_is_left_is_listed(copy):
    blanks = check.find_blanks(copy)
    assert any("authors in order" in line for line in blanks)
    steps = check.find_steps(copy)
    assert any("twine upload dist/caption_harness" in step for step in steps)
    for place in ("PyPI", "Zenodo", "JOSS", "Hugging Face", "npm"):
        assert any(place in step for step in steps), place
