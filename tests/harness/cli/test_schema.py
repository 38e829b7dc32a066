"""``harness schema``."""

from __future__ import annotations

import json

from harness.cli.main import main


def test_the_schema_is_json_with_the_registered_names(project, capsys):
    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert "length" in schema["properties"]["metrics"]["items"]["anyOf"][0]["enum"]


def test_names_of_an_additional_registry_are_included(project, capsys, tmp_path):
    (project / "more.yaml").write_text(
        'provider: more\nmetrics: {other: {import: "mine_parts:Length"}}\n'
    )
    assert main(["schema", "--registry", "more.yaml"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert "other" in schema["properties"]["metrics"]["items"]["anyOf"][0]["enum"]
