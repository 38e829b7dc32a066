"""``harness list``: names, JSON, shadowed names, broken plugins."""

from __future__ import annotations

import json

import pytest

from harness.cli.main import main
from harness.registry import catalogue, in_use


@pytest.fixture
def listed(project, capsys):
    """A function that returns the output of ``harness list`` with arguments, after
    adding text to the registry.
    """

    def run(*arguments: str, add: str = "") -> str:
        (project / "registry.yaml").write_text(
            (project / "registry.yaml").read_text() + add
        )
        in_use._load.cache_clear()
        assert main(["list", *arguments]) == 0
        return capsys.readouterr().out

    return run


def test_kinds_are_headings_and_summaries_follow_names(listed):
    lines = listed().splitlines()
    *headings, more = [line for line in lines if line and not line.startswith(" ")]
    assert headings == [
        "adapters",
        "tasks",
        "readers",
        "metrics",
        "distances",
        "embeddings",
    ]
    assert more.endswith(" more metrics: harness list metrics --all")
    assert any(line.split() == ["length", "words"] for line in lines)


def test_one_kind(listed):
    output = listed("distances")
    assert "chars" in output
    assert output.splitlines()[0] == "distances"
    assert "metrics" not in output.splitlines()


def test_the_usual_metrics_are_printed_and_all_on_request(listed):
    short, full = listed("metrics"), listed("metrics", "--all")
    names = {
        item["name"] for item in json.loads(listed("metrics", "--json"))["entries"]
    }
    assert names <= set(full.split())
    shown = [line.split()[0] for line in short.splitlines() if line.startswith("    ")]
    assert len(shown) == 21 and set(shown) <= names, "twenty, and that of the project"
    assert {"cider", "meteor", "bertscore", "trm", "length"} <= set(shown)
    assert f"{len(names) - 21} more metrics: harness list metrics --all" in short
    assert "more metrics" not in full


def test_tasks_whose_files_are_missing_come_last(listed, tmp_path, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    ready, _, needy = listed("tasks").partition("HARNESS_DATA names")
    assert "\n    coco " in ready and "\n    flickr8k " in needy
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    ready, _, needy = listed("tasks").partition("HARNESS_DATA names")
    assert "\n    coco " in ready and "\n    flickr8k " in needy


def test_metrics_are_grouped_by_their_question(listed, project):
    lines = listed("metrics", "--all").splitlines()
    headings = [
        line.strip()
        for line in lines
        if line.startswith("  ") and not line.startswith("   ")
    ]
    assert headings[-1] == "Other"
    assert len(set(headings)) == len(headings)
    questions = {
        item["question"] for item in json.loads(listed("metrics", "--json"))["entries"]
    }
    assert questions == {*headings[:-1], ""}
    group = lines[lines.index("  Other") + 1 :]
    assert [line.split()[0] for line in group] == ["length"]
    text = (
        (project / "registry.yaml")
        .read_text()
        .replace('summary: "words"', "summary: words")
    )
    assert 'metrics: {length: {import: "mine_parts:Length", summary: words' in text
    (project / "registry.yaml").write_text(
        text.replace("summary: words", 'summary: words, question: "How long?"')
    )
    lines = listed("metrics").splitlines()
    assert lines[lines.index("  How long?") + 1].split() == ["length", "words"]
    assert "  Other" not in lines


def test_a_name_of_a_built_in_stays_bare_and_the_plugin_gets_its_provider(
    listed, project
):
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        text.replace("metrics: {", 'metrics: {rouge: {import: "mine_parts:Length"}, ')
    )
    lines = [line.strip() for line in listed("metrics").splitlines()]
    assert any(
        line.startswith("rouge ") and "another owner" not in line for line in lines
    )
    assert any(
        line.startswith("mine/rouge ")
        and line.endswith("('rouge' has another owner: use this name)")
        for line in lines
    )
    names = [
        item["name"] for item in json.loads(listed("metrics", "--json"))["entries"]
    ]
    assert {"rouge", "mine/rouge", "length"} <= set(names)


def test_json_has_all_fields_and_failures(listed):
    data = json.loads(listed("metrics", "--json"))
    (entry,) = [item for item in data["entries"] if item["name"] == "length"]
    assert entry == {
        "kind": "metrics",
        "name": "length",
        "full_name": "mine/length",
        "provider": "mine",
        "summary": "words",
        "question": "",
        "extra": "",
        "level": "item",
        "higher_is_better": True,
        "aliases": [],
        "target": "mine_parts:Length",
    }
    assert data["failures"] == []


def test_a_broken_plugin_is_reported_below(project, capsys, monkeypatch):
    from harness.registry.manifest_schema import PluginFailure

    broken = catalogue.Registry(
        in_use.current().manifests,
        (PluginFailure("bad", "manifest", "no such file"),),
    )
    monkeypatch.setattr("harness.verbs.catalogue.current", lambda: broken)
    assert main(["list", "metrics"]) == 0
    assert capsys.readouterr().out.endswith("\nbroken: bad (manifest): no such file\n")
    assert main(["list", "metrics", "--json"]) == 0
    failures = json.loads(capsys.readouterr().out)["failures"]
    assert failures == [
        {"provider": "bad", "phase": "manifest", "reason": "no such file"}
    ]


def test_an_unknown_kind_is_an_error(project, capsys):
    assert main(["list", "metric"]) == 2
    assert "unknown kind 'metric'; did you mean 'metrics'?" in capsys.readouterr().err
