"""harness run --shard and harness merge."""

from __future__ import annotations

from harness.cli.main import main


def test_parts_are_merged(project, capsys):
    for k in (1, 2):
        assert main(["run", "spec.yaml", "--shard", f"{k}/2", "--output", f"p{k}"]) == 0
        assert (
            f"part {k}/2: p{k}  (harness merge joins the parts)"
            in capsys.readouterr().out
        )
    assert main(["merge", "p1", "p2", "--output", "m"]) == 0
    assert "length" in capsys.readouterr().out
    assert main(["run", "spec.yaml", "--output", "whole", "--json"]) == 0
    assert main(["compare", "m", "whole", "--identical"]) == 0


def test_mistakes_are_one_line(project, capsys):
    for arguments, message in (
        (
            ["run", "spec.yaml", "--shard", "3/2"],
            "--shard is '3/2'; expected i from 1 to 2",
        ),
        (
            ["run", "spec.yaml", "--workers", "2"],
            "--workers is for --executor process or ray",
        ),
        (["run", "spec.yaml", "--address", "a:1"], "--address is for --executor ray"),
        (
            ["run", "spec.yaml", "--shard-size", "0"],
            "--shard-size is 0; expected at least 1",
        ),
        (["merge", "nothing", "--output", "m"], "nothing: no run here"),
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err
