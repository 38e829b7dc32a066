"""``make package``: environments, problems and exit codes;
the real thing is run by ``make package`` itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.release import package
from tools.release.building import Distributions
from tools.release.environments import Environment
from tools.release.exercise import Exercise, Failed

DISTRIBUTIONS = Distributions(Path("x.tar.gz"), Path("x.whl"))


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "lib/python3.11/site-packages").mkdir(parents=True)
    return Environment(tmp_path, 1.0, 0.5, 2.0)


def test_every_python_the_sdist_and_the_lowest_versions_are_tried(monkeypatch):
    monkeypatch.setattr(
        package,
        "interpreters",
        lambda: {"3.11": Path("a"), "3.12": None, "3.13": Path("b")},
    )
    work, missing = package._environments(DISTRIBUTIONS)
    assert list(work) == ["3.11", "3.13", "sdist", "lowest"]
    assert missing == ["3.12"]


def test_without_any_python_nothing_is_tried(monkeypatch):
    monkeypatch.setattr(package, "interpreters", lambda: {"3.11": None})
    with pytest.raises(SystemExit, match=r"no interpreter of Python 3\.11 or newer"):
        package._environments(DISTRIBUTIONS)


def test_failures_and_other_values_are_problems(monkeypatch, environment, capsys):
    def refuse(folder):
        raise SystemExit("pip failed")

    outcomes = iter(
        [
            Exercise({"run": 1.0}, {"a": 1.0}),
            Exercise({"run": 1.0}, {"a": 2.0}),
            Failed("harness run: exit code 3"),
        ]
    )

    def outcome(*_):
        value = next(outcomes)
        if isinstance(value, Failed):
            raise value
        return value

    monkeypatch.setattr(package, "exercise", outcome)
    work = {
        "first": lambda _: environment,
        "other": lambda _: environment,
        "broken": lambda _: environment,
        "none": refuse,
    }
    assert package._exercised(work) == [
        "other: other values than the first environment: a",
        "broken: harness run: exit code 3",
        "none: pip failed",
    ]
    assert "first: installed in 1 s (0 s of processor), 2 MB" in capsys.readouterr().out


def test_an_unknown_environment_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(package, "build", lambda root, output: DISTRIBUTIONS)
    monkeypatch.setattr(package, "_reproduced", lambda _: [])
    monkeypatch.setattr(package, "_checked", lambda _: [])
    with pytest.raises(SystemExit, match="no environment 2.7"):
        package.main(["--only", "2.7", "--output", str(tmp_path)])
