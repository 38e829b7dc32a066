"""Conditions of variants, models and metrics."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.spec.conditions import drop_unmet, holds
from harness.spec.loading import load_specs

SPEC = """task: t
dataset: {reader: words}
models:
  - echo
  - echo: {label: second}
    when: {exists: %s}
metrics:
  - length
  - trm: {distance: cider}
    when: {installed: %s}
  - mmd:
    when: {installed: [numpy, no-such-package, other-package]}
"""


@pytest.fixture
def spec_file(tmp_path):
    def write(exists="data.json", installed="numpy", text=SPEC):
        file = tmp_path / "s.yaml"
        file.write_text(text % (exists, installed) if "%s" in text else text)
        return file

    return write


def test_a_condition_holds_when_all_its_parts_do(tmp_path, monkeypatch):
    (tmp_path / "a").touch()
    assert holds(None, tmp_path, "x")
    assert holds({"exists": "a"}, tmp_path, "x")
    assert holds(
        {"exists": ["a", "."], "installed": ["numpy", "PyYAML"]}, tmp_path, "x"
    )
    assert not holds({"exists": ["a", "b"]}, tmp_path, "x")
    assert not holds({"installed": "no-such-package"}, tmp_path, "x")
    assert not holds({"installed": ""}, tmp_path, "x")
    monkeypatch.delenv("SOME_FOLDER", raising=False)
    assert not holds({"exists": "${SOME_FOLDER}/a"}, tmp_path, "x")
    assert holds({"exists": "${SOME_FOLDER:-a}"}, tmp_path, "x")
    monkeypatch.setenv("SOME_FOLDER", str(tmp_path))
    assert holds({"exists": "${SOME_FOLDER}/a"}, tmp_path, "x")


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("always", "when is a mapping 'exists: PATH' or 'installed: PACKAGE'"),
        ({}, "when is a mapping"),
        (
            {"instaled": "numpy"},
            "when has no key 'instaled'; did you mean 'installed'?",
        ),
        ({"installed": 3}, "when: installed is a text or a list of texts; found 3"),
        ({"exists": ["a", {"b": 1}]}, "when: exists is a text or a list of texts"),
    ],
)
def test_another_condition_is_refused_with_its_place(when, message, tmp_path):
    with pytest.raises(InputError, match="^s.yaml:4: ") as caught:
        holds(when, tmp_path, "s.yaml:4")
    assert message in str(caught.value)


def test_items_without_their_package_are_left_out_and_named(spec_file):
    (loaded,) = load_specs(spec_file())
    assert loaded.spec.models == ["echo"]
    assert loaded.spec.metrics == ["length", {"trm": {"distance": "cider"}}]
    assert loaded.spec.notice == (
        "Left out of the models: echo(label: second) (data.json does not exist). "
        "Left out of the metrics: mmd (not installed: "
        "pip install no-such-package other-package)."
    )


def test_an_item_may_name_a_variable_that_is_not_set(spec_file, monkeypatch):
    monkeypatch.delenv("SOME_FOLDER", raising=False)
    item = (
        "predictions: {path: '${SOME_FOLDER}/p.jsonl'}, when: {exists: "
        "'${SOME_FOLDER}/p.jsonl'}"
    )
    text = (
        f"task: t\ndataset: {{reader: words}}\nmodels: [echo, {{{item}}}]\nmetrics: "
        "[length]\n"
    )
    (loaded,) = load_specs(spec_file(text=text))
    assert loaded.spec.models == ["echo"]
    assert loaded.spec.notice == (
        "Left out of the models: predictions(path: ${SOME_FOLDER}/p.jsonl) "
        "(${SOME_FOLDER}/p.jsonl does not exist)."
    )


def test_the_remaining_items_keep_their_lines(spec_file):
    (loaded,) = load_specs(spec_file(exists="."))
    assert [loaded.where("models", index) for index in (0, 1)] == [
        f"{spec_file()}:4",
        f"{spec_file()}:5",
    ]
    assert loaded.where("metrics", 1, "trm", "distance") == f"{spec_file()}:9"


def test_items_that_lack_the_same_package_are_named_once(spec_file):
    text = SPEC.partition("  - trm")[0] % "." + "".join(
        f"  - {name}\n    when: {{installed: no-such-package}}\n"
        for name in ("mmd:", "trm: {distance: a}", "trm: {}")
    )
    (loaded,) = load_specs(spec_file(text=text))
    assert (
        loaded.spec.notice
        == "Left out of the metrics: mmd, trm(distance: a), trm (not installed: "
        "pip install no-such-package)."
    )


def test_a_list_without_a_remaining_item_is_refused(spec_file):
    text = (
        "task: t\ndataset: {reader: words}\nmodels: [echo]\n"
        "metrics:\n  - mmd:\n    when: {installed: no-such-package}\n"
    )
    with pytest.raises(
        InputError,
        match=r"s.yaml:4: no condition of metrics holds: not installed: "
        r"pip install no-such",
    ):
        load_specs(spec_file(text=text))


def test_a_component_called_when_is_not_a_condition(tmp_path):
    from harness.files.yaml_source import Located

    tree = Located({"metrics": [{"when": {"a": 1}}]}, {})
    drop_unmet(tree, tmp_path)
    assert tree.data["metrics"] == [{"when": {"a": 1}}]
