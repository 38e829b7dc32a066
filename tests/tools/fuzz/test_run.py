"""The fuzzer as a command: it fails where a target had too few inputs."""

from __future__ import annotations

import collections

from tools.fuzz.run import summary


def test_a_target_with_too_few_inputs_fails(tmp_path, capsys):
    total = collections.Counter(
        {
            "prompts accepted": 200,
            "prompts refused": 100,
            "servers accepted": 299,
            "- died": 0,
        }
    )
    assert summary(["prompts"], total, 60, tmp_path, 300) == 0
    assert summary(["prompts", "servers"], total, 60, tmp_path, 300) == 1
    assert (
        "too little was done: fewer than 300 inputs of servers"
        in capsys.readouterr().out
    )


def test_a_finding_fails(tmp_path):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "1.txt").write_text("KeyError")
    assert (
        summary(
            ["prompts"],
            collections.Counter({"prompts finding": 400}),
            60,
            tmp_path,
            300,
        )
        == 1
    )
