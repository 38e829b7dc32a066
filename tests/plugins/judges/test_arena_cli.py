"""``harness arena`` with files and a server."""

from __future__ import annotations

import json

import pytest

from harness.cli.main import main


@pytest.fixture
def files(tmp_path, server):
    def write(name: str, rows: dict[str, list[str]], key: str) -> str:
        path = tmp_path / name
        path.write_text(
            "".join(json.dumps({"id": k, key: v}) + "\n" for k, v in rows.items()),
            encoding="utf-8",
        )
        return str(path)

    def answer(body):
        first, second = (
            body["messages"][0]["content"].split(f"Caption {x}:\n")[1].splitlines()[0]
            for x in "AB"
        )
        better = (
            "A"
            if len(first) > len(second)
            else "B"
            if len(second) > len(first)
            else "tie"
        )
        return {
            "choices": [{"message": {"content": json.dumps({"better": better})}}],
            "usage": {"prompt_tokens": 9},
        }

    server.answer = answer
    ids = [str(k) for k in range(6)]
    judge = tmp_path / "judge.yaml"
    judge.write_text(
        f"base_url: {server.url}\nmodel: m\nprices: {{input: 1, output: 1}}\n"
    )
    return {
        "judge": str(judge),
        "long": write(
            "long.jsonl", {k: [f"a long caption of {k}"] for k in ids}, "candidates"
        ),
        "short": write("short.jsonl", {k: [f"of {k}"] for k in ids}, "candidates"),
        "references": write(
            "refs.jsonl", {k: [f"people say {k}"] for k in ids}, "references"
        ),
    }


def arguments(files, *more: str) -> list[str]:
    return [
        "arena",
        files["short"],
        files["long"],
        "--references",
        files["references"],
        "--judge",
        files["judge"],
        *more,
    ]


def test_the_table(files, server, capsys):
    assert main(arguments(files, "--samples", "50")) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1].split()[:3] == ["1", "(1-1)", "long"]
    assert "6 duels in both orders, 0 without an answer" in out[-2]
    assert "12 valid; 12 requests, 108 + 0 tokens, cost 0.0001" in out[-1]
    assert "people say" in server.requests[0]["messages"][0]["content"]


def test_json_labels_limit_and_a_blind_judge(files, server, capsys):
    more = [
        "--samples",
        "20",
        "--json",
        "--label",
        "S",
        "--label",
        "L",
        "--limit",
        "2",
        "--blind",
    ]
    assert main(arguments(files, *more)) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["system"] for row in result["standings"]] == ["L", "S"]
    assert result["duels"] == 2 and result["wins"][0][1] == 2.0
    assert "people say" not in server.requests[0]["messages"][0]["content"]


def test_mistakes_are_one_line(files, capsys):
    assert main(arguments(files, "--label", "S")) == 2
    assert "expected one different --label per file" in capsys.readouterr().err
    assert main([*arguments(files)[:-1], files["long"] + "x"]) == 2
    assert "no such YAML file" in capsys.readouterr().err
