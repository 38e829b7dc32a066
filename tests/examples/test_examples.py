"""The packages of examples/ install with pip, pass their tests and their checks,
and run.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
PACKAGES = {
    "readability": ["reading-ease", "word-recall", "shared-words", "trigrams"],
    "browser": [],
    "loggers": [],
    "vocabulary": ["word-share"],
    "capevalkit": [],
}


@pytest.fixture(scope="module")
def installed(root, tmp_path_factory):
    """A function that runs a module of Python where both packages are installed,
    in a folder of its own.
    """
    site = tmp_path_factory.mktemp("site")
    folder = tmp_path_factory.mktemp("work")

    def call(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", *map(str, arguments)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={
                **os.environ,
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": str(site),
                **environment,
            },
        )

    for name in PACKAGES:
        copy = tmp_path_factory.mktemp("source") / name
        subprocess.run(
            ["cp", "-r", str(root / "examples" / name), str(copy)], check=True
        )
        pip = (
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--target",
            site,
        )
        done = call(*pip, copy)
        assert done.returncode == 0, done.stderr
    return call


def test_the_components_are_listed_without_failures(installed):
    done = installed("harness", "list", "--json")
    assert done.returncode == 0, done.stderr
    for name, components in PACKAGES.items():
        for component in components:
            assert f"{name.replace('_', '-')}/{component}" in done.stdout


def test_a_verb_is_one_of_the_command_line(installed):
    text = installed("harness", "--help").stdout
    assert "inspect " in text and "vocabulary " in text
    assert "words, and conditions" in installed("harness", "inspect", "--help").stdout


def test_the_functions_score_with_p_values_and_comparisons(installed, tmp_path):
    texts = {
        "a": ["a dog", "a cat"],
        "b": ["dogs", "the cat sits"],
        "r": [["a dog runs", "the dog"], ["a cat", "the cat"]],
    }
    for name, rows in texts.items():
        (tmp_path / f"{name}.json").write_text(
            json.dumps({str(k): row for k, row in enumerate(rows)})
        )

    metrics = (
        "word-recall,word-recall:best=true,reading-ease,"
        "trm:distance=shared-words,mmd:embedding=trigrams"
    )
    files = [str(tmp_path / f"{name}.json") for name in "ab"]
    done = installed(
        "harness",
        "score",
        *files,
        "--references",
        tmp_path / "r.json",
        "-m",
        metrics,
        "--p-values",
        "exact",
        "--json",
    )

    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    values = {(record["model"], record["metric"]): record for record in data["results"]}
    assert values["a", "word-recall"]["value"] == pytest.approx((2 / 4 + 2 / 3) / 2)
    assert 0 < values["a", "word-recall"]["p_value"] <= 1
    assert (
        "p_value" not in values["a", "reading-ease"]
        or values["a", "reading-ease"]["p_value"] is None
    )
    assert {row["metric"] for row in data["comparisons"]} >= {
        "word-recall",
        "trm(shared-words)",
        "mmd(trigrams)",
    }


@pytest.mark.parametrize(
    "component", [name for names in PACKAGES.values() for name in names]
)
def test_every_component_passes_its_checks(installed, component):
    done = installed("harness", "check", component)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", PACKAGES)
def test_the_tests_of_the_packages_pass(installed, root, name):
    done = installed(
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        root / "examples" / name / "tests",
        "-c",
        os.devnull,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["lm_eval", "inspect_ai"])
def test_the_plugins_of_other_programs_pass_their_tests_where_the_program_is(
    installed, root, name
):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"the package {name} is not installed")
    folder = root / "examples" / name
    done = installed(
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        folder / "tests",
        "-c",
        os.devnull,
        PYTHONPATH=str(folder),
    )
    assert done.returncode == 0, done.stdout
