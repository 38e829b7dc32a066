"""``harness compare``: tables, clusters, JSON, refusals."""

from __future__ import annotations

import json

import pytest

import harness
from harness.cli.main import main

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 12},
    "models": [{"echo": {"n": n, "label": f"m{n}"}} for n in (1, 2, 4)],
    "metrics": ["length"],
}


@pytest.fixture
def run(project):
    harness.evaluate(SPEC, output="r")
    return "r"


def out(capsys, *arguments):
    assert main(["compare", *arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_all_pairs_of_a_run_with_clusters(run, capsys):
    text = out(capsys, run)
    for part in (
        "A = m1 B = m2",
        "A = m2 B = m4",
        "cluster",
        "better than",
        "systems that share a letter",
        "p Holm",
        "verdict",
    ):
        assert part in text
    assert "p BH" not in text and "sign p" not in text
    every_column = out(capsys, run, "--all")
    assert (
        "p BH" in every_column
        and "sign p" in every_column
        and "A>B/=/A<B" in every_column
    )
    for note in (
        "12 examples; p: approximate randomisation, 4,096 (all patterns) draws",
        "systems that share a letter",
    ):
        assert text.count(note) == 1, "the tables share their notes"


@pytest.mark.slow
def test_many_pairs_are_printed_on_request(project, capsys):
    models = [{"echo": {"n": n, "label": f"m{n}"}} for n in range(1, 7)]
    harness.evaluate({**SPEC, "models": models}, output="r")
    text = out(capsys, "r")
    assert "15 pairs of systems; --pairs prints each of them" in text
    assert "A = m1" not in text
    assert "A = m1" in out(capsys, "r", "--pairs")


def test_one_pair_shows_where_it_differs_most(run, capsys):
    text = out(capsys, f"{run}::m1", f"{run}::m4")
    assert "Largest differences of length:" in text
    assert "references a dog number" in text
    assert "Largest" not in out(capsys, f"{run}::m1", f"{run}::m4", "--examples", "0")


def test_json_has_rows_clusters_and_examples(run, capsys):
    assert main(["compare", f"{run}::m1", f"{run}::m2", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert set(content) == {"comparisons", "clusters", "examples"}
    assert content["comparisons"][0]["metric"] == "length"


def test_a_baseline_and_a_metric(run, capsys):
    text = out(capsys, run, "--baseline", "m4", "-m", "length")
    assert "B = m4" in text and "A = m1 B = m2" not in text


def test_metrics_are_a_list_with_commas_or_repeated(project, capsys):
    metrics = ["length", "rouge", {"distinct": {"n": [1, 2]}}]
    harness.evaluate(
        {**SPEC, "models": SPEC["models"][:2], "metrics": metrics}, output="r"
    )
    for arguments in (
        ("-m", "rouge,length"),
        ("-m", "rouge", "-m", "length"),
        ("-m", "ROUGE, Length"),
    ):
        text = out(capsys, "r", "--examples", "0", *arguments)
        assert (
            text.index("ROUGE-L (COCO)") < text.index("length")
            and "Distinct" not in text
        )
    assert main(["compare", "r", "-m", "rouge,lenght"]) == 2
    message = (
        "there is no metric 'lenght'; did you mean 'length'?; "
        "both systems have length, rouge, distinct1, distinct2"
    )
    assert message in capsys.readouterr().err


def test_identical_systems_are_said(project, capsys):
    models = [{"echo": {"n": 2, "label": name}} for name in ("one", "other")]
    harness.evaluate({**SPEC, "models": models}, output="r")
    assert "All differences are 0: the systems have the same numbers." in out(
        capsys, "r"
    )


def test_forced_comparisons_say_so(run, project, capsys):
    harness.evaluate({**SPEC, "dataset": {"reader": "words", "count": 13}}, output="s")
    assert main(["compare", "r", "s"]) == 2
    assert "read different data" in capsys.readouterr().err
    assert "--force: r and s read different data" in out(capsys, "r", "s", "--force")


def test_mistakes_are_one_line(run, project, capsys):
    harness.evaluate({**SPEC, "models": ["echo"]}, output="single")
    for arguments, message in (
        (["nowhere"], "no run here"),
        (["single"], "holds one system; give two runs"),
        (["r::m9"], "has no model 'm9'; models are m1, m2, m4"),
        (
            ["r", "--examples", "2"],
            "--examples belongs to one pair of systems; there are 3",
        ),
        (["r", "-m", "lenght"], "no metric 'lenght'; did you mean 'length'"),
    ):
        assert main(["compare", *arguments]) == 2
        error = capsys.readouterr().err
        assert message in error and len(error.strip().splitlines()) == 1


def test_formats(run, capsys):
    import csv
    import io

    assert main(["compare", run, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["system_a"], row["system_b"]) for row in rows] == [
        ("m1", "m2"),
        ("m1", "m4"),
        ("m2", "m4"),
    ]
    assert float(rows[0]["difference"]) == -0.5
    assert main(["compare", run, "--format", "latex"]) == 0
    assert r"\toprule" in capsys.readouterr().out
    assert "| system A | system B | metric" in out(capsys, run, "--format", "markdown")
