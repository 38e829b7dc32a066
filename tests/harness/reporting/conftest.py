"""A real browser for the pages, and finished runs of judgments."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.cli.main import main
from tests.support.browser import browse, violations

__all__ = ["browse", "violations"]
RECORDS = [
    {
        "id": str(i),
        "caption": "x" * (1 + (i * k) % 7),
        "human_score": k + i % 2,
        "references": ["xx", "y"],
    }
    for i in range(1, 8)
    for k in (1, 2, 3)
]


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """The folder of screenshots: ``HARNESS_ARTEFACTS``, else a temporary one."""
    folder = Path(os.environ.get("HARNESS_ARTEFACTS") or tmp_path / "artefacts")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def judged_runs(tmp_path, monkeypatch, capsys):
    """Two finished runs of judgments below ``out``, and the printed text of each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(r) + "\n" for r in RECORDS))
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(
            f"task: judgments/{name}\njudgments: {{form: captions, path: j.jsonl}}\n"
            "statistics: [kendall_c, pearson, accuracy]\n"
            "metrics: [{bleu1: {tokenizer: none}}, {self-bleu: {n: 2, tokenizer: "
            "none}}, {rouge: {tokenizer: none}}]\n"
            "published: {reference: A paper, values: {bleu1: 12.5, spice: 40}}\n"
        )
    (tmp_path / "all.yaml").write_text("include: [one.yaml, two.yaml]\n")
    assert main(["run", "all.yaml", "--output", "out"]) == 0
    return capsys.readouterr().out
