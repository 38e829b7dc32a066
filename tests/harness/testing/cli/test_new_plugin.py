"""``harness new-plugin``: the files of a package."""

from __future__ import annotations

import pytest

from harness.cli.main import main
from harness.testing.scaffold import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_written_and_listed(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", "my-words", "--kind", kind]) == 0
    *files, empty, hint = capsys.readouterr().out.splitlines()
    assert (empty, hint) == ("", "cd my-words && python -m pytest, then: pip install .")
    assert all((tmp_path / file).is_file() for file in files)
    assert {"my-words/pyproject.toml", "my-words/my_words/registry.yaml"} <= set(
        files
    ) or len(files) >= 4


@pytest.mark.parametrize("arguments", [["Bad Name"], ["my-words", "--kind", "metrc"]])
def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", *arguments]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
