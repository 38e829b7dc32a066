"""The league table: order, clusters, advice, published rows, pages and consoles."""

import json
import math

import pytest

from harness.cli.main import main
from harness.errors import InputError
from harness.reporting.league import League, LeagueSet, hundred, open_league, rate_text
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord


def one_set(name, values, statistic="kendall_c", form="captions", rates=(100.0, 10.0, 1.0), published=()):
    records = tuple(
        ResultRecord(
            model="", metric=metric, value=value, ci95=None if math.isnan(value) else (value - 0.1, value + 0.1), n=9,
            statistic=statistic, group="all",
            details={"headline": True, "cluster": cluster, "captions_per_second": rate, "against": {}},
        )
        for (metric, value, cluster), rate in zip(values, rates)
    )  # fmt: skip
    spec = {"judgments": {"form": form}, "published": list(published)}
    return LeagueSet(
        Provenance({"kind": "judgments", "task": f"judgments/{name}", "spec": spec, "data": {"examples": 3}}), records
    )


NAN = float("nan")
LEAGUE = League(
    (
        one_set("one", [("a", 0.5, 1), ("b", 0.45, 1), ("c", 0.1, 2)], published=[{"reference": "R", "values": {"a": 50.1, "d": [1, 2]}}]),
        one_set("two", [("a", 0.4, 2), ("b", 0.6, 1), ("c", NAN, None)]),
        one_set("three", [("a", 0.9, 1), ("b", 0.6, 2), ("c", 0.5, 2)], "accuracy", "foil"),
        one_set("four", [("a", 0.9, 1)], "auc"),
        one_set("five", [("a", 0.9, 1)], "accuracy", "pairs"),
        one_set("six", [("a", 0.9, 1)], "soft_pairwise_accuracy"),
    ),
    ("x: not there",),
)  # fmt: skip


def test_order_and_ranks():
    assert LEAGUE.metrics == ["a", "b", "c"]
    assert LEAGUE.mean_rank("b") == pytest.approx(4 / 3) and math.isnan(League(()).mean_rank("a"))
    assert [one.kind for one in LEAGUE.sets] == ["captions", "captions", "foil", "labels", "pairs", "systems"]


def test_advice_names_the_first_clusters_and_the_fastest():
    first = LEAGUE.advice()[0]
    assert first.sets == ("one", "two") and first.best == ("b (2 of 2 sets)",) and first.fastest == "b, 10/s"
    assert [item.best for item in LEAGUE.advice()[1:]] == [("a (1 of 1 sets)",)] * 4


def test_published_rows():
    (row,) = LEAGUE.sets[0].published()
    assert (row.text("a"), row.text("d"), row.text("b"), row.reference) == ("50.1", "1–2", "", "R")
    other = one_set("x", [("a", 0.5, 1)], published=[{"reference": "R", "values": {"a": 1}, "statistic": "pearson"}])
    assert other.published() == []


def test_numbers():
    assert [hundred(v) for v in (0.32349, -0.05, NAN)] == ["32.3", "-5.0", "–"]
    assert [rate_text(v) for v in (123456.0, 45.2, 0.123, NAN)] == ["120,000/s", "45/s", "0.12/s", "–"]


# ------------------------------------------------------------------ runs
RECORDS = [
    {"id": str(i), "caption": "x" * (1 + (i * k) % 7), "human_score": k + i % 2, "references": ["xx", "y"]}
    for i in range(1, 8)
    for k in (1, 2, 3)
]  # fmt: skip


@pytest.fixture
def runs(tmp_path, monkeypatch, capsys):
    """Two finished runs of judgments below ``out``, and the printed text of each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(r) + "\n" for r in RECORDS))
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(
            f"task: judgments/{name}\njudgments: {{form: captions, path: j.jsonl}}\nstatistics: [kendall_c, pearson, accuracy]\n"
            "metrics: [{bleu1: {tokenizer: none}}, {self-bleu: {n: 2, tokenizer: none}}, {rouge: {tokenizer: none}}]\n"
            "published: {reference: A paper, values: {bleu1: 12.5, spice: 40}}\n"
        )
    (tmp_path / "all.yaml").write_text("include: [one.yaml, two.yaml]\n")
    assert main(["run", "all.yaml", "--output", "out"]) == 0
    return capsys.readouterr().out


def test_the_console(runs):
    assert "League table" in runs and "published: A paper" in runs and "12.5" in runs
    assert "7 items, 21 captions" in runs and "a set of one" in runs


def test_the_page(runs, tmp_path, capsys):
    assert main(["report", "out", "--tables", "tables", "--title", "Mine"]) == 0
    page = (tmp_path / "out/report.html").read_text()
    for text in (
        "<h1>Mine</h1>",
        "League table",
        "What to use when",
        "spice (published only)",
        "PERM-BOTH",
        "judgments/two",
    ):
        assert text in page
    table = (tmp_path / "tables/league.csv").read_text().splitlines()
    assert len(table) == 7 and table[0].endswith("reference")
    assert (tmp_path / "tables/league.md").is_file()
    assert main(["report", "out/one"]) == 0
    single = (tmp_path / "out/one/report.html").read_text()
    assert "<h1>judgments/one</h1>" in single and "<h2>League table" not in single


def test_runs_of_models_have_a_page_of_their_own(runs, tmp_path, project):
    assert main(["run", "spec.yaml", "--output", "models"]) == 0
    with pytest.raises(InputError, match="is a run of models"):
        open_league([tmp_path / "out/one", tmp_path / "models"])
