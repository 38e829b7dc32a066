"""Metadata of the distribution: one version,
links that work outside of the repository, one test command.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import harness


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]


def test_the_version_is_the_same_everywhere(root, project):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == harness.__version__ == str(citation["version"])


def test_the_version_of_the_kernels_is_the_same_everywhere(root):
    import caption_kernels

    for folder in (root / "kernels", root / "kernels" / "reference"):
        kernels = tomllib.loads(
            (folder / "pyproject.toml").read_text(encoding="utf-8")
        )["project"]
        assert kernels["version"] == caption_kernels.__version__
        assert (folder / "LICENSE").read_bytes() == (root / "LICENSE").read_bytes()


def test_fields_that_an_index_shows(project):
    assert {
        "Homepage",
        "Documentation",
        "Repository",
        "Issues",
        "Changelog",
    } <= project["urls"].keys()
    assert project["authors"]
    assert project["keywords"]
    assert "Typing :: Typed" in project["classifiers"]
    assert "Programming Language :: Python :: 3.13" in project["classifiers"]


def test_the_citation_has_its_required_fields(root, project):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["license"] == project["license"]
    assert citation["repository-code"] == project["urls"]["Repository"]


def test_every_extra_that_a_component_needs_exists(project):
    from harness.registry import current

    extras = {
        name
        for entry in current().entries()
        if entry.provider == "harness"
        for name in entry.extra.split(",")
    }
    assert extras - {""} <= project["optional-dependencies"].keys()


def test_heavy_packages_are_no_plain_dependencies(project):
    names = {re.match(r"[\w-]+", text)[0] for text in project["dependencies"]}
    assert not names & {
        "torch",
        "transformers",
        "sentence-transformers",
        "datasets",
        "open_clip_torch",
        "pandas",
    }
    assert {"caption-kernels", "jinja2"} <= names


def test_nothing_needs_numba(project, root):
    assert not [text for text in project["dependencies"] if "numba" in text]
    files = subprocess.run(
        ["git", "ls-files", "*.py"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    own = Path(__file__).resolve()
    paths = [
        path
        for line in files.splitlines()
        if (path := root / line).is_file() and path.resolve() != own
    ]
    assert not [
        str(path) for path in paths if "numba" in path.read_text(encoding="utf-8")
    ]


def test_the_workflow_runs_what_ci_runs(root):
    workflow = yaml.safe_load(
        (root / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    )
    steps = [
        step.get("run") for step in workflow["jobs"]["test"]["steps"] if "run" in step
    ]
    assert steps == [".ci/run"]
    assert (root / ".ci/run").read_text(encoding="utf-8").splitlines()[
        -1
    ] == "make test"
    assert "\nmake test " in (root / "README.md").read_text(encoding="utf-8")
    for target in ("docs", "package", "sbom"):
        assert re.search(
            rf"^{target}:",
            (root / "Makefile").read_text(encoding="utf-8"),
            re.MULTILINE,
        )


def test_the_dockerfile_copies_what_a_build_needs(root):
    text = (root / "Dockerfile").read_text(encoding="utf-8")
    copied = set(
        " ".join(re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE)).split()
    )
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "harness",
        "plugins",
        "adapters",
        "tasks",
    } <= copied
    assert all((root / name).exists() for name in copied)
    ignored = (root / ".dockerignore").read_text(encoding="utf-8").split()
    assert not copied & set(ignored)
