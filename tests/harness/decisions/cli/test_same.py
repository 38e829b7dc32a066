"""``harness same``: verdicts and exit codes, files and runs, wrong input, batches,
plans, pages; a server that changes.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import harness
from harness.cli.main import main
from tests.support.chat_server import server

__all__ = ["server"]
VERBS = ("runs", "sits", "plays")


def write(path, seed, end=1.0, prompts=12, answers=6, **extra):
    rng = np.random.default_rng(seed)

    def answer():
        return (
            f"a {rng.choice(['dog', 'cat'])} "
            f"{rng.choice(VERBS)}{'.' * (rng.random() < end)}"
        )

    rows = [
        {"id": f"p{k}", **extra, "candidates": [answer() for _ in range(answers)]}
        for k in range(prompts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def files(tmp_path):
    return [
        write(tmp_path / f"{name}.jsonl", seed, end)
        for name, seed, end in (("a", 1, 1.0), ("b", 2, 1.0), ("c", 3, 0.5))
    ]


def call(capsys, *arguments):
    code = main(["same", *arguments])
    return code, capsys.readouterr()


@pytest.mark.slow
def test_exit_codes_and_lines(files, capsys):
    code, streams = call(capsys, files[0], files[2])
    assert code == 1 and streams.out.startswith(
        "a and c: different at level 0.05\n  p 0.000999 (12 prompts, 72 and 72 answers"
    )
    assert (
        "ends with a full stop: 1.0000 and 0." in streams.out and "a: a " in streams.out
    )
    code, streams = call(capsys, files[0], files[1], "--draws", "99")
    assert (
        code == 4
        and "a difference is not shown; a source with one answer in ten replaced "
        "would be found with power"
        in streams.out
    )
    code, streams = call(capsys, files[0], files[1], "--draws", "99", "--margin", "1")
    assert code == 0 and "equivalent within margin 1" in streams.out


@pytest.mark.slow
def test_several_sources_and_labels(files, capsys):
    code, streams = call(
        capsys, *files, "--draws", "99", "--label", "x", "--label", "y", "--label", "z"
    )
    assert code == 1 and "p Holm" in streams.out and "x and z: different" in streams.out


def test_json_and_page(files, capsys, tmp_path):
    code, streams = call(
        capsys, files[0], files[2], "--json", "--output", str(tmp_path / "p.html")
    )
    (value,) = json.loads(streams.out)
    assert code == 1 and value["verdict"] == "different" and len(value["prompts"]) == 12
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert (
        page.startswith("<!doctype html>")
        and "Prompts that differ most" in page
        and "<script src" not in page
    )


def test_text_of_answers_is_escaped_on_the_page(tmp_path, capsys):
    a, b = (tmp_path / f"{name}.json" for name in "ab")
    a.write_text(json.dumps({"<i>1": ["<script>x()</script>", "y"]}))
    b.write_text(json.dumps({"<i>1": ["z", "y"]}))
    call(capsys, str(a), str(b), "--output", str(tmp_path / "p.html"))
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<script>x" not in page and "<i>1" not in page and "&lt;script&gt;" in page


def test_a_metric_is_a_kernel(files, capsys):
    code, streams = call(
        capsys, files[0], files[2], "--kernel", "trm:distance=meteor", "--draws", "99"
    )
    assert code == 1 and "  trm:distance=meteor 0." in streams.out
    assert (
        "trm:distance=meteor beyond its mean over relabelings" in streams.out
        and "similarity" not in streams.out
    )


def test_nights_spend_the_level(files, capsys):
    assert "level 0.00122" in call(capsys, files[0], files[2], "--night", "5")[1].out
    assert (
        "level 0.000556"
        in call(capsys, files[0], files[2], "--nights", "90", "--night", "90")[1].out
    )


@pytest.mark.slow
def test_refusals_in_place_of_all_answers_are_found_on_every_night(
    files, tmp_path, capsys
):
    rows = [
        {"id": f"p{k}", "candidates": ["I am sorry, I cannot help with that."] * 6}
        for k in range(12)
    ]
    (tmp_path / "refusals.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    for series in (["--night", "6"], ["--night", "7"], ["--nights", "400"]):
        code, streams = call(
            capsys, files[0], str(tmp_path / "refusals.jsonl"), *series
        )
        assert code == 1 and "a and refusals: different at level 0.000" in streams.out


def test_a_copy_is_named_and_has_no_interval(files, tmp_path, capsys):
    copy = tmp_path / "copy.jsonl"
    copy.write_text((tmp_path / "a.jsonl").read_text())
    code, streams = call(capsys, files[0], str(copy), "--margin", "1")
    assert code == 4 and "equivalent" not in streams.out
    assert (
        "note: both files hold the same answers" in streams.out
        and "(no interval: both files hold the same answers)" in streams.out
    )


def test_batches_stop_when_a_difference_is_shown(files, capsys):
    code, streams = call(capsys, files[0], files[2], "--until")
    lines = streams.out.splitlines()
    assert code == 1 and "different at level 0.05" in lines[-1] and len(lines) < 7
    code, streams = call(capsys, files[0], files[1], "--until", "2", "--json")
    value = json.loads(streams.out)
    assert (
        code == 4
        and not value["different"]
        and [batch["answers"] for batch in value["batches"]] == [48, 96, 144]
    )


@pytest.mark.slow
def test_plans(files, capsys):
    code, streams = call(capsys, files[0], "--plan")
    assert (
        code == 0
        and "temperature -0.1" in streams.out
        and "one answer in ten replaced" in streams.out
    )


def test_models_of_a_run(project, capsys):
    spec = {
        "task": "words",
        "dataset": {"reader": "words", "count": 12},
        "models": [{"echo": {"n": n, "label": f"m{n}"}} for n in (2, 4)],
        "metrics": ["length"],
    }
    harness.evaluate(spec, output="r")
    for sources in (["r"], ["r::m2", "r::m4"]):
        code, streams = call(capsys, *sources, "--draws", "99")
        assert code in (0, 1, 4) and "m2 and m4" in streams.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.jsonl"], "one source"),
        (["a.jsonl", "none.jsonl"], "no such file"),
        (["a.jsonl", "b.jsonl", "--kernel", "token"], "did you mean 'tokens'"),
        (
            ["a.jsonl", "b.jsonl", "--kernel", "trm:distance=metoer"],
            "unknown distance 'metoer'; did you mean 'meteor'?",
        ),
        (
            ["a.jsonl", "b.jsonl", "--kernel", "distinct"],
            "the kernel distinct reads the candidates alone",
        ),
        (
            ["a.jsonl", "b.jsonl", "--kernel", "trm:distance=meteor", "--until"],
            "found the metric 'trm:distance=meteor'",
        ),
        (["a.jsonl", "b.jsonl", "--draws", "0"], "--draws is 0"),
        (["a.jsonl", "b.jsonl", "--alpha", "2"], "--alpha is 2"),
        (["a.jsonl", "b.jsonl", "--night", "-1"], "--night is -1"),
        (["a.jsonl", "b.jsonl", "--nights", "0"], "--nights is 0"),
        (
            ["a.jsonl", "b.jsonl", "--nights", "30", "--night", "31"],
            "begin again at night 1 with a fresh baseline",
        ),
        (
            ["a.jsonl", "b.jsonl", "--night", "78"],
            "the largest number that they serve is --night 77",
        ),
        (
            ["small.json", "changed.json", "--night", "6"],
            "the largest number that they serve is --night 1",
        ),
        (
            ["small.json", "changed.json", "--nights", "7"],
            "the largest number that they serve is --nights 6",
        ),
        (["a.jsonl", "b.jsonl", "--label", "x"], "1 labels for 2 sources"),
        (["a.jsonl", "b.jsonl", "c.jsonl", "--until"], "--until follows two sources"),
        (["a.jsonl", "latin.jsonl"], "not UTF-8"),
        (
            ["asked.jsonl", "other.jsonl"],
            "the id 'p0' has different prompts: 'x' and 'y'",
        ),
        (["a.jsonl", "foreign.json"], "no prompt in common"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_wrong_input_is_one_line(
    files, tmp_path, monkeypatch, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "p0", "candidates": ["caf\xe9"]}\n')
    (tmp_path / "foreign.json").write_text('{"q": ["x"]}')
    (tmp_path / "small.json").write_text('{"q": ["x", "y", "z", "u", "v"]}')
    (tmp_path / "changed.json").write_text('{"q": ["1", "2", "3", "4", "5"]}')
    write(tmp_path / "asked.jsonl", 1, prompt="x")
    write(tmp_path / "other.jsonl", 1, prompt="y")
    code, streams = call(capsys, *arguments)
    assert code == 2 and message in streams.err and streams.err.count("\n") == 1


@pytest.mark.slow
def test_a_server_that_changes_at_a_given_request_is_noticed(server, tmp_path, capsys):
    """Nightly checks of a server that leaves the full stop out of most answers from
    request 50 on, which is the fourth night.
    """
    rng = np.random.default_rng(0)

    def reply(body):
        changed = len(server.requests) >= 50
        texts = [
            f"a {rng.choice(['dog', 'cat'])} "
            f"{rng.choice(VERBS)}{'.' * (not changed or rng.random() < 0.3)}"
            for _ in range(body["n"])
        ]
        return {
            "choices": [
                {
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
                for text in texts
            ]
        }

    server.answer = reply
    (tmp_path / "prompts.json").write_text(
        json.dumps({f"p{k}": ["a reference"] for k in range(12)})
    )
    model = {
        "base_url": server.url,
        "model": "m",
        "prompt": "say {id}",
        "image": False,
        "label": "endpoint",
        "concurrency": 1,
    }
    spec = {
        "task": "nightly",
        "dataset": {"reader": "auto", "path": str(tmp_path / "prompts.json")},
        "models": [{"openai": model}],
        "decoding": {"strategy": "sample", "candidates": 10},
        "metrics": ["distinct"],
        "bootstrap": {"samples": 0},
    }
    codes: list[int] = []
    for night in range(6):
        harness.evaluate(
            {**spec, "seed": night}, output=str(tmp_path / f"night{night}")
        )
        if night:
            sources = (
                f"{tmp_path}/night0::endpoint",
                f"{tmp_path}/night{night}::endpoint",
            )
            codes.append(
                call(capsys, *sources, "--night", str(night), "--draws", "4000")[0]
            )
    assert 1 not in codes[:3] and codes[3:] == [1, 1]
