"""The task and the metrics in lm-eval itself."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("lm_eval")
pytestmark = pytest.mark.slow

DOCUMENTS = [
    {
        "prompt": "Describe the dog.",
        "references": ["a dog runs on grass", "the dog is running"],
    },
    {
        "prompt": "Describe the cat.",
        "references": ["a cat sits on a mat", "the cat rests", "lol"],
    },
    {
        "prompt": "Describe them.",
        "references": ["two people talk", "people are talking"],
    },
]
NAMES = ("bleu4", "meteor", "rouge", "cider")


def test_the_command_finds_the_task_and_has_the_numbers_of_the_harness(
    tmp_path, monkeypatch
):
    import harness

    (tmp_path / "captions.jsonl").write_text(
        "".join(json.dumps(document) + "\n" for document in DOCUMENTS)
    )
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    folder = subprocess.run(
        [sys.executable, "-m", "caption_lm_eval"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    command = [
        sys.executable,
        "-m",
        "lm_eval",
        "--model",
        "dummy",
        "--include_path",
        folder,
        "--tasks",
        "captions",
        "--output_path",
        "out",
    ]

    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]

    (file,) = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(file.read_text())["results"]["captions"]
    answers = [["lol"]] * 3
    references = [document["references"] for document in DOCUMENTS]
    for name in NAMES:
        assert (
            found[f"caption_{name},none"]
            == harness.score(answers, references, name, bootstrap=0)[name].value
        )
    assert found["caption_rouge,none"] > 0


def test_several_answers_of_a_document_are_one_set():
    from caption_lm_eval import aggregate, process_results

    import harness

    answers = [
        ["a dog", "the dog is running"],
        ["a cat", "the cat"],
        ["people", "two people talk"],
    ]
    items = [
        process_results(document, [texts])
        for document, texts in zip(DOCUMENTS, answers)
    ]
    references = [document["references"] for document in DOCUMENTS]
    for name in NAMES:
        expected = harness.score(answers, references, name, bootstrap=0)[name].value
        assert aggregate(name, [item[f"caption_{name}"] for item in items]) == expected
