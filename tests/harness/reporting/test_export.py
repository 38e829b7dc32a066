"""Tables of runs as files."""

from __future__ import annotations

import csv
import json

import pytest

import harness
from harness import page
from harness.cli.main import main
from harness.contracts import MeanMetric, MetricSpec
from harness.errors import HarnessError, InputError
from harness.registry import current
from harness.reporting import export as files
from harness.reporting.export import METHOD_NOTE, verdict_table, write_tables
from harness.run.finished import Run
from harness.rundir.artifact_key import ArtifactKey
from harness.rundir.artifacts import MemoryArtifacts
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable
from harness.spec.models import ViewSpec

DIRECTIONS = {"up": True, "down": False, "either": None}
VIEW = {"plot": "verdicts", "y": "*", "against": "base"}
SPEC = {
    "task": "who",
    "dataset": {"reader": "words"},
    "metrics": ["length"],
    "bootstrap": {"samples": 0},
    "models": [
        {"echo": {"label": "short", "n": 1}},
        {"echo": {"label": "long", "n": 3}},
    ],
    "views": [
        {"plot": "verdicts", "y": "length", "against": "short", "title": "Longer?"}
    ],
}


def test_every_table_of_a_run_is_a_file_in_each_format(project):
    views = [
        {"plot": "table", "title": "All results: 1"},
        {"plot": "line", "y": "length"},
        {"plot": "texts", "y": "length", "examples": 2},
    ]
    harness.evaluate("spec.yaml", views=views, output="r")
    files = write_tables(["r"], project / "tables")
    assert [file.name for file in files] == [
        "results.csv",
        "results.md",
        "results.tex",
        "results.typ",
        "01-all-results-1.csv",
        "01-all-results-1.md",
        "01-all-results-1.tex",
        "01-all-results-1.typ",
        "03-length.csv",
        "03-length.md",
        "03-length.typ",
    ]
    starts = {
        file.name: file.read_text(encoding="utf-8").split("\n")[0] for file in files
    }
    assert starts["01-all-results-1.md"] == "# All results: 1" and not starts[
        "results.md"
    ].startswith("# ")
    assert (
        starts["01-all-results-1.tex"].startswith("% needs")
        and starts["01-all-results-1.typ"] == "// All results: 1"
    )
    rows = list(csv.reader(files[4].open()))
    assert rows[1][0] == "length" or "length" in rows[0]
    texts = list(csv.reader(files[8].open()))
    assert len({row[0] for row in texts[1:]}) == 2
    (project / "again").mkdir()
    harness.evaluate("spec.yaml", views=views, output="s")
    names = [file.name for file in write_tables(["r", "s"], project / "again")]
    assert names == [f"{run}-words-{file.name}" for run in (1, 2) for file in files], (
        "runs of one task do not overwrite each other"
    )


def test_names_of_files_are_of_sixty_letters_at_most_and_of_one_at_least(project):
    titles = ["A" * 61, "B" * 60, "?!", "- x (y)_z -"]
    harness.evaluate(
        "spec.yaml",
        views=[{"plot": "table", "title": title} for title in titles],
        output="r",
    )
    stems = dict.fromkeys(file.stem for file in write_tables(["r"], project / "tables"))
    assert list(stems) == [
        "results",
        "01-" + "a" * 60,
        "02-" + "b" * 60,
        "03-view",
        "04-x-y-z",
    ]


def test_runs_of_judgments_have_a_league_and_a_table_of_each_set(judged_runs, tmp_path):
    for runs, names in (
        (["out/one"], ["judgments-one"]),
        (["out/one", "out/two"], ["1-judgments-one", "2-judgments-two"]),
    ):
        files = write_tables(runs, tmp_path / f"tables{len(runs)}")
        assert list(dict.fromkeys(file.stem for file in files)) == ["league", *names]
        assert {file.suffix for file in files} == {".csv", ".md", ".tex", ".typ"}


class Fixed(MeanMetric):
    """The mean of given scores."""

    def __init__(self, *, name: str, higher_is_better: bool | None) -> None:
        self.spec = MetricSpec(name, higher_is_better)


def table(columns, monkeypatch, sizes=None, **changes):
    samples = SampleTable(columns)
    entries = [
        {
            "name": name,
            "label": name,
            "params": {"name": name, "higher_is_better": direction},
            "signature": name,
        }
        for name, direction in DIRECTIONS.items()
    ]
    records = []
    artifacts = MemoryArtifacts()
    for system in samples.systems:
        for name, direction in DIRECTIONS.items():
            key = ArtifactKey.of(name, system.model, system.decoding_key, name)
            artifacts.write_arrays(key, {"stats": system.scores(name)[:, None]})
            records.append(
                ResultRecord(
                    model=system.model,
                    metric=name,
                    higher_is_better=direction,
                    decoding=system.decoding,
                    statistics=key.stem,
                    sizes={"candidates": sizes[system.model]} if sizes else None,
                    depends_on=("candidates",) if sizes else None,
                )
            )
    monkeypatch.setattr(
        type(current()),
        "create_to_read",
        lambda self, kind, name, params: Fixed(**params),
    )
    run = Run(
        Provenance({"metrics": entries}), tuple(records), samples, artifacts=artifacts
    )
    return verdict_table(ViewSpec.model_validate({**VIEW, **changes}), run)


def samples(**more):
    """Eight examples; ``good`` is larger everywhere, ``same`` now larger,
    now smaller.
    """
    base = [float(i) for i in range(8)]
    values = {
        "base": base,
        "good": [x + 1 for x in base],
        "same": [x + (-1) ** i for i, x in enumerate(base)],
    }
    column = [value for name in values for value in values[name]]
    return {
        "model": [name for name in values for _ in base],
        "decoding": ["{}"] * 24,
        "example": list("abcdefgh") * 3,
        "candidates": [["x"]] * 24,
        "references": [["x"]] * 24,
        "up": column,
        "down": column,
        "either": column,
        **more,
    }


def test_better_follows_the_direction_of_the_metric(monkeypatch):
    view = table(samples(), monkeypatch)
    # a metric without a direction has no better
    assert view.headers == ["against base", "up", "down"]
    assert ["good", "better +1.0000", "worse +1.0000"] in view.rows
    assert ["same", *["= 0.0000 (p 1.0000)"] * 2] in view.rows


def test_a_smaller_number_is_worse_or_better(monkeypatch):
    data = samples()
    smaller = [value - 1 for value in data["up"][:8]]
    view = table(
        {
            **data,
            **{
                name: [*data["up"][:8], *smaller, *data["up"][16:]]
                for name in DIRECTIONS
            },
        },
        monkeypatch,
    )
    assert ["good", "worse -1.0000", "better -1.0000"] in view.rows
    assert view.title == "all metrics" and view.notes == [f"({METHOD_NOTE})"]
    told = table(samples(), monkeypatch, note="A note.", y=["down"])
    assert told.notes == [f"A note. ({METHOD_NOTE})"] and told.headers == [
        "against base",
        "down",
    ]


def test_files_of_views_have_short_names(project):
    views = [
        {"plot": "table", "title": "A long title: " + "x" * 100},
        {"plot": "table", "title": "–"},
    ]
    harness.evaluate("spec.yaml", views=views, output="r")
    written = [file.name for file in write_tables(["r"], project / "t")]
    assert [name for name in written if name.endswith(".csv")] == [
        "results.csv",
        "01-a-long-title-" + "x" * 47 + ".csv",
        "02-view.csv",
    ]


def test_a_verdict_has_the_difference_and_the_p_value_of_one_that_is_not_significant(
    monkeypatch,
):
    """Of the 32 patterns of signs of five equal differences,
    2 have a mean as far from zero: p is 1 / 16.
    """
    data = samples()
    data["up"] = data["up"][:16] + [
        x + 0.5 * (i > 2) for i, x in enumerate(data["up"][:8])
    ]
    view = table(data, monkeypatch, title="A title", note="A note.", y=["up", "down"])
    good, other = view.rows
    assert good == ["good", "better +1.0000", "worse +1.0000"]
    assert (
        other[0] == "same"
        and other[1].startswith("= +0.3125 (p 0.06")
        and other[2] == "= 0.0000 (p 1.0000)"
    )
    assert (view.title, view.headers, view.alignment) == (
        "A title",
        ["against base", "up", "down"],
        "lrr",
    )
    assert view.notes == [
        "A note. (difference of the numbers of the table; approximate randomisation, "
        "10,000 draws, p adjusted by Holm over the rows of a "
        "metric, level 0.05)"
    ]
    assert (
        table(samples(), monkeypatch).notes[0].startswith("(difference of the numbers")
    )


def test_sets_of_other_sizes_are_not_compared(monkeypatch):
    data = samples(candidates=[["x"]] * 8 + [["x", "y"]] * 8 + [["x"]] * 8)
    sizes = {"base": [1, 1], "good": [2, 2], "same": [1, 1]}
    view = table(data, monkeypatch, sizes=sizes)
    assert [row[:2] for row in view.rows] == [
        ["good", "sizes differ"],
        ["same", "= 0.0000 (p 1.0000)"],
    ]


def test_the_order_of_rows_and_missing_scores_do_not_matter(monkeypatch):
    data = samples()
    order = list(reversed(range(24)))
    turned = {name: [column[i] for i in order] for name, column in data.items()}
    assert sorted(table(turned, monkeypatch).rows) == sorted(
        table(data, monkeypatch).rows
    )
    holes = samples(up=[None] * 8 + samples()["up"][8:])
    assert table(holes, monkeypatch).headers[1:] == ["down"]
    assert ["good", "–"] in table(holes, monkeypatch, y="up").rows


def test_decodings_are_compared_with_the_same_of_the_baseline(monkeypatch):
    data = {name: column * 2 for name, column in samples().items()}
    data["decoding"] = ["{}"] * 24 + ['{"temperature": 0.5}'] * 24
    view = table(data, monkeypatch)
    assert [label for label, *_ in view.rows] == [
        "good T=1",
        "same T=1",
        "good T=0.5",
        "same T=0.5",
    ]


def test_unknown_names_are_refused(monkeypatch):
    with pytest.raises(HarnessError, match="no model 'bace'; did you mean 'base'"):
        table(samples(), monkeypatch, against="bace")
    with pytest.raises(HarnessError, match="asks for 'uppp'; did you mean 'up'"):
        table(samples(), monkeypatch, y="uppp")


@pytest.mark.slow
def test_a_run_shows_them_in_the_terminal_on_the_page_and_as_files(project, capsys):
    import yaml

    project.joinpath("s.yaml").write_text(yaml.safe_dump(SPEC))
    assert main(["run", "s.yaml", "--output", "r"]) == 0
    shown = capsys.readouterr().out
    assert "better +" in shown
    assert "approximate randomisation, 10,000 draws" in " ".join(shown.split())
    assert "better +" in page.write(["r"]).read_text()
    files.write_tables(["r"], project / "t")
    rows = list(csv.reader((project / "t" / "01-longer.csv").open(encoding="utf-8")))
    assert rows[0] == ["against short", "length"]
    assert rows[1][0] == "long" and rows[1][1].startswith("better +")


@pytest.mark.parametrize(
    ("view", "told"),
    [
        ({"plot": "verdicts", "y": "length"}, "go together"),
        ({"plot": "bar", "y": "length", "against": "short"}, "go together"),
        (
            {"plot": "verdicts", "y": "length", "against": "shrt"},
            "compares with the model 'shrt'; did you mean 'short'",
        ),
    ],
)
def test_mistakes_are_told_before_the_run(view, told, project):
    with pytest.raises(InputError, match=told):
        harness.evaluate({**SPEC, "views": [view]})


def test_heads_are_the_names_of_metrics_and_data_have_code_labels(tmp_path):
    models = {name: str(tmp_path / f"{name}.json") for name in ("one", "two")}
    for name in models:
        (tmp_path / f"{name}.json").write_text(
            json.dumps({str(k): [f"a {name} cat {k}"] for k in range(4)})
        )
    (tmp_path / "data.jsonl").write_text(
        "".join(
            json.dumps({"id": str(k), "references": ["a one cat"]}) + "\n"
            for k in range(4)
        )
    )
    run = harness.evaluate(
        {
            "task": "t",
            "dataset": {"reader": "jsonl", "path": str(tmp_path / "data.jsonl")},
            "metrics": ["bleu4", "rouge"],
            "models": [
                {"predictions": {"path": path, "label": name}}
                for name, path in models.items()
            ],
            "bootstrap": {"samples": 0},
        }
    )
    shown = verdict_table(
        ViewSpec.model_validate(
            {"plot": "verdicts", "y": ["bleu4", "rouge"], "against": "one"}
        ),
        run,
    )
    assert (shown.title, shown.headers) == (
        "BLEU-4, ROUGE-L (COCO)",
        ["against one", "BLEU-4", "ROUGE-L (COCO)"],
    )
    assert shown.data[0] == ["against one", "bleu4", "rouge"]
