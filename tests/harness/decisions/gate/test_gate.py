"""The gate: verdicts, margins, slices, clusters, costs, numbers that are no sums, runs
that do not compare, size at the margin.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import harness
from harness.analysis.score_logs import LoggedScore
from harness.decisions.gate.gate import gate_margins as gate
from harness.decisions.gate.margin import Margin
from harness.decisions.gate.margin_tests import choose_test
from harness.decisions.gate.result import GateResult
from harness.decisions.statistics.bounded_mean import BoundedMean
from harness.decisions.statistics.one_sided import SkewedMean
from harness.decisions.statistics.paired_shares import PairedShares
from harness.decisions.statistics.sample_size import LEVEL
from harness.errors import HarnessError
from tests.support.gates import answers, examples, in_order, only, paired, write_log
from tests.support.growing import write_task

DISTINCT = {"distinct": {"n": 2, "tokenizer": "none"}}
SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 12},
    "metrics": ["length"],
    "bootstrap": {"samples": 0},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of one system each, of the same label ``model``: good, twin, bad."""
    folder = tmp_path_factory.mktemp("gate")
    spec = write_task(folder, 240)
    spec["metrics"] = [*spec["metrics"], DISTINCT]
    for name in ("good", "twin", "bad"):
        model = {
            "predictions": {"label": "model", "path": str(folder / f"{name}.jsonl")}
        }
        harness.evaluate({**spec, "models": [model]}, output=folder / name)
    return folder


def decide(folder, new, baseline, slices=None, **margins) -> GateResult:
    return gate(
        folder / new,
        folder / baseline,
        {name: Margin.parse(text) for name, text in margins.items()},
        slices=slices,
    )


def test_a_better_system_passes_and_a_worse_one_fails(folder):
    better = decide(folder, "good", "bad", rouge="0.01", cider="0.01", bleu4="0.01")
    assert better.verdict == "passed" and better.sentence.startswith(
        "passed: no worsening beyond the margin in 3 rows"
    )
    assert all(
        row.worsening < 0 and row.high < row.margin and row.p_pass < LEVEL < row.p_fail
        for row in better.rows
    )
    worse = decide(folder, "bad", "good", rouge="0.01", cider="0.01", bleu4="0.01")
    assert worse.verdict == "failed" and worse.sentence.startswith(
        "failed: ROUGE-L (COCO) worse by"
    )
    assert all(row.low > row.margin and row.p_fail <= LEVEL for row in worse.rows)


def test_neither_is_undecided_with_the_number_that_decides(folder):
    margin = abs(only(decide(folder, "good", "twin", rouge="0")).worsening) + 0.002
    row = only(result := decide(folder, "good", "twin", rouge=f"{margin}"))
    assert (
        result.verdict == row.verdict == "undecided" and row.low < row.margin < row.high
    )
    assert "examples would decide" in result.sentence and row.needed > row.n == 240


def test_the_numbers_are_those_of_compare(folder):
    rows = {
        row.metric: row
        for row in harness.compare(folder / "bad", folder / "good", draws=200)
    }
    for row in decide(
        folder, "bad", "good", rouge="0.01", bleu4="0.01", distinct2="0.01"
    ).rows:
        other = rows[row.metric]
        assert (row.new, row.baseline) == pytest.approx((other.a, other.b))
        assert row.worsening == pytest.approx(-other.difference) and row.n == other.n


def test_the_bounds_of_a_mean_within_bounds_are_those_of_betting(folder):
    row = only(decide(folder, "twin", "good", rouge="0.01"))
    sides = [
        np.array(harness.Run.open(folder / name).samples["rouge"])
        for name in ("good", "twin")
    ]
    mean = BoundedMean.of_values(
        in_order(sides[0] - sides[1], [f"i{k}" for k in range(240)]), -1.0, 1.0
    )
    assert (row.low, row.high, row.p_pass) == pytest.approx(
        (mean.lower(), mean.upper(), mean.p_below(0.01))
    )
    assert row.method == "betting within 0 to 1" and row.least == pytest.approx(
        299, abs=3
    )


def test_the_bounds_of_a_function_of_sums_are_those_of_its_influences(folder):
    row = only(decide(folder, "bad", "good", bleu4="0.01"))
    assert (
        row.method == "Student's t after Hall's transformation"
        and row.low < row.worsening < row.high
    )
    metric = LoggedScore("mean")
    rng = np.random.default_rng(0)
    old, new = rng.normal(3.0, 1.0, (2, 80))
    tested = choose_test(paired(metric, new, old), Margin(0.1), examples(80), 0)
    mean = SkewedMean.of(float((old - new).mean()), old - new)
    assert tested.bounds == pytest.approx(
        (mean.lower(), mean.upper())
    ) and tested.p_pass == pytest.approx(mean.p_below(0.1))


def test_one_failure_fails_and_is_adjusted_for_the_number_of_rows(folder):
    alone = only(decide(folder, "bad", "good", rouge="0.01"))
    three = decide(folder, "bad", "good", rouge="0.01", cider="2.5", bleu4="0.6")
    row = next(row for row in three.rows if row.metric == "rouge")
    assert three.verdict == "failed" and row.p_fail == pytest.approx(3 * alone.p_fail)
    assert [row.verdict for row in three.rows] == ["failed", "passed", "passed"]


def test_failing_is_adjusted_over_all_rows_and_passing_is_not(tmp_path):
    """A loss that fails alone is undecided among four metrics without a loss; all of
    them pass as they do alone.
    """

    def decide_metrics(count):
        old = write_log(tmp_path / "old.jsonl", *[[1.0] * 200] * count)
        new = write_log(
            tmp_path / "new.jsonl",
            [1.0] * 190 + [0.0] * 10,
            *[[1.0] * 200] * (count - 1),
        )
        return gate(
            new,
            old,
            {"acc": Margin(0.02)}
            | {f"match,{k}": Margin(0.02) for k in range(1, count)},
        ).rows

    (alone,) = decide_metrics(1)
    first, *others = decide_metrics(4)
    assert (alone.verdict, first.verdict) == ("failed", "undecided")
    assert (
        first.p_fail == pytest.approx(4 * alone.p_fail) and first.needed > alone.needed
    )
    assert all(
        row.p_pass == pytest.approx(0.98**200, rel=0.1) and row.verdict == "passed"
        for row in others
    )


@pytest.mark.parametrize(
    ("metric", "margin", "verdict"),
    [
        ("rouge", "0.02", "passed"),
        ("rouge", "0.01", "undecided"),
        ("bleu4", "0.02", "passed"),
        ("bleu4", "0.01", "undecided"),
        ("rouge", "3%", "passed"),
        ("distinct2", "0.02", "passed"),
        ("distinct2", "0.01", "undecided"),
        ("cider", "0.3", "passed"),
    ],
)
def test_an_identical_run_passes_where_there_are_enough_examples(
    folder, metric, margin, verdict
):
    row = only(result := decide(folder, "good", "good", **{metric: margin}))
    assert (result.verdict, row.worsening) == (verdict, 0.0) and row.low < 0 < row.high
    assert (
        row.note == "same outputs on all 240 examples" and row.note in result.sentence
    )
    assert (row.least <= 240) == (verdict == "passed")


def test_a_relative_margin_is_a_share_of_the_baseline_and_moves_with_it(folder):
    absolute = only(decide(folder, "twin", "good", rouge="0.05"))
    relative = only(
        decide(folder, "twin", "good", rouge=f"{100 * 0.05 / absolute.baseline}%")
    )
    assert relative.margin == pytest.approx(0.05)
    assert relative.worsening == absolute.worsening
    assert relative.high != absolute.high, "the margin varies with the examples"
    sides = [
        np.array(harness.Run.open(folder / name).samples["rouge"])
        for name in ("good", "twin")
    ]
    share = 0.05 / absolute.baseline
    values = in_order((1 - share) * sides[0] - sides[1], [f"i{k}" for k in range(240)])
    mean = BoundedMean.of_values(values, -1.0, 1 - share)
    assert relative.p_pass == pytest.approx(
        mean.p_below(0.0)
    ) and relative.p_fail == pytest.approx(mean.p_above(0.0))
    assert relative.high == pytest.approx(mean.upper() + 0.05)


def test_every_slice_has_to_pass(folder):
    result = decide(folder, "bad", "good", "video", rouge="0.7")
    assert (
        len(result.rows) == 1 + 48
        and result.rows[0].slice == ""
        and result.rows[1].slice == "video=v0"
    )
    assert result.rows[0].n == 240 and {row.n for row in result.rows[1:]} == {5}
    sums = sum(row.worsening * row.n for row in result.rows[1:])
    assert sums / 240 == pytest.approx(result.rows[0].worsening)
    assert result.rows[0].verdict == "passed" and result.verdict == "undecided", (
        "five examples tell little"
    )


def test_a_slice_of_equal_captions_is_no_certainty(folder):
    result = decide(folder, "good", "good", "video", rouge="0.05")
    assert [row.verdict for row in result.rows[:2]] == ["passed", "undecided"]
    assert (
        result.rows[1].note == "same outputs on all 5 examples"
        and result.rows[1].high > 0.4
    )
    assert "a version without a change needs 59 examples to pass" in result.sentence


@pytest.mark.parametrize(("slices", "place"), [(None, ""), ("video", " in video=v0")])
def test_an_undefined_number_names_its_slice(folder, tmp_path, slices, place):
    """Texts of one word have no pair of words."""
    spec = write_task(tmp_path, 240)
    rows = [
        json.loads(line) for line in (tmp_path / "good.jsonl").read_text().splitlines()
    ]
    for number, row in enumerate(rows):
        if slices is None or number < 5:
            row["candidates"] = ["dog"]
    (tmp_path / "short.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    model = {"predictions": {"label": "model", "path": str(tmp_path / "short.jsonl")}}
    harness.evaluate(
        {**spec, "models": [model], "metrics": [DISTINCT]}, output=tmp_path / "short"
    )
    with pytest.raises(
        HarnessError, match=f"'distinct2' is undefined{place} for .*short"
    ):
        decide(tmp_path, "short", folder / "good", slices, distinct2="0.1")


def test_an_unknown_slice_names_the_nearest_column(folder):
    with pytest.raises(
        HarnessError,
        match=r"^slice: .*no 'vidoe' in its metadata; did you mean 'video'",
    ):
        decide(folder, "bad", "good", "vidoe", rouge="0.1")


def test_clusters_are_the_units(folder, tmp_path):
    spec = write_task(tmp_path, 240)
    for name in ("good", "twin"):
        model = {
            "predictions": {"label": "model", "path": str(tmp_path / f"{name}.jsonl")}
        }
        harness.evaluate(
            {
                **spec,
                "models": [model],
                "cluster": "video",
                "metrics": spec["metrics"][1:],
            },
            output=tmp_path / f"run-{name}",
        )
    result = gate(
        tmp_path / "run-twin",
        tmp_path / "run-good",
        {"rouge": Margin(0.05), "bleu4": Margin(0.05)},
    )
    sides = [
        np.array(harness.Run.open(tmp_path / f"run-{name}").samples["rouge"])
        for name in ("good", "twin")
    ]
    sums = in_order(
        (sides[0] - sides[1]).reshape(48, 5).sum(axis=1),
        [min(f"i{5 * k + j}" for j in range(5)) for k in range(48)],
    )
    mean = BoundedMean(sums, np.full(48, 5.0), -1.0, 1.0)
    assert (result.rows[0].low, result.rows[0].high) == pytest.approx(
        (mean.lower(), mean.upper())
    )
    assert {(row.n, row.units, row.unit) for row in result.rows} == {
        (240, 48, "cluster")
    }


def costs(project, scale):
    code = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(
        code.replace(
            "level=level, higher_is_better=True",
            f"level=level, higher_is_better={scale}",
        )
    )
    manifest = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        manifest.replace(
            "higher_is_better: true", f"higher_is_better: {str(scale).lower()}"
        )
    )


def lengths(project, *, spec=SPEC):
    for name, n in (("short", 1), ("long", 3)):
        harness.evaluate(
            {**spec, "models": [{"echo": {"n": n, "label": "m"}}]},
            output=project / name,
        )


def test_a_cost_gets_worse_upwards(project):
    costs(project, False)
    lengths(project)
    worse, better = (
        gate(new, old, {"length": Margin(0.5)})
        for new, old in (("long", "short"), ("short", "long"))
    )
    assert (only(worse).worsening, only(better).worsening) == (1.0, -1.0)
    assert (
        worse.verdict == better.verdict == "undecided"
        and "no difference varies" in worse.sentence
    )


def test_a_metric_without_direction_cannot_gate(project):
    costs(project, None)
    manifest = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        manifest.replace(", higher_is_better: none", "")
    )
    lengths(project)
    with pytest.raises(
        HarnessError,
        match="'length' has no direction: larger is neither better nor worse",
    ):
        gate("long", "short", {"length": Margin(0.5)})


def test_a_number_of_the_corpus_has_the_error_of_its_interval(folder):
    row = only(decide(folder, "bad", "good", distinct2="0.01"))
    assert row.metric == "distinct2" and row.low < row.worsening < row.high
    (compared,) = (
        item
        for item in harness.compare(folder / "bad", folder / "good")
        if item.metric == "distinct2"
    )
    mean = SkewedMean.of_error(
        row.worsening, (compared.ci95[1] - compared.ci95[0]) / 2 / 1.959964, row.n, 240
    )
    assert (row.low, row.high) == pytest.approx((mean.lower(), mean.upper()), rel=1e-3)
    with pytest.raises(
        HarnessError, match="give its margin in its own unit, not in per cent"
    ):
        decide(folder, "bad", "good", distinct2="1%")


def test_a_few_changed_captions_decide_by_their_number(folder, tmp_path):
    """Three of 240 captions change: BLEU and distinct n-grams pass where this share of
    their range is below the margin.
    """
    spec = write_task(tmp_path, 240)
    rows = [
        json.loads(line) for line in (tmp_path / "good.jsonl").read_text().splitlines()
    ]
    for row in rows[:3]:
        row["candidates"] = ["a dog runs"]
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = {"predictions": {"label": "model", "path": str(tmp_path / "few.jsonl")}}
    harness.evaluate(
        {**spec, "models": [model], "metrics": [*spec["metrics"], DISTINCT]},
        output=tmp_path / "few",
    )
    expected = stats.binom.cdf(3, 240, 0.04)
    result = gate(
        tmp_path / "few",
        folder / "good",
        {"bleu4": Margin(0.04), "distinct2": Margin(0.04)},
    )
    assert {row.method for row in result.rows} == {"number of changed examples"}
    assert [row.p_pass for row in result.rows] == pytest.approx(
        [expected, expected]
    ) and result.verdict == "passed"
    undecided = gate(tmp_path / "few", folder / "good", {"bleu4": Margin(0.02)})
    assert undecided.verdict == "undecided" and only(undecided).needed > 240


def test_an_unknown_metric_names_the_nearest(folder):
    with pytest.raises(HarnessError, match="no metric 'rogue'; did you mean 'rouge'"):
        decide(folder, "bad", "good", rogue="0.1")


def test_names_of_tables_are_metrics_too(folder):
    result = gate(
        folder / "bad", folder / "good", {"ROUGE-L": Margin(0.6), "BLEU-4": Margin(0.6)}
    )
    assert [row.metric for row in result.rows] == ["rouge", "bleu4"]


def test_other_data_and_other_versions_are_refused_with_the_difference(
    folder, tmp_path
):
    other = write_task(tmp_path, 100)
    model = {"predictions": {"label": "model", "path": str(tmp_path / "good.jsonl")}}
    harness.evaluate({**other, "models": [model]}, output=tmp_path / "r")
    with pytest.raises(
        HarnessError, match="read different data .*equal ids would be paired by chance"
    ):
        gate(tmp_path / "r", folder / "good", {"rouge": Margin(0.1)})
    spec = write_task(tmp_path, 240)
    harness.evaluate(
        {**spec, "models": [model], "references": 2}, output=tmp_path / "s"
    )
    harness.evaluate(
        {**spec, "models": [model], "references": 3}, output=tmp_path / "t"
    )
    with pytest.raises(HarnessError, match="is of 2 references in .* and of 3 in"):
        gate(tmp_path / "s", tmp_path / "t", {"rouge": Margin(0.1)})
    harness.evaluate(
        {**spec, "models": [model], "metrics": [{"rouge": {"tokenizer": "ptb"}}]},
        output=tmp_path / "u",
    )
    with pytest.raises(HarnessError, match="the numbers are of different metrics"):
        gate(tmp_path / "u", tmp_path / "t", {"rouge": Margin(0.1)})


@pytest.mark.parametrize(
    ("right", "n", "bound"),
    [(3, 3, 0.6316), (7, 7, 0.3482), (0, 12, 0.2209), (25, 40, 0.0722)],
)
def test_equal_answers_have_the_bound_of_clopper_and_pearson(tmp_path, right, n, bound):
    """With all n answers alike, 1 - .05^(1/n) of them may be broken."""
    old, new = answers(right, 0, 0, n)
    result = gate(
        write_log(tmp_path / "new.jsonl", new),
        write_log(tmp_path / "old.jsonl", old),
        {"acc": Margin(0.01)} if right else {"acc": Margin(0)},
    )
    row = only(result)
    assert 1 - 0.05 ** (1 / n) == pytest.approx(bound, abs=1e-4)
    assert (row.low, row.high) == pytest.approx((-bound, bound), abs=2e-3)
    assert (
        result.verdict == "undecided" and row.note == f"same scores on all {n} examples"
    )
    assert (
        not right
        or "a version without a change needs 299 examples to pass" in result.sentence
    )


@pytest.mark.parametrize(("n", "verdict"), [(298, "undecided"), (299, "passed")])
def test_equal_answers_pass_from_the_smallest_number_on(tmp_path, n, verdict):
    old, new = answers(n - 50, 0, 0, n)
    result = gate(
        write_log(tmp_path / "new.jsonl", new),
        write_log(tmp_path / "old.jsonl", old),
        {"acc": Margin(0.01)},
    )
    assert result.verdict == verdict


@pytest.mark.parametrize(
    ("broken", "improved", "n", "margin"),
    [(4, 2, 500, 0.02), (30, 25, 500, 0.02), (9, 0, 100, 0.05)],
)
def test_right_and_wrong_answers_have_the_exact_test(
    tmp_path, broken, improved, n, margin
):
    old, new = answers(n - 30, broken, improved, n)
    row = only(
        gate(
            write_log(tmp_path / "new.jsonl", new),
            write_log(tmp_path / "old.jsonl", old),
            {"acc": Margin(margin)},
        )
    )
    shares = PairedShares(broken, improved, n)
    assert row.method == "exact, right and wrong answers"
    assert (row.p_pass, row.p_fail) == (shares.p_below(margin), shares.p_above(margin))
    assert (row.low, row.high, row.worsening) == pytest.approx(
        (shares.lower(), shares.upper(), (broken - improved) / n)
    )


@pytest.mark.parametrize(("lost", "total"), [(250, 400), (1, 60), (195, 200)])
def test_missing_documents_are_refused_with_their_number(tmp_path, lost, total):
    old, _ = answers(total - 20, 0, 0, total)
    baseline = write_log(tmp_path / "old.jsonl", old)
    new = write_log(tmp_path / "new.jsonl", old, missing=range(lost))
    documents = f"{lost:,} example{'s' if lost > 1 else ''}"
    with pytest.raises(
        HarnessError,
        match=rf"new lacks {documents} \(such as '0:h0'\) of the {total} of old: "
        r"a gate compares all of them; ",
    ):
        gate(new, baseline, {"acc": Margin(0.01)})
    row = only(result := gate(new, baseline, {"acc": Margin(0.01)}, allow_missing=True))
    counted_right = min(lost, total - 20)
    assert (row.n, row.worsening) == (total, pytest.approx(counted_right / total))
    assert (
        row.note
        == f"{documents} {'have' if lost > 1 else 'has'} no value in the new version"
        and row.note in result.sentence
    )
    assert result.verdict != "passed"


def test_captions_that_a_run_was_allowed_to_lack_are_refused(folder, tmp_path):
    spec = write_task(tmp_path, 240)
    lines = (tmp_path / "good.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "half.jsonl").write_text("".join(lines[120:]))
    model = {
        "predictions": {
            "label": "model",
            "path": str(tmp_path / "half.jsonl"),
            "allow_missing": True,
        }
    }
    harness.evaluate({**spec, "models": [model]}, output=tmp_path / "half")
    with pytest.raises(
        HarnessError,
        match=r"lacks 120 examples \(such as 'i0'\) of the 240 of .*"
        r"allow_missing=True, "
        r"which counts them as 0",
    ):
        gate(tmp_path / "half", folder / "good", {"rouge": Margin(0.05)})
    with pytest.raises(
        HarnessError, match=r"allow_missing=True, which leaves the metric undecided"
    ):
        gate(tmp_path / "half", folder / "good", {"bleu4": Margin(0.05)})
    margins = {"rouge": Margin(0.05), "bleu4": Margin(0.05)}
    result = gate(
        tmp_path / "half", folder / "good", margins, slices="video", allow_missing=True
    )
    rows = {(row.metric, row.slice): row for row in result.rows}
    assert (rows["rouge", ""].verdict, rows["bleu4", ""].verdict) == (
        "failed",
        "undecided",
    )
    assert rows["rouge", ""].worsening == pytest.approx(
        rows["rouge", ""].baseline / 2, rel=0.1
    )
    assert (
        rows["rouge", "video=v0"].new == 0.0
        and rows["rouge", "video=v47"].worsening == 0.0
    )
    assert all(
        row.verdict != "passed"
        for row in result.rows
        if row.metric == "bleu4" and row.n == 240
    )


def test_values_that_a_rule_drops_in_one_version_are_refused(tmp_path):
    rows = [
        {"doc_id": k, "doc_hash": "", "acc": 1.0, "f1": 0.1 * (k % 7)}
        for k in range(60)
    ]
    baseline = tmp_path / "old.jsonl"
    baseline.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for k in (3, 5):
        del rows[k]["f1"]
    new = tmp_path / "new.jsonl"
    new.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(
        HarnessError,
        match=r"'f1' has no value in new alone for 2 examples \(such as '3:'\) "
        r"of the 60 of old; allow_missing=True leaves",
    ):
        gate(new, baseline, {"f1": Margin(0.05)})
    assert (
        gate(new, baseline, {"f1": Margin(0.05)}, allow_missing=True).verdict
        == "undecided"
    )
    with pytest.raises(
        HarnessError,
        match=r"'f1' has no value in new alone for 2 examples \(such as '3:'\); "
        r"allow_missing=True compares the others",
    ):
        gate(baseline, new, {"f1": Margin(0.05)})
    others = gate(baseline, new, {"f1": Margin(0.05)}, allow_missing=True)
    unscored = "f1: new: 2 of 60 values are unscored"
    assert only(others).n == 58
    assert others.notes == [
        unscored,
        "not compared: 2 examples (such as '3:') without a value of 'f1' in new",
    ]
    assert only(gate(new, baseline, {"acc": Margin(0.05)})).verdict == "passed", (
        "another metric has all values"
    )


def test_further_examples_are_named_and_not_compared(tmp_path):
    old, new = answers(300, 0, 0, 330)
    baseline = write_log(tmp_path / "old.jsonl", old)
    result = gate(
        write_log(tmp_path / "new.jsonl", [*new, *[0.0] * 5]),
        baseline,
        {"acc": Margin(0.01)},
    )
    assert only(result).n == 330 and result.verdict == "passed"
    assert result.notes == [
        "not compared: 5 examples (such as '330:h330') of new that old lacks"
    ]


def test_a_gate_refuses_a_margin_that_no_worsening_exceeds(folder, tmp_path):
    with pytest.raises(
        HarnessError,
        match="the margin 2 of ROUGE-L \\(COCO\\) can never fail a version",
    ):
        decide(folder, "twin", "good", rouge="2")
    log = write_log(tmp_path / "log.jsonl", [0.5, 1.0, 0.25])
    with pytest.raises(
        HarnessError, match="the margin 1 of acc can never fail a version"
    ):
        gate(log, log, {"acc": Margin(1.0)})


@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_at_the_margin_it_passes_and_fails_at_the_level(kind):
    rng = np.random.default_rng(0)
    n = 400
    runs = 1500
    values = (
        rng.normal(0.02, 0.3, (runs, n))
        if kind == "normal"
        else 0.02 + rng.exponential(0.2, (runs, n)) - 0.2
    )
    means = [SkewedMean.of(float(row.mean()), row) for row in values]
    allowed = LEVEL + 2.5 * np.sqrt(LEVEL * (1 - LEVEL) / runs)
    assert np.mean([mean.p_below(0.02) <= LEVEL for mean in means]) <= allowed
    assert np.mean([mean.p_above(0.02) <= LEVEL for mean in means]) <= allowed
    assert np.mean([mean.p_below(0.1) <= LEVEL for mean in means]) > 0.9


@pytest.mark.parametrize(
    ("n", "worsening"), [(10, 0.05), (20, 0.05), (50, 0.02), (100, 0.01)]
)
def test_a_worsening_equal_to_the_margin_passes_at_the_level(n, worsening):
    """The baseline is always right; each answer of the new version breaks with the
    probability of the margin.
    """
    rng = np.random.default_rng(n)
    lost = rng.binomial(n, worsening, 400)
    passed = [
        PairedShares(int(k), 0, n).p_below(worsening) <= LEVEL for k in range(n + 1)
    ]
    assert np.mean([passed[k] for k in lost]) <= LEVEL
