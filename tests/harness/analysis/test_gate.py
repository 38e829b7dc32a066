"""The gate: verdicts, margins, slices, clusters, costs, numbers that are no sums, runs that do not compare, size at the margin."""

from __future__ import annotations

import json
from math import inf

import numpy as np
import pytest

import harness
from harness.analysis.gate import GateResult, GateRow, Margin, gate
from harness.errors import HarnessError
from harness.stats.one_sided import LEVEL, SkewedMean
from tests.support.growing import write_task

DISTINCT = {"distinct": {"n": 2, "tokenizer": "none"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of one system each, of the same label ``model``: good, twin, bad."""
    folder = tmp_path_factory.mktemp("gate")
    spec = write_task(folder, 240)
    spec["metrics"] = [*spec["metrics"], DISTINCT]
    for name in ("good", "twin", "bad"):
        model = {"predictions": {"label": "model", "path": str(folder / f"{name}.jsonl")}}
        harness.evaluate({**spec, "models": [model]}, output=folder / name)
    return folder


def decide(folder, new, baseline, slices=None, **margins) -> GateResult:
    return gate(folder / new, folder / baseline, {name: Margin.parse(text) for name, text in margins.items()}, slices=slices)


def only(result: GateResult) -> GateRow:
    (row,) = result.rows
    return row


# --------------------------------------------------------------------------- margins
@pytest.mark.parametrize(
    ("text", "size", "relative", "shown"),
    [
        ("0.01", 0.01, False, "0.01"),
        ("1%", 0.01, True, "1%"),
        (" .5 % ", 0.005, True, "0.5%"),
        ("1e-3", 0.001, False, "0.001"),
        ("0", 0, False, "0"),
    ],
)
def test_margins_are_read(text, size, relative, shown):
    margin = Margin.parse(text)
    assert (margin.size, margin.relative, str(margin)) == (pytest.approx(size), relative, shown)


@pytest.mark.parametrize("text", ["", "-0.1", "one", "1%%", "nan", "inf", "0,01"])
def test_wrong_margins_are_one_line(text):
    with pytest.raises(HarnessError, match="--max-drop is '.*'; expected a number such as 0.01, or a share"):
        Margin.parse(text)


# --------------------------------------------------------------------------- verdicts
def test_a_better_system_passes_and_a_worse_one_fails(folder):
    better = decide(folder, "good", "bad", rouge="0.01", cider="0.01", bleu4="0.01")
    assert better.verdict == "passed" and better.sentence.startswith("passed: no worsening beyond the margin in 3 rows")
    assert all(row.worsening < 0 and row.high < row.margin and row.p_pass < LEVEL < row.p_fail for row in better.rows)
    worse = decide(folder, "bad", "good", rouge="0.01", cider="0.01", bleu4="0.01")
    assert worse.verdict == "failed" and worse.sentence.startswith("failed: ROUGE-L worse by")
    assert all(row.low > row.margin and row.p_fail <= LEVEL for row in worse.rows)


def test_neither_is_undecided_with_the_number_that_decides(folder):
    margin = abs(only(decide(folder, "good", "twin", rouge="0")).worsening) + 0.002
    row = only(result := decide(folder, "good", "twin", rouge=f"{margin}"))
    assert result.verdict == row.verdict == "undecided" and row.low < row.margin < row.high
    assert "examples would decide" in result.sentence and row.needed > row.n == 240


def test_the_numbers_are_those_of_compare(folder):
    rows = {row.metric: row for row in harness.compare(folder / "bad", folder / "good", draws=200)}
    for row in decide(folder, "bad", "good", rouge="0.01", bleu4="0.01", distinct2="0.01").rows:
        other = rows[row.metric]
        assert (row.new, row.baseline) == pytest.approx((other.a, other.b))
        assert row.worsening == pytest.approx(-other.difference) and row.n == other.n


def test_the_bounds_of_a_mean_are_those_of_its_differences(folder):
    row = only(decide(folder, "twin", "good", rouge="0.01"))
    sides = [harness.Run.open(folder / name).samples["rouge"] for name in ("good", "twin")]
    mean = SkewedMean.of(row.worsening, np.subtract(*sides))
    assert (row.low, row.high, row.p_pass) == pytest.approx((mean.lower(), mean.upper(), mean.p_below(0.01)))


def test_one_failure_fails_and_is_adjusted_for_the_number_of_rows(folder):
    alone = only(decide(folder, "bad", "good", rouge="0.01"))
    three = decide(folder, "bad", "good", rouge="0.01", cider="100", bleu4="1")
    row = next(row for row in three.rows if row.metric == "rouge")
    assert three.verdict == "failed" and row.p_fail == pytest.approx(3 * alone.p_fail)
    assert [row.verdict for row in three.rows] == ["failed", "passed", "passed"]


def test_all_rows_have_to_pass():
    def row(p_pass, p_fail, needed=900.0):
        return GateRow("rouge", "m", "", 9, 0.5, 0.5, 0.0, -0.1, 0.1, 0.05, p_pass, p_fail, needed, True)

    passed, undecided, failed = row(0.01, 1.0), row(0.4, 0.6), row(1.0, 0.01)
    assert GateResult([passed, passed]).verdict == "passed"
    assert GateResult([passed, undecided]).verdict == "undecided"
    assert GateResult([undecided, failed, passed]).verdict == "failed"
    assert "about 900 examples" in GateResult([undecided]).sentence
    assert "no number of examples decides" in GateResult([row(0.4, 0.6, inf)]).sentence


def test_an_identical_run_passes_any_margin(folder):
    for margin in ("0", "0.01", "1%"):
        result = decide(folder, "good", "good", rouge=margin, bleu4=margin)
        assert result.verdict == "passed"
        assert margin == "1%" or all((row.worsening, row.low, row.high) == (0.0, 0.0, 0.0) for row in result.rows)


def test_a_relative_margin_is_a_share_of_the_baseline_and_moves_with_it(folder):
    absolute = only(decide(folder, "twin", "good", rouge="0.05"))
    relative = only(decide(folder, "twin", "good", rouge=f"{100 * 0.05 / absolute.baseline}%"))
    assert relative.margin == pytest.approx(0.05)
    assert relative.worsening == absolute.worsening
    assert relative.high != absolute.high, "the margin varies with the examples"
    sides = [np.array(harness.Run.open(folder / name).samples["rouge"]) for name in ("good", "twin")]
    share = 0.05 / absolute.baseline
    mean = SkewedMean.of(relative.worsening - 0.05, sides[0] - sides[1] - share * sides[0])
    assert relative.p_pass == pytest.approx(mean.p_below(0.0))


# --------------------------------------------------------------------------- slices, clusters, costs
def test_every_slice_has_to_pass(folder):
    result = decide(folder, "bad", "good", "video", rouge="0.9")
    assert len(result.rows) == 1 + 48 and result.rows[0].slice == "" and result.rows[1].slice == "video=v0"
    assert result.rows[0].n == 240 and {row.n for row in result.rows[1:]} == {5}
    sums = sum(row.worsening * row.n for row in result.rows[1:])
    assert sums / 240 == pytest.approx(result.rows[0].worsening)


@pytest.mark.parametrize(("slices", "place"), [(None, ""), ("video", " in video=v0")])
def test_an_undefined_number_names_its_slice(folder, tmp_path, slices, place):
    """Texts of one word have no pair of words."""
    spec = write_task(tmp_path, 240)
    rows = [json.loads(line) for line in (tmp_path / "good.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        if slices is None or number < 5:
            row["candidates"] = ["dog"]
    (tmp_path / "short.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = {"predictions": {"label": "model", "path": str(tmp_path / "short.jsonl")}}
    harness.evaluate({**spec, "models": [model], "metrics": [DISTINCT]}, output=tmp_path / "short")
    with pytest.raises(HarnessError, match=f"'distinct2' is undefined{place} for .*short"):
        decide(tmp_path, "short", folder / "good", slices, distinct2="0.1")


def test_an_unknown_slice_names_the_nearest_column(folder):
    with pytest.raises(HarnessError, match=r"--slice: .*no 'vidoe' in its metadata; did you mean 'video'"):
        decide(folder, "bad", "good", "vidoe", rouge="0.1")


def test_clusters_are_the_units(folder, tmp_path):
    spec = write_task(tmp_path, 240)
    for name in ("good", "twin"):
        model = {"predictions": {"label": "model", "path": str(tmp_path / f"{name}.jsonl")}}
        harness.evaluate({**spec, "models": [model], "cluster": "video", "metrics": spec["metrics"][1:]}, output=tmp_path / f"run-{name}")
    result = gate(tmp_path / "run-twin", tmp_path / "run-good", {"rouge": Margin(0.05), "bleu4": Margin(0.05)})
    sides = [np.array(harness.Run.open(tmp_path / f"run-{name}").samples["rouge"]) for name in ("good", "twin")]
    mean = SkewedMean.of(result.rows[0].worsening, (sides[0] - sides[1]).reshape(48, 5).mean(axis=1))
    assert (result.rows[0].low, result.rows[0].high) == pytest.approx((mean.lower(), mean.upper()))
    assert result.rows[0].n == 240


def costs(project, scale):
    code = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(code.replace("level=level, higher_is_better=True", f"level=level, higher_is_better={scale}"))
    manifest = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(manifest.replace("higher_is_better: true", f"higher_is_better: {str(scale).lower()}"))


SPEC = {"task": "words", "dataset": {"reader": "words", "count": 12}, "metrics": ["length"], "bootstrap": {"samples": 0}}


def lengths(project, *, spec=SPEC):
    for name, n in (("short", 1), ("long", 3)):
        harness.evaluate({**spec, "models": [{"echo": {"n": n, "label": "m"}}]}, output=project / name)


def test_a_cost_gets_worse_upwards(project):
    costs(project, False)
    lengths(project)
    worse, better = (gate(new, old, {"length": Margin(0.5)}) for new, old in (("long", "short"), ("short", "long")))
    assert (worse.verdict, better.verdict) == ("failed", "passed")
    assert (only(worse).worsening, only(better).worsening) == (1.0, -1.0)


def test_a_metric_without_direction_cannot_gate(project):
    costs(project, None)
    manifest = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(manifest.replace(", higher_is_better: none", ""))
    lengths(project)
    with pytest.raises(HarnessError, match="'length' has no direction: larger is neither better nor worse"):
        gate("long", "short", {"length": Margin(0.5)})


# --------------------------------------------------------------------------- numbers that are no sums
def test_a_number_of_the_corpus_has_the_error_of_its_interval(folder):
    failed, passed = (decide(folder, *pair, distinct2="0.01") for pair in (("good", "good"), ("bad", "good")))
    row = only(passed)
    assert row.metric == "distinct2" and row.low < row.worsening < row.high
    (compared,) = (item for item in harness.compare(folder / "bad", folder / "good") if item.metric == "distinct2")
    mean = SkewedMean(row.worsening, (compared.ci95[1] - compared.ci95[0]) / 2 / 1.959964, row.n)
    assert (row.low, row.high) == pytest.approx((mean.lower(), mean.upper()), rel=1e-3)
    assert only(failed).worsening == 0.0
    with pytest.raises(HarnessError, match="give its margin in its own unit, not in per cent"):
        decide(folder, "bad", "good", distinct2="1%")


# --------------------------------------------------------------------------- refusals
def test_an_unknown_metric_names_the_nearest(folder):
    with pytest.raises(HarnessError, match="no metric 'rogue'; did you mean 'rouge'"):
        decide(folder, "bad", "good", rogue="0.1")


def test_names_of_tables_are_metrics_too(folder):
    result = gate(folder / "bad", folder / "good", {"ROUGE-L": Margin(0.9), "BLEU-4": Margin(0.9)})
    assert [row.metric for row in result.rows] == ["rouge", "bleu4"]


def test_other_data_and_other_versions_are_refused_with_the_difference(folder, tmp_path):
    other = write_task(tmp_path, 100)
    model = {"predictions": {"label": "model", "path": str(tmp_path / "good.jsonl")}}
    harness.evaluate({**other, "models": [model]}, output=tmp_path / "r")
    with pytest.raises(HarnessError, match="read different data .*equal ids would be paired by chance"):
        gate(tmp_path / "r", folder / "good", {"rouge": Margin(0.1)})
    spec = write_task(tmp_path, 240)
    harness.evaluate({**spec, "models": [model], "references": 2}, output=tmp_path / "s")
    harness.evaluate({**spec, "models": [model], "references": 3}, output=tmp_path / "t")
    with pytest.raises(HarnessError, match="is of 2 references in .* and of 3 in"):
        gate(tmp_path / "s", tmp_path / "t", {"rouge": Margin(0.1)})
    harness.evaluate({**spec, "models": [model], "metrics": [{"rouge": {"tokenizer": "ptb"}}]}, output=tmp_path / "u")
    with pytest.raises(HarnessError, match="the numbers are of different metrics"):
        gate(tmp_path / "u", tmp_path / "t", {"rouge": Margin(0.1)})


# --------------------------------------------------------------------------- size
@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_at_the_margin_it_passes_and_fails_at_the_level(kind):
    rng, n, runs = np.random.default_rng(0), 400, 1500
    values = rng.normal(0.02, 0.3, (runs, n)) if kind == "normal" else 0.02 + rng.exponential(0.2, (runs, n)) - 0.2
    means = [SkewedMean.of(float(row.mean()), row) for row in values]
    allowed = LEVEL + 2.5 * np.sqrt(LEVEL * (1 - LEVEL) / runs)
    assert np.mean([mean.p_below(0.02) <= LEVEL for mean in means]) <= allowed
    assert np.mean([mean.p_above(0.02) <= LEVEL for mean in means]) <= allowed
    assert np.mean([mean.p_below(0.1) <= LEVEL for mean in means]) > 0.9
