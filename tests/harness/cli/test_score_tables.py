"""``harness score`` and ``harness compare`` with --wide, --by and --percent."""

from __future__ import annotations

import csv
import io
import json

import pytest

from harness.cli.main import main
from tests.support.sliced import write_files

DOMAINS = ["domain=in", "domain=near", "domain=out"]


@pytest.fixture
def score(tmp_path, monkeypatch, capsys):
    """A function that returns exit code, output and errors of ``harness score`` on two
    files.
    """
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(*arguments, references="refs.json"):
        code = main(
            [
                "score",
                "A.json",
                "B.json",
                "--references",
                references,
                "-m",
                "bleu1,cider,caption-length",
                *arguments,
            ]
        )
        return code, *capsys.readouterr()

    return run


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.slow
def test_wide_is_systems_by_metrics_in_every_format(score):
    code, out, error = score("--wide", "--format", "csv")
    assert (code, error) == (0, "")
    rows = rows_of(out)
    assert [list(row) for row in rows] == [
        ["system", "bleu1", "cider", "caption-length"]
    ] * 2
    assert [row["system"] for row in rows] == ["A", "B"]
    values = {
        record["model"]: record["value"]
        for record in json.loads(score("--json")[1])["results"]
        if record["metric"] == "cider"
    }
    assert {row["system"]: float(row["cider"]) for row in rows} == values

    markdown = score("--wide", "--format", "markdown")[1]
    assert "| system | BLEU-1 ↑ | CIDEr-D ↑ | Caption length |" in markdown
    latex = score("--wide", "--format", "latex")[1]
    assert (
        r"{system} & {BLEU-1 $\uparrow$} & {CIDEr-D $\uparrow$} & {Caption length} \\"
        in latex
    )
    assert r"A & \bfseries" in latex
    assert "system" in score("--wide", "--format", "typst")[1]
    table = score("--wide")[1]
    assert [
        line.split("│")[0].strip() for line in table.splitlines() if "│" in line
    ] == ["A", "B"]
    assert "difference" not in table


def test_wide_of_one_system_has_nothing_in_bold(tmp_path, score, capsys):
    assert (
        main(
            [
                "score",
                "A.json",
                "--references",
                "refs.json",
                "-m",
                "rouge",
                "--wide",
                "--format",
                "markdown",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "| A | " in out
    assert "**" not in out


@pytest.mark.slow
def test_percent_says_what_is_times_100(score):
    plain, scaled = (
        rows_of(score("--wide", "--format", "csv", *options)[1])
        for options in ([], ["--percent"])
    )
    for before, after in zip(plain, scaled):
        assert float(after["bleu1"]) == pytest.approx(100 * float(before["bleu1"]))
        assert float(after["cider"]) == pytest.approx(100 * float(before["cider"]))
        assert after["caption-length"] == before["caption-length"]
    for options in ((), ("--wide",), ("--format", "latex"), ("--by", "domain")):
        assert (
            "values × 100: BLEU-1, CIDEr-D; as they are: Caption length"
            in score("--percent", *options)[1]
        )
    results = [
        json.loads(score("--json", *options)[1])["results"]
        for options in ([], ["--percent"])
    ]
    first, second = ([record["value"] for record in records] for records in results)
    assert first == second


@pytest.mark.slow
def test_by_gives_values_and_tests_of_slices(score):
    code, out, error = score("--by", "domain")
    assert (code, error) == (0, "")
    assert all(name in out for name in DOMAINS)
    assert "adjusted for the 3 comparisons of a metric in all 3 slices together" in out
    assert (
        "document frequencies of CIDEr, is fitted on those of all examples"
        in " ".join(out.split())
    )
    rows = rows_of(score("--by", "domain", "--format", "csv")[1])
    assert [row["slice"] for row in rows[:8]] == [
        "all",
        "all",
        *(name for name in DOMAINS for _ in "AB"),
    ]
    assert [bool(row["p_holm"]) for row in rows[:8]] == [False, True] * 4


def test_by_in_json_has_keys_of_its_own(score):
    plain, sliced = (
        json.loads(score("--json", *options)[1]) for options in ([], ["--by", "domain"])
    )
    assert set(plain) == {"results", "failed", "comparisons", "notes", "readings"}
    assert set(sliced) == {*plain, "slices", "comparisons_of_slices"}
    timeless = [
        [{**record, "seconds": 0} for record in data["results"]]
        for data in (plain, sliced)
    ]
    assert timeless[0] == timeless[1]
    assert sliced["comparisons"] == plain["comparisons"]
    assert [
        record["slice"]
        for record in sliced["slices"]
        if (record["model"], record["metric"]) == ("B", "cider")
    ] == DOMAINS
    assert [
        row["slice"]
        for row in sliced["comparisons_of_slices"]
        if row["metric"] == "cider"
    ] == DOMAINS


def test_by_in_a_wide_table(score):
    rows = rows_of(score("--by", "domain", "--wide", "--format", "csv")[1])
    assert [(row["slice"], row["system"]) for row in rows] == [
        (part, name) for part in ("all", *DOMAINS) for name in "AB"
    ]


def test_several_columns_and_nested_names(score):
    rows = rows_of(
        score(
            "--by",
            "place.domain",
            "--by",
            "place.half",
            "--format",
            "csv",
            references="rows.jsonl",
        )[1]
    )
    assert list(dict.fromkeys(row["slice"] for row in rows)) == [
        "all",
        "place.domain=in",
        "place.domain=near",
        "place.domain=out",
        "place.half=True",
        "place.half=False",
    ]


@pytest.mark.parametrize(
    ("column", "references", "message"),
    [
        (
            "domian",
            "refs.json",
            "the images have no field 'domian'; did you mean 'domain'?; "
            "they have id, file_name, domain",
        ),
        (
            "unque",
            "rows.jsonl",
            "--by: no example has 'unque' in its metadata; did you mean 'unique'?; "
            "it has place, unique, tags",
        ),
        (
            "unique",
            "rows.jsonl",
            "--by: 'unique' has another value for each of 35 examples",
        ),
        ("id", "refs.json", "--by: 'id' has another value for each of 35 examples"),
        ("tags", "rows.jsonl", "--by: 'tags' holds list"),
        ("place", "rows.jsonl", "--by: 'place' holds dict"),
    ],
)
def test_columns_that_make_no_slices(score, column, references, message):
    code, out, error = score("--by", column, references=references)
    assert (code, out) == (2, "")
    assert message in error


@pytest.fixture
def run_folder(score):
    """A finished run of two systems with domains."""
    assert score("--by", "domain", "--output", "run")[0] == 0
    return "run"


def test_compare_within_slices(run_folder, capsys):
    assert (
        main(
            ["compare", run_folder, "--by", "domain", "-m", "cider", "--format", "csv"]
        )
        == 0
    )
    rows = rows_of(capsys.readouterr().out)
    assert [(row["slice"], row["system_a"], row["system_b"]) for row in rows] == [
        (name, "A", "B") for name in DOMAINS
    ]
    assert main(["compare", run_folder, "--by", "domain"]) == 0
    out = capsys.readouterr().out
    assert (
        "adjusted over all slices and pairs of systems of a metric together"
        in " ".join(out.split())
    )
    assert out.count("domain=near") == 3
    assert main(["compare", run_folder, "--by", "domain", "--json"]) == 0
    assert {
        row["slice"] for row in json.loads(capsys.readouterr().out)["comparisons"]
    } == set(DOMAINS)


def test_compare_times_100(run_folder, capsys):
    main(["compare", run_folder, "-m", "cider,caption-length", "--format", "csv"])
    plain = rows_of(capsys.readouterr().out)
    main(
        [
            "compare",
            run_folder,
            "-m",
            "cider,caption-length",
            "--format",
            "csv",
            "--percent",
        ]
    )
    scaled = rows_of(capsys.readouterr().out)
    for name in ("a", "b", "difference", "low", "high"):
        assert float(scaled[0][name]) == pytest.approx(100 * float(plain[0][name]))
    assert scaled[1] == plain[1]
    assert scaled[0]["p_value"] == plain[0]["p_value"]
    assert main(["compare", run_folder, "-m", "cider", "--percent"]) == 0
    assert "values × 100: CIDEr-D" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "other"),
    [
        (["run"], "a second run"),
        (["--equalise"], "--equalise"),
        (["--anytime"], "--anytime"),
    ],
)
def test_slices_of_two_runs_are_refused(run_folder, capsys, options, other):
    assert main(["compare", run_folder, *options, "--by", "domain"]) == 2
    assert f"cannot be combined with {other}" in capsys.readouterr().err
