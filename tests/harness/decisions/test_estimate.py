"""Human scores from few labels, and plans of labels, on runs of invented captions."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.cli.main import main
from harness.decisions.statistics.bounded_mean import betting_interval
from harness.decisions.statistics.prediction_powered import powered_mean
from harness.errors import HarnessError
from harness.rundir.provenance import Provenance
from harness.rundir.samples import SampleTable

SIZE = 60
NAMES = ("a", "b")


def lengths(system):
    """Numbers of words of the captions of a system."""
    rng = np.random.default_rng([3, system])
    return rng.integers(3, 12, SIZE)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of two systems and 60 examples, two of each video,
    with the number of words as a metric.
    """
    monkeypatch.chdir(tmp_path)
    lines = [
        {"id": f"00{k}", "references": ["a dog runs on the beach"], "video": k // 2}
        for k in range(SIZE)
    ]
    (tmp_path / "refs.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )
    for system, name in enumerate(NAMES):
        captions = [
            {"id": f"00{k}", "caption": " ".join(["dog"] * n)}
            for k, n in enumerate(lengths(system))
        ]
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in captions)
        )
    assert (
        main(
            [
                "score",
                "a.jsonl",
                "b.jsonl",
                "--references",
                "refs.jsonl",
                "-m",
                "caption-length,rouge",
                "--output",
                "run",
            ]
        )
        == 0
    )
    return "run"


def human(system, k):
    return 0.5 * lengths(system)[k] + ((k * 7 + system * (k % 4)) % 5) / 4


def write_labels(path, rows, **columns):
    rows = [
        {"id": f"00{k}", "system": NAMES[s], "score": human(s, k), **columns}
        for s, k in rows
    ]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def test_systems_and_their_difference_are_estimated(run, tmp_path):
    labels = write_labels(
        "labels.csv", [(s, k) for s in (0, 1) for k in range(0, SIZE, 3)]
    )
    rows, notes = harness.estimate(run, labels, by=["caption-length"])
    assert [row.system for row in rows] == ["a", "b", "a - b"]
    assert notes == [
        "labels without probabilities: taken as a simple random sample of the examples"
    ]
    truth = [np.mean([human(s, k) for k in range(SIZE)]) for s in (0, 1)]
    for row, expected in zip(rows, [*truth, truth[0] - truth[1]]):
        assert row.powered.ci95[0] <= expected <= row.powered.ci95[1]
        assert (row.labels, row.examples) == (20, 60) and row.saved > 5
        assert np.diff(row.powered.ci95)[0] < 0.8 * np.diff(row.classical.ci95)[0]
    alone = [human(0, k) for k in range(0, SIZE, 3)]
    assert rows[0].classical.value == pytest.approx(np.mean(alone))
    assert rows[0].classical.standard_error == pytest.approx(
        np.std(alone, ddof=1) / np.sqrt(20)
    )
    finite, _ = harness.estimate(
        run, labels, by=["caption-length", "rouge"], baseline="a", population=True
    )
    assert [row.system for row in finite] == ["a", "b", "b - a"]
    assert finite[0].powered.standard_error < rows[0].powered.standard_error


def test_several_rows_of_a_caption_are_averaged_and_empty_scores_left_out(run):
    rows = [
        {"id": f"00{k}", "model": "a", "rating": human(0, k) + d}
        for k in range(0, SIZE, 3)
        for d in (-1, 1)
    ]
    rows.append({"id": "001", "model": "a", "rating": None})
    with open("labels.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    (row,), _ = harness.estimate(run, "labels.jsonl", by=["caption-length"])
    (single,), _ = harness.estimate(
        run,
        write_labels("l.csv", [(0, k) for k in range(0, SIZE, 3)]),
        by=["caption-length"],
    )
    assert row.powered.value == pytest.approx(single.powered.value) and row.labels == 20


def test_a_plan_has_probabilities_and_strata_that_the_estimate_reads(run, capsys):
    plan = harness.label_plan(run, 30, by="caption-length", strata=3)
    assert len(plan) == 60 and len({row["id"] for row in plan}) == 30
    assert (
        len({row["stratum"] for row in plan}) == 3
        and plan[0]["caption"].split()[0] == "dog"
    )
    means = {f"00{k}": (lengths(0)[k] + lengths(1)[k]) / 2 for k in range(SIZE)}
    for bound in {row["stratum"] for row in plan}:
        following = min(
            [row["stratum"] for row in plan if row["stratum"] > bound], default=np.inf
        )
        members = [name for name, mean in means.items() if bound <= mean < following]
        chosen = {row["id"] for row in plan if row["stratum"] == bound}
        assert chosen <= set(members)
        assert {row["probability"] for row in plan if row["stratum"] == bound} == {
            len(chosen) / len(members)
        }
    assert plan == harness.label_plan(run, 30, by="caption-length", strata=3)
    assert plan != harness.label_plan(run, 30, by="caption-length", strata=3, seed=1)
    assert {row["probability"] for row in harness.label_plan(run, 15)} == {0.25}
    capsys.readouterr()
    assert (
        main(
            [
                "label-plan",
                run,
                "--budget",
                "40",
                "--by",
                "caption-length",
                "-o",
                "plan.csv",
            ]
        )
        == 0
    )
    assert (
        capsys.readouterr().out
        == "plan.csv: 40 examples, 80 captions; fill in the column score\n"
    )
    with open("plan.csv") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["score"] = human(NAMES.index(row["system"]), int(row["id"]))
    contents = []
    for error in (0.0, 1e-10):  # a spreadsheet may round
        rounded = [{**row, "stratum": float(row["stratum"]) + error} for row in rows]
        with open("labels.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rounded)
        assert (
            main(
                [
                    "estimate",
                    run,
                    "--labels",
                    "labels.csv",
                    "--by",
                    "caption-length",
                    "--json",
                ]
            )
            == 0
        )
        contents.append(json.loads(capsys.readouterr().out))
    content = contents[0]
    assert contents[1] == content
    assert content["notes"] == [] and len(content["estimates"]) == 3
    assert content["estimates"][0]["powered"]["ci95"][0] <= np.mean(
        [human(0, k) for k in range(SIZE)]
    )
    with pytest.raises(
        HarnessError, match="its strata are not those of 'rouge' in run"
    ):
        harness.estimate(run, "labels.csv", by=["rouge"])


def test_the_table(run, capsys):
    labels = write_labels(
        "labels.csv",
        [(s, k) for s in (0, 1) for k in range(0, SIZE, 3)],
        probability=0.3,
    )
    capsys.readouterr()
    assert main(["estimate", run, "--labels", labels, "--by", "caption-length"]) == 0
    text = capsys.readouterr().out
    assert (
        "human score by caption-length" in text
        and "a - b" in text
        and "random sample" not in text
    )
    assert (
        main(
            [
                "estimate",
                run,
                "--labels",
                labels,
                "--by",
                "caption-length",
                "--format",
                "csv",
            ]
        )
        == 0
    )
    assert [row[0] for row in csv.reader(io.StringIO(capsys.readouterr().out))] == [
        "system",
        "a",
        "b",
        "a - b",
    ]


def test_labels_of_different_examples_give_no_difference(run):
    rows, notes = harness.estimate(
        run,
        write_labels("l.csv", [(s, k) for k in range(SIZE) for s in [k % 2]]),
        by=["caption-length"],
    )
    assert [row.system for row in rows] == ["a", "b"]
    assert notes[-1] == "a - b: 0 labels of the same examples; expected at least 3"


def test_examples_of_one_cluster_are_not_independent(run):
    labels = write_labels("l.csv", [(0, k) for k in range(SIZE)])
    (row,), _ = harness.estimate(run, labels, by=["caption-length"])
    finished = harness.Run.open(run)
    examples = finished.samples.texts("example")
    meta = [json.dumps({"video": int(name) // 2}) for name in examples]
    samples = SampleTable({**finished.samples.to_dict(), "meta": meta})
    provenance = Provenance(
        {
            **finished.provenance.content,
            "spec": {**finished.provenance.spec, "cluster": "video"},
        }
    )
    (clustered,), _ = harness.estimate(
        replace(finished, samples=samples, provenance=provenance),
        labels,
        by=["caption-length"],
    )
    scores = np.array([human(0, k) for k in range(SIZE)]).reshape(-1, 2).mean(axis=1)
    assert clustered.classical.standard_error == pytest.approx(
        np.std(scores, ddof=1) / np.sqrt(SIZE / 2)
    )
    assert clustered.classical.value == pytest.approx(row.classical.value)


def test_a_metric_that_was_fitted_on_the_labels_is_refused(project):
    (project / "l.csv").write_text("id,score\ne0,1\ne1,2\ne2,3\n")
    spec = {
        "task": "w",
        "dataset": {"reader": "words"},
        "models": ["echo"],
        "metrics": [{"length": {"undefined": ["l.csv"]}}],
    }
    run = harness.evaluate(spec, output="r")
    with pytest.raises(
        HarnessError,
        match=r"' was fitted on l.csv: it does not predict labels that it has seen",
    ):
        harness.estimate("r", "l.csv", by=[run.records[0].metric])
    (project / "l.csv").write_text("id,score\ne0,1\ne1,2\ne2,4\n")
    (project / "m.csv").write_text("id,score\ne0,1\ne1,2\ne2,3\n")
    assert harness.estimate("r", "m.csv", by=[run.records[0].metric])[0][0].labels == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "id,system,score\n001,a,3\n00x,a,4\n",
            "l.csv:3: run has no example '00x'; did you mean '00",
        ),
        ("id,system,score\n001,c,3\n", "run has no system 'c'; there are a, b"),
        ("id,score\n001,3\n", "l.csv: no column 'system'; found id, score"),
        ("id,system\n001,a\n", "l.csv: no column 'score'; found id, system"),
        (
            "id,system,score\n001,a,3\n",
            "a: 1 label of the same examples; expected at least 3",
        ),
        ("id,system,score\n001,a,good\n", "'score' is good; expected a number"),
        (
            "id,system,score,probability\n001,a,3,0\n",
            "'probability' is 0; expected more than 0 and at most 1",
        ),
        (
            "id,system,score,probability\n001,a,3,\n",
            "'probability' is empty; expected more than 0 and at most 1",
        ),
        (
            "id,system,score\n001,a,3\n002,a,4\n003,a,3\n",
            "a: 3 labels are too few for their strata, clusters and metrics",
        ),
        ("id,system,score\n001,a,\n", "l.csv has no labels of 'run'"),
    ],
)
def test_wrong_labels_are_one_line(run, tmp_path, capsys, content, message):
    (tmp_path / "l.csv").write_text(content)
    capsys.readouterr()
    assert (
        main(["estimate", run, "--labels", "l.csv", "--by", "caption-length,rouge"])
        == 2
    )
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["label-plan", "run", "--budget", "61"],
            "--budget is 61; expected 2, two for each stratum, to 60, all examples",
        ),
        (
            ["label-plan", "run", "--budget", "5", "--by", "caption-length"],
            "--budget is 5; expected 10, two for each stratum, to 60",
        ),
        (
            ["label-plan", "run", "--budget", "9", "--by", "roug"],
            "no scores per example of 'roug'; did you mean 'rouge'?",
        ),
        (
            ["estimate", "run", "--labels", "none.csv", "--by", "caption-length"],
            "none.csv: no such file of labels",
        ),
        (
            ["estimate", "run", "--labels", "l.csv"],
            "the following arguments are required: --by",
        ),
        (
            [
                "estimate",
                "run",
                "--labels",
                "l.csv",
                "--by",
                "rouge",
                "--baseline",
                "c",
            ],
            "l.csv has no labels of 'c'; it has those of a",
        ),
    ],
)
def test_mistakes_are_one_line(run, capsys, arguments, message):
    write_labels("l.csv", [(0, k) for k in range(9)])
    capsys.readouterr()
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_few_labels_have_no_interval_and_the_reason(run, capsys):
    labels = write_labels("l.csv", [(s, k) for s in (0, 1) for k in range(0, SIZE, 6)])
    rows, notes = harness.estimate(run, labels, by=["caption-length"])
    assert all(
        row.powered.ci95 is None and row.classical.ci95 is None and row.saved is None
        for row in rows
    )
    assert rows[0].powered.reason == "10 labels; an interval needs 20"
    assert rows[0].powered.value == pytest.approx(
        np.mean([human(0, k) for k in range(SIZE)]), abs=0.5
    )
    assert notes[1:] == [
        "a, b, a - b: no interval: 10 labels; an interval needs 20",
        "bounds=(LOW, HIGH), the ends of the scale of the scores, "
        "gives the labels alone an interval at every number of labels",
    ]
    capsys.readouterr()
    assert (
        main(
            [
                "estimate",
                run,
                "--labels",
                labels,
                "--by",
                "caption-length",
                "--format",
                "csv",
            ]
        )
        == 0
    )
    output = capsys.readouterr()
    table = list(csv.DictReader(io.StringIO(output.out)))
    assert (
        "harness: a, b, a - b: no interval: 10 labels; an interval needs 20\n"
        in output.err
    )
    assert [row["95 % interval"] for row in table] == ["–"] * 3 and [
        row["saved"] for row in table
    ] == ["–"] * 3
    assert main(["estimate", run, "--labels", labels, "--by", "caption-length"]) == 0
    assert (
        "a, b, a - b: no interval: 10 labels; an interval needs 20"
        in capsys.readouterr().out
    )
    assert (
        main(["estimate", run, "--labels", labels, "--by", "caption-length", "--json"])
        == 0
    )
    estimates = json.loads(capsys.readouterr().out)["estimates"]
    assert estimates[0]["powered"]["ci95"] is None and estimates[0]["saved"] is None
    assert estimates[0]["powered"]["reason"] == "10 labels; an interval needs 20"


def test_more_metrics_need_more_labels_than_the_labels_alone(run):
    labels = write_labels("l.csv", [(0, k) for k in range(0, SIZE, 3)])
    rows, notes = harness.estimate(run, labels, by=["caption-length", "rouge"])
    assert rows[0].powered.ci95 is None and rows[0].classical.ci95 is not None
    assert notes[1:] == ["a: no interval: 20 labels; an interval needs 21"]


def test_equal_labels_have_no_interval_but_within_bounds(run):
    with open("l.csv", "w") as file:
        file.write(
            "id,system,score\n"
            + "".join(f"00{k},{name},1\n" for k in range(30) for name in NAMES)
        )
    rows, notes = harness.estimate(run, "l.csv", by=["caption-length"])
    assert [row.powered.reason for row in rows] == [
        "all 30 labels are 1",
        "all 30 labels are 1",
        "all 30 labels are 0",
    ]
    assert "a - b: no interval: all 30 labels are 0" in notes
    rows, notes = harness.estimate(run, "l.csv", by=["caption-length"], bounds=(0, 1))
    assert not any(note.startswith("bounds") for note in notes)
    assert [
        row.classical.ci95 == betting_interval(np.full(30, 1.0), 0.0, 1.0)
        for row in rows[:2]
    ] == [True, True]
    assert rows[2].classical.ci95 == betting_interval(np.zeros(30), -1.0, 1.0)
    assert rows[0].powered.ci95 is None


def test_bounds_hold_for_both_intervals(run, capsys):
    labels = write_labels("l.csv", [(0, k) for k in range(0, SIZE, 2)])
    (free,), _ = harness.estimate(run, labels, by=["caption-length"])
    scores = [human(0, k) for k in range(0, SIZE, 2)]
    low = min(scores)
    high = max(scores)
    (row,), _ = harness.estimate(run, labels, by=["caption-length"], bounds=(low, high))
    assert row.powered == free.powered
    assert (
        row.classical.ci95 == betting_interval(np.array(scores), low, high)
        and row.classical.value == free.classical.value
    )
    assert (
        main(
            [
                "estimate",
                run,
                "--labels",
                labels,
                "--by",
                "caption-length",
                "--bounds",
                "0,9",
                "--json",
            ]
        )
        == 0
    )
    text = capsys.readouterr().out
    assert json.loads(text[text.index("{") :])["estimates"][0]["classical"][
        "ci95"
    ] == list(betting_interval(np.array(scores), 0.0, 9.0))


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ("0,4", "expected 0 to 4, the bounds"),
        (
            "5,1",
            "the bounds are 5 and 1; expected the smallest, "
            "then the largest score of the scale",
        ),
        ("0,inf", "the bounds are 0 and inf; expected the smallest"),
        ("5", "--bounds is '5'; expected LOW,HIGH"),
        (
            "rouge=0,1",
            "--bounds is 'rouge=0,1'; expected LOW,HIGH such as 1,5: "
            "all human scores have one scale",
        ),
    ],
)
def test_wrong_bounds_are_one_line(run, capsys, bounds, message):
    labels = write_labels("l.csv", [(0, k) for k in range(0, SIZE, 2)])
    capsys.readouterr()
    assert (
        main(
            [
                "estimate",
                run,
                "--labels",
                labels,
                "--by",
                "caption-length",
                "--bounds",
                bounds,
            ]
        )
        == 2
    )
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_labels_of_own_unequal_probabilities_have_no_interval_within_bounds(run):
    rows = [
        {
            "id": f"00{k}",
            "system": "a",
            "score": human(0, k),
            "probability": 0.1 + k / 100,
        }
        for k in range(0, SIZE, 2)
    ]
    with open("l.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (row,), notes = harness.estimate(run, "l.csv", by=["caption-length"], bounds=(0, 9))
    assert (
        row.classical.ci95 is None
        and row.classical.reason
        == "labels of unequal probabilities have no interval within bounds"
    )
    assert any(
        "labels alone: no interval: labels of unequal probabilities" in note
        for note in notes
    )
    (row,), notes = harness.estimate(run, "l.csv", by=["caption-length"])
    assert not any(note.startswith("bounds") for note in notes)


@pytest.mark.parametrize("lost", [(0, 1, 2), (3, 20), tuple(range(30))])
def test_an_undefined_score_of_a_metric_has_the_mean_of_the_others_as_prediction(
    run, lost
):
    labels = write_labels("l.csv", [(0, k) for k in range(0, SIZE, 2)])
    finished = harness.Run.open(run)
    models = finished.samples.texts("model")
    examples = finished.samples.texts("example")
    column = finished.samples.numbers("caption-length").copy()
    column[
        [model == "a" and int(name) in lost for model, name in zip(models, examples)]
    ] = np.nan
    samples = SampleTable(
        {**finished.samples.to_dict(), "caption-length": column.tolist()}
    )
    (row,), _ = harness.estimate(
        replace(finished, samples=samples), labels, by=["caption-length"]
    )

    scores = np.array([human(0, k) if k % 2 == 0 else np.nan for k in range(SIZE)])
    defined = ~np.isin(np.arange(SIZE), lost)
    filled = np.where(defined, lengths(0), lengths(0)[defined].mean())
    assert row.powered == powered_mean(scores, filled[:, None])
    assert row.powered.value != pytest.approx(
        powered_mean(scores, np.where(defined, lengths(0), 0.0)[:, None]).value,
        rel=1e-4,
    )
