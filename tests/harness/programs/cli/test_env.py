"""``harness env``."""

from __future__ import annotations

import json

from harness.cli.main import main


def test_environments_are_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "registry.yaml").write_text(
        "provider: mine\n"
        "metrics: {x: {command: [python], environment: {requirements: [numpy]}}}\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["env", "list"]) == 0
    assert "x: not created, " in capsys.readouterr().out
    assert main(["env", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["environments"]
    assert row["names"] == ["x"] and not row["ready"]
    assert main(["env", "create"]) == 2
    assert "name the component" in capsys.readouterr().err
