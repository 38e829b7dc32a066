"""``harness score``: results and comparisons of files."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys

import pytest

from harness.cli.main import main

CANDIDATES = {"a": ["x y"], "b": ["z"]}
OTHERS = {"a": ["x y z w"], "b": ["z z"]}


@pytest.fixture
def files(project):
    """The project with files of candidates and of references."""
    (project / "p.json").write_text(json.dumps(CANDIDATES))
    (project / "q.json").write_text(json.dumps(OTHERS))
    (project / "r.json").write_text(
        json.dumps({"a": ["x", "y"], "b": ["z", "z"], "c": ["w"]})
    )
    (project / "two.json").write_text(json.dumps({"a": ["x", "y"], "b": ["z", "z"]}))
    return project


@pytest.fixture
def score(files, capsys):
    """A function that returns exit code, JSON and errors of ``harness score`` on two
    files.
    """

    def run(*arguments):
        code = main(
            [
                "score",
                "--candidates",
                "p.json",
                "--references",
                "r.json",
                "--json",
                *arguments,
            ]
        )
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else None, captured.err

    return run


@pytest.fixture
def plain(files, capsys):
    """A function that returns exit code, output and errors of ``harness score`` against
    ``two.json``.
    """

    def run(*arguments):
        code = main(["score", *arguments, "--references", "two.json", "-m", "length"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def process(files, *arguments):
    """Return exit code, output and errors of a process ``harness score``."""
    done = subprocess.run(
        [sys.executable, "-m", "harness", "score", *arguments],
        cwd=files,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    return done.returncode, done.stdout, done.stderr


def test_several_metrics_with_parameters(score):
    code, data, _ = score("-m", "length", "-m", "length:scale=2", "--allow-missing")
    assert code == 0
    assert [
        (record["metric"], record["value"], record["n"], record["skipped"])
        for record in data["results"]
    ] == [
        ("length", 1.5, 2, 1),
        ("length[scale=2]", 3.0, 2, 1),
    ]
    assert (data["failed"], data["comparisons"], data["notes"]) == ({}, [], [])
    assert all("statistics" not in record for record in data["results"])


def test_p_values_limit_and_output(score, project):
    code, data, _ = score(
        "-m",
        "length",
        "--p-values",
        "exact",
        "--limit",
        "2",
        "--output",
        "r",
        "--seed",
        "3",
    )
    assert code == 0
    assert data["results"][0]["p_method"].startswith("exact")
    assert json.loads((project / "r" / "manifest.json").read_text())["seed"] == 3
    assert score("-m", "length", "--limit", "1", "--output", "r")[0] == 2
    assert score("-m", "length", "--limit", "1", "--output", "r", "--fresh")[0] == 0


def test_the_table_of_one_file(files, capsys):
    assert (
        main(
            [
                "score",
                "p.json",
                "--references",
                "r.json",
                "-m",
                "length",
                "--allow-missing",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "length ↑" in out
    assert "difference" not in out
    assert "1 of 3 without a score" in out


@pytest.mark.slow
def test_two_files_give_one_table_with_differences(files):
    code, out, error = process(
        files, "p.json", "q.json", "--references", "two.json", "-m", "LENGTH"
    )
    assert (code, error) == (0, "")
    rows = [
        [cell.strip() for cell in line.split("│")]
        for line in out.splitlines()
        if "│" in line
    ]
    assert [row[:3] for row in rows] == [
        ["length ↑", "p", "1.5000"],
        ["", "q", "3.0000"],
    ]
    assert rows[1][4] == "+1.5000"
    assert "difference: to p; p: approximate randomisation" in out
    assert not [
        name for name in os.listdir(files) if name.startswith(("run", "harness-score"))
    ]


@pytest.mark.slow
def test_csv_goes_to_stdout_and_remarks_to_stderr(files):
    code, out, error = process(
        files,
        "--candidates",
        "p.json",
        "q.json",
        "--candidates",
        "p.json",
        "--references",
        "two.json",
        "-m",
        "length",
        "--format",
        "csv",
        "--baseline",
        "q",
        "--label",
        "p",
        "--label",
        "q",
        "--label",
        "copy",
    )
    assert code == 0
    assert (
        error == "harness: copy and p hold the same captions: their differences are 0\n"
    )
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [
        (row["system"], row["value"], row["difference"], row["baseline"])
        for row in rows
    ] == [
        ("p", "1.5", "-1.5", "q"),
        ("q", "3.0", "", "q"),
        ("copy", "1.5", "-1.5", "q"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "no file of candidates; expected at least one: "
            "harness score A.json B.json --references R.json",
        ),
        (
            ["p.json", "length"],
            "'length' is a metric, not a file; write metrics with commas: "
            "-m length,length",
        ),
        (
            ["p.json", "pp.json"],
            "pp.json: no such file of predictions; did you mean 'p.json'?",
        ),
        (["p.json", "q.json", "--label", "one"], "1 label for 2 files"),
        (
            ["p.json", "q.json", "--label", "one", "--label", "one"],
            "the label 'one' occurs 2 times",
        ),
        (
            ["p.json", "q.json", "--baseline", "pq"],
            "--baseline is 'pq'; did you mean 'q'?",
        ),
        (
            ["p.json", "--references", "r.json"],
            "two.json: has no references for 1 of 3 examples of r.json: 'c'",
        ),
        (
            ["p.json", "--refs", "r.json"],
            "no option '--refs'; did you mean '--references'?",
        ),
        (["p.json", "--draws", "0"], "--draws is 0; expected at least 1"),
        (["p.json", "--format", "tex"], "--format: no 'tex'; did you mean 'latex'?"),
        (["p.json", "--lable", "x"], "no option '--lable'; did you mean '--label'?"),
        (
            ["p.json", "-m", "length,scale=2"],
            "'scale=2' belongs to no metric; write length:scale=2",
        ),
        (
            ["p.json", "-m", "Lenght"],
            "-m Lenght: unknown metric 'Lenght'; did you mean 'length'?",
        ),
    ],
)
def test_mistakes_are_one_line(plain, arguments, message):
    code, out, error = plain(*arguments)
    assert (code, out) == (2, "")
    assert message in error
    assert error.count("\n") == 1


def test_examples_without_candidates_are_refused_with_the_file_and_the_option(score):
    code, data, error = score("-m", "length")
    assert (code, data) == (2, None)
    assert (
        "p.json: 1 of 3 examples have no predictions: "
        "'c' (--allow-missing scores the others)" in error
    )


def test_the_difference_is_on_the_examples_that_both_files_have(files, capsys):
    (files / "some.json").write_text(json.dumps({"b": ["z z z"]}))
    arguments = [
        "score",
        "p.json",
        "some.json",
        "--references",
        "two.json",
        "-m",
        "length",
        "--allow-missing",
        "--json",
    ]
    assert main(arguments) == 0
    (row,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert (row["system_a"], row["system_b"], row["n"], row["difference"]) == (
        "some",
        "p",
        1,
        2.0,
    )


def test_files_without_a_common_example_have_values_and_no_comparison(files, plain):
    (files / "one.json").write_text(json.dumps({"a": ["x y"]}))
    (files / "other.json").write_text(json.dumps({"b": ["z"]}))
    code, out, error = plain("one.json", "other.json", "--allow-missing")
    assert code == 0
    assert error == "harness: no comparisons: other and one share no example\n"
    assert "no test: no common scores" in out


def test_empty_and_unknown_captions_are_refused_or_allowed(files, plain):
    (files / "empty.json").write_text(json.dumps({"a": [""], "b": ["z"]}))
    (files / "unknown.json").write_text(json.dumps({**CANDIDATES, "zz": ["z"]}))
    for name, option in (
        ("empty.json", "--allow-empty"),
        ("unknown.json", "--allow-unknown"),
    ):
        code, _, error = plain(name)
        assert code == 2
        assert name in error
        assert option in error
        assert plain(name, option)[0] == 0


def test_columns_and_systems_are_options(files, capsys):
    lines = [{"key": key, "said": {"beam": "x y", "nucleus": "x"}} for key in "ab"]
    (files / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (files / "refs.csv").write_text("key,truth\na,x\na,y\nb,z\nb,z\n")
    arguments = [
        "score",
        "s.jsonl",
        "--references",
        "refs.csv",
        "-m",
        "length",
        "--json",
    ]
    options = [
        "--reference-id",
        "key",
        "--reference-column",
        "truth",
        "--id",
        "key",
        "--column",
        "said",
    ]
    assert (
        main(
            [
                *arguments,
                *options,
                "--system",
                "beam",
                "--system",
                "nucleus",
                "--baseline",
                "nucleus",
            ]
        )
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert [(record["model"], record["value"]) for record in data["results"]] == [
        ("beam", 2.0),
        ("nucleus", 1.0),
    ]
    assert data["comparisons"][0]["difference"] == 1.0
    steps = [
        (
            [],
            "refs.csv:2: no column of captions; found 'key', "
            "'truth' (name it with --reference-column NAME)",
        ),
        (options[:2], "no column of captions"),
        (
            options[:4],
            "s.jsonl:1: no column for candidates (name it with --column NAME); "
            "found 'key', 'said'",
        ),
        (
            options,
            "'said' holds 2 systems; choose with --system NAME; found 'beam', "
            "'nucleus'",
        ),
        ([*options, "--system", "beem"], "no system 'beem'; did you mean 'beam'?"),
    ]
    for added, message in steps:
        assert main([*arguments, *added]) == 2
        assert message in capsys.readouterr().err


def test_a_file_without_ids_is_matched_by_position(files, plain, caplog):
    (files / "p.txt").write_text("x y\nz\n")
    code, out, error = plain("p.txt")
    assert (code, error) == (0, "")
    assert "1.5000" in out
    assert (
        "p.txt has no ids; its records are matched with the examples by position"
        in caplog.text
    )
    (files / "short.txt").write_text("x y\n")
    code, _, error = plain("short.txt", "--allow-missing")
    assert code == 2
    assert "short.txt: holds 1 record without ids for 2 examples" in error
    (files / "said.csv").write_text("said\nx y\nz\n")
    assert (
        "--id null matches records and examples by position"
        in plain("said.csv", "--column", "said")[2]
    )
    assert "1.5000" in plain("said.csv", "--column", "said", "--id", "null")[1]


def test_ids_that_occur_twice_are_named(files, plain, caplog):
    (files / "twice.json").write_text(
        json.dumps([{"id": key, "caption": f"x {k}"} for k, key in enumerate("aab")])
    )
    assert plain("twice.json")[0] == 0
    assert (
        "twice.json: 1 id occurs more than once ('a'); "
        "the captions of an id form one set of candidates" in caplog.text
    )
    caplog.clear()
    (files / "sets.json").write_text(
        json.dumps([{"id": key, "caption": f"x {k}"} for k, key in enumerate("abab")])
    )
    assert plain("sets.json")[0] == 0
    assert not caplog.text
    (files / "copied.json").write_text(
        json.dumps([{"id": key, "caption": "x"} for key in "abab"])
    )
    assert (
        "copied: the 2 captions of each of 2 ids ('a', ...) are identical"
        in plain("copied.json")[2]
    )


def test_no_message_lists_more_than_five_names(files, plain):
    (files / "many.json").write_text(
        json.dumps({f"img{k}": {"score": k} for k in range(500)})
    )
    (files / "wide.csv").write_text(
        ",".join(f"c{k}" for k in range(50)) + "\n" + ",".join("x" * 50) + "\n"
    )
    (files / "systems.jsonl").write_text(
        json.dumps({"id": "a", "candidates": {f"s{k}": "x" for k in range(50)}})
    )
    (files / "other.json").write_text(json.dumps({f"img{k}": "x" for k in range(500)}))
    for name in ("many.json", "wide.csv", "systems.jsonl", "other.json"):
        code, _, error = plain(name)
        assert code == 2
        assert len(re.findall(r"'(?:img|c|s)\d+'", error)) in (3, 5), error
        assert "..." in error


def test_metrics_undefined_for_one_system_are_left_out_of_the_comparison(files, capsys):
    arguments = [
        "score",
        "p.json",
        "q.json",
        "--references",
        "two.json",
        "-m",
        "length:undefined=[a]",
        "--format",
    ]
    assert main([*arguments, "csv"]) == 0
    first, second = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (
        first["n"],
        first["skipped"],
        second["n_compared"],
        second["difference"],
    ) == ("1", "1", "1", "1.0")


def test_sets_of_different_sizes_are_not_compared_by_set_metrics(files, capsys):
    (files / "pairs.json").write_text(
        json.dumps({"a": ["x y", "x"], "b": ["z", "z w"]})
    )
    arguments = [
        "score",
        "p.json",
        "pairs.json",
        "--references",
        "two.json",
        "-m",
        "mmd:embedding=bow,length",
    ]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "(1) no verdict: " in out
    assert "2 + 2" in out


def test_equal_names_are_told_apart_by_their_folders(files, capsys):
    (files / "x").mkdir()
    (files / "x" / "p.json").write_text(json.dumps(OTHERS))
    assert (
        main(
            [
                "score",
                "p.json",
                "x/p.json",
                "--references",
                "two.json",
                "-m",
                "length",
                "--json",
            ]
        )
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert [record["model"] for record in data["results"]] == [f"{files.name}/p", "x/p"]


def test_without_metrics_the_default_ones_are_used_and_missing_ones_named(
    files, monkeypatch, capsys
):
    monkeypatch.setattr(
        "harness.verbs.scored_systems.default_metrics",
        lambda: (["length"], {"more": "not installed"}),
    )
    assert (
        main(
            [
                "score",
                "p.json",
                "q.json",
                "--references",
                "two.json",
                "--format",
                "markdown",
            ]
        )
        == 0
    )
    captured = capsys.readouterr()
    assert captured.err == "harness: more is left out: not installed\n"
    assert "| length ↑ | p | **1.5000** |" in captured.out


def test_latex_and_a_run_directory(files, capsys):
    arguments = [
        "score",
        "p.json",
        "q.json",
        "--references",
        "two.json",
        "-m",
        "length",
        "--output",
        "out",
    ]
    assert main([*arguments, "--format", "latex"]) == 0
    assert r"length $\uparrow$ & p & \bfseries 1.5000" in capsys.readouterr().out
    assert main(arguments) == 0
    assert "harness report out makes a page of it" in capsys.readouterr().out


def test_several_files_of_references_are_joined(files, capsys):
    for name, texts in (("one.txt", ["x", "z"]), ("other.txt", ["y", "z"])):
        (files / name).write_text("\n".join(texts) + "\n")
    (files / "p.txt").write_text("x y\nz\n")
    numbers = []
    for references in (
        ["--references", "one.txt", "--references", "other.txt"],
        ["--references", "two.json"],
    ):
        assert (
            main(["score", "p.txt", *references, "-m", "bleu1,length", "--json"]) == 0
        )
        numbers.append(
            [
                (record["value"], record["sizes"])
                for record in json.loads(capsys.readouterr().out)["results"]
            ]
        )
    assert numbers[0] == numbers[1]
    assert (
        main(
            [
                "score",
                "p.txt",
                "--references",
                "one.txt",
                "other.txt",
                "-m",
                "length",
                "--json",
            ]
        )
        == 0
    )
    hint = (
        "other.txt is read as candidates; a further file of references needs an "
        "option of its own: --references other.txt"
    )
    assert hint in capsys.readouterr().err
    assert (
        main(
            [
                "score",
                "--references",
                "one.txt",
                "p.txt",
                "other.txt",
                "-m",
                "length",
                "--json",
            ]
        )
        == 0
    )
    assert "read as candidates" not in capsys.readouterr().err


def test_references_with_absolute_paths_of_images_are_scored(tmp_path, caplog):
    """Text metrics open no image; nothing outside of the files' folders is opened."""
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.png").write_bytes(b"x")
    folder = tmp_path / "captions"
    folder.mkdir()
    image = str(tmp_path / "images" / "1.png")
    records = [
        {"id": "1", "image": image, "references": ["a dog runs", "the dog"]},
        {"id": "2", "image": "/mnt/other/2.png", "references": ["a cat"]},
    ]
    (folder / "r.json").write_text(json.dumps(records))
    (folder / "a.json").write_text(json.dumps({"1": "a dog", "2": "a cat"}))
    files = [str(folder / "a.json"), "--references", str(folder / "r.json")]
    assert main(["score", *files, "-m", "rouge"]) == 0
    assert "1 of 2 examples name media outside of the folders" in caplog.text
