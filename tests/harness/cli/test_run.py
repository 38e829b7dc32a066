"""``harness run``: table, JSON, exit codes, run directories."""

from __future__ import annotations

import json
import random

import pytest

from harness.cli.main import main
from tests.support.growing import write_task


def test_a_run_prints_a_table_and_writes_to_the_folder_of_its_task(project, capsys):
    assert main(["run", "spec.yaml"]) == 0
    output = capsys.readouterr().out
    assert "length ↑" in output
    assert "run: runs/words" in output
    assert (project / "runs" / "words" / "results.json").is_file()


def test_failed_examples_give_code_1(project, capsys):
    command = [
        "run",
        "spec.yaml",
        "--set",
        "models=[{echo: {fail: [e1]}}]",
        "--output",
        "other",
    ]
    assert main(command) == 1
    assert "failed echo/e1: could not read it" in capsys.readouterr().out
    assert main([*command, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["failed"] == {
        "echo/e1": "could not read it"
    }


def test_json_has_the_results_and_nothing_else_is_printed(project, capsys):
    (project / "spec.yaml").write_text(
        (project / "spec.yaml").read_text() + "notice: careful\n"
    )
    assert (
        main(
            [
                "run",
                "spec.yaml",
                "--json",
                "--limit",
                "2",
                "--seed",
                "5",
                "--output",
                "r",
            ]
        )
        == 0
    )
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert (data["runs"], data["failed"], captured.err) == (["r"], {}, "")
    assert [(record["metric"], record["n"]) for record in data["results"]] == [
        ("length", 2)
    ]
    assert json.loads((project / "r" / "manifest.json").read_text())["seed"] == 5


def test_a_notice_is_printed_on_stderr(project, capsys):
    (project / "spec.yaml").write_text(
        (project / "spec.yaml").read_text() + "notice: careful with this\n"
    )
    assert main(["run", "spec.yaml", "--output", "r"]) == 0
    assert "careful with this" in capsys.readouterr().err


def test_fresh_replaces_and_resume_needs_a_run(project, capsys):
    assert main(["run", "spec.yaml", "--output", "r", "--resume"]) == 2
    assert "holds no run to resume" in capsys.readouterr().err
    assert main(["run", "spec.yaml", "--output", "r"]) == 0
    assert main(["run", "spec.yaml", "--output", "r", "--seed", "1"]) == 2
    assert "holds another run" in capsys.readouterr().err
    assert main(["run", "spec.yaml", "--output", "r", "--seed", "1", "--fresh"]) == 0
    assert main(["run", "spec.yaml", "--output", "r", "--seed", "1", "--resume"]) == 0
    assert main(["run", "spec.yaml", "--fresh", "--resume"]) == 2
    assert "--resume: not allowed with argument --fresh" in capsys.readouterr().err


def test_a_view_without_values_is_a_line_and_the_next_one_is_printed(project, capsys):
    views = (
        '[{plot: table, x: model, y: "p:length", title: P}, {plot: table, x: model, '
        "y: length, title: L}]"
    )
    assert (
        main(
            [
                "run",
                "spec.yaml",
                "--set",
                f"views={views}",
                "--set",
                "significance=none",
            ]
        )
        == 0
    )
    output = capsys.readouterr().out
    assert "P: no values in this run" in output
    assert "echo" in output.partition("P: no values")[2]


def test_what_a_plugin_prints_goes_to_stderr_with_json(project, capsys):
    code = project / "mine_parts.py"
    code.write_text(
        code.read_text().replace(
            "return np.asarray", 'print("noise")\n        return np.asarray'
        )
        + 'print("more noise")\n'
    )
    assert main(["run", "spec.yaml", "--json", "--output", "r"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["runs"] == ["r"]
    assert "noise" in captured.err


@pytest.mark.slow
def test_until_stops_the_run_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(json.dumps(write_task(tmp_path, 300)))
    assert (
        main(["run", "spec.yaml", "--output", "r", "--until", "ROUGE-L: good > bad"])
        == 0
    )
    output = " ".join(capsys.readouterr().out.split())
    assert "of 300 examples (ROUGE-L: good > bad: confirmed)" in output
    assert (
        "the intervals of the table are those of a fixed number of examples" in output
    )
    state = json.loads((tmp_path / "r" / "manifest.json").read_text())["stopped"]
    assert state["examples"] < 300
    command = [
        "run",
        "spec.yaml",
        "--output",
        "r",
        "--extend",
        "--until",
        "ROUGE-L: good > bad",
        "--until",
        "ROUGE-L: good > twin",
    ]
    assert main([*command, "--population", "--json"]) == 0
    extended = json.loads((tmp_path / "r" / "manifest.json").read_text())["stopped"]
    assert extended["level"] == 0.025 and extended["examples"] >= state["examples"]


@pytest.mark.parametrize(
    ("conditions", "usual", "rare", "waiting"),
    [
        (["bleu4 ± 0.0001", "meteor ± 0.0001"], "other words", "the reference", True),
        (["bleu2 ± 0.0005"], "the reference", "other words", False),
        (["rouge ± 0.001"], "other words", "the reference", False),
    ],
)
def test_a_batch_of_equal_scores_confirms_no_width(
    conditions, usual, rare, waiting, tmp_path, monkeypatch, capsys
):
    """One caption of 200 differs from the others:
    most first batches have one score alone.
    """
    monkeypatch.chdir(tmp_path)
    rng = random.Random(0)
    rows = []
    for k in range(400):
        reference, others = (
            " ".join(rng.choices(letters, k=rng.randint(5, 9)))
            for letters in ("abcdefgh", "uvwxyz")
        )
        text = {"the reference": reference, "other words": others}[
            rare if k % 200 == 7 else usual
        ]
        rows.append(json.dumps({"id": str(k), "references": [reference], "text": text}))
    (tmp_path / "data.jsonl").write_text("\n".join(rows))
    metrics = [
        {condition.split()[0]: {"tokenizer": "none"}} for condition in conditions
    ]
    model = {"predictions": {"label": "m", "path": "data.jsonl", "candidates": "text"}}
    spec = {
        "task": "rare",
        "dataset": {"reader": "jsonl", "path": "data.jsonl"},
        "models": [model],
        "metrics": metrics,
    }
    (tmp_path / "spec.yaml").write_text(
        json.dumps({**spec, "bootstrap": {"samples": 0}})
    )
    options = [word for condition in conditions for word in ("--until", condition)]
    assert main(["run", "spec.yaml", "--seed", "1", "--output", "r", *options]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "stopped after 400 of 400 examples" in output and "confirmed" not in output
    stopped = json.loads((tmp_path / "r" / "manifest.json").read_text())["stopped"]
    for item in stopped["conditions"]:
        first, last = item["sequences"][0]["path"]
        assert first["difference"] == pytest.approx(
            float(usual == "the reference"), abs=1e-9
        )
        if waiting:
            assert (first["waits"], first["low"], first["high"]) == (
                "no spread in 200 examples",
                "-inf",
                "inf",
            )
        else:
            assert not first["waits"] and first["high"] - first["low"] > 0.01, (
                "the range leaves room for what has not occurred"
            )
        assert not last["waits"] and last["high"] - last["low"] > 0.002


def test_conditions_that_cannot_hold_are_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(json.dumps(write_task(tmp_path, 20)))
    for arguments, message in (
        (["--population"], "--population belongs to --until"),
        (["--until", "rouge: good > bed"], "did you mean 'bad'"),
        (
            ["--until", "rouge: good > bad", "--shard", "1/2"],
            "cannot be combined with a part of a run (--shard 1/2)",
        ),
        (
            ["--until", "bleu4: good > bad", "--population"],
            "'BLEU-4' is no mean of scores with known bounds",
        ),
    ):
        assert main(["run", "spec.yaml", "--output", "r", *arguments]) == 2
        assert message in " ".join(capsys.readouterr().err.split())
        assert not (tmp_path / "r").exists()


def test_a_run_is_verified_against_stored_results(project, capsys):
    assert main(["run", "spec.yaml", "--output", "r"]) == 0
    assert main(["run", "spec.yaml", "--verify", "r"]) == 0
    assert "identical: " in capsys.readouterr().out
    file = project / "r" / "results.json"
    file.write_text(file.read_text().replace('"value": ', '"value": 1'))
    assert main(["run", "spec.yaml", "--verify", str(file), "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["results"]
    assert "length: value: stored 1" in captured.err
    assert "differ from" in captured.err


def test_verification_computes_anew_and_names_what_is_missing(project, capsys):
    assert main(["run", "spec.yaml", "--verify", "nowhere"]) == 2
    assert "nowhere: No such file or directory" in capsys.readouterr().err
    assert main(["run", "spec.yaml", "--verify", "r", "--output", "r"]) == 2
    assert "leave out --output" in capsys.readouterr().err
