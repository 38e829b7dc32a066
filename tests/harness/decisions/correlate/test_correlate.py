"""The correlation tool: the published study whole, choosing of columns, groups,
dropping, and what it prints.
"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.main import main
from harness.contracts import CaptionSet, MeanMetric, MetricSpec, TokenScores
from harness.decisions.correlate.column_sources import read_columns
from harness.decisions.correlate.column_table import ColumnTable, from_records
from harness.decisions.correlate.correlate import (
    choose,
    strata,
    stratify_by_metric,
    study,
)
from harness.errors import HarnessError, InputError, UnknownName
from harness.run.metric_plan import metric_plan
from harness_metrics.pregen.metric import Pregen

POST = ["METEOR", "CIDEr", "SPICE", "WMD"]
GROUPS = ["mscoco", "flickr30k", "flickr8k"]
BEST = {  # Tanti et al. 2018: the five best by overall R²
    "CIDEr": [
        0.937164178594,
        0.929911499965,
        0.929910062224,
        0.929880800066,
        0.892622559603,
    ],
    "METEOR": [
        0.964877437343,
        0.938941727023,
        0.938932151698,
        0.938759388845,
        0.908391725664,
    ],
    "SPICE": [
        0.950119548604,
        0.917390560654,
        0.917379268174,
        0.917198435295,
        0.893366018775,
    ],
    "WMD": [
        0.954237190564,
        0.929684446727,
        0.929677526594,
        0.929527281819,
        0.885546147003,
    ],
}
TABLE = from_records(
    "toy",
    [
        {
            "set": name,
            "good": i,
            "flat": 1.0 if name == "b" else i,
            "infinite": np.inf if i == 5 else i,
            "y": i * i,
            "trm(a)": -i,
        }
        for i, name in enumerate("aaabbb")
    ],
)
SETS = [CaptionSet(str(i), ("a " * (5 - i),), ("b " * (i + 1),)) for i in range(5)]


@pytest.fixture(scope="module")
def data(golden):
    return golden / "pregen/data.txt.gz"


@pytest.fixture(scope="module")
def published(data):
    table = read_columns([data])
    return study(table, choose(table, "pregen"), POST, by="dataset", groups=GROUPS)


def test_all_published_correlations_and_reasons(golden, published):
    with gzip.open(golden / "pregen/correlations_golden.json.gz", "rt") as file:
        golden = json.load(file)
    assert list(published.groups) == golden["order"]
    assert dict(published.dropped) == golden["dropped"]
    assert len(published.x) == 361
    for k, y in enumerate(POST):
        assert list(golden["r"][y]) == list(published.x)
        r = np.stack(
            [published.tables[group].r[:, k] for group in golden["order"]], axis=1
        )
        np.testing.assert_allclose(r, list(golden["r"][y].values()), rtol=0, atol=1e-12)


def test_the_top_five_lists(published):
    for y, expected in BEST.items():
        names = published.best(y, 5)
        assert names[0] == "mean_max_normcount_prefix0"
        assert [published.record(name, y)["r2"] for name in names] == pytest.approx(
            expected, abs=1e-12
        )


@pytest.mark.slow
def test_the_command_prints_them(data, capsys):
    assert (
        main(
            [
                "correlate",
                str(data),
                "--x",
                "pregen",
                "--y",
                ",".join(POST),
                "--top",
                "5",
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert "143 columns dropped" in printed
    assert printed.index("0.9649") < printed.index("0.9372") < printed.index("0.9299")
    assert "0.96487" not in printed  # four digits; --json and --output have all of them


@pytest.mark.slow
def test_the_command_gives_json_and_plots(data, tmp_path, capsys):
    call = [
        "correlate",
        str(data),
        "--x",
        "pregen",
        "--y",
        "CIDEr",
        "--groups",
        ",".join(GROUPS),
        "--top",
        "1",
        "--json",
    ]
    assert (
        main([*call, "--plot", str(tmp_path), "--baseline", "geomean_join_pplx_none"])
        == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed["groups"] == [*GROUPS, "all"]
    assert printed["correlations"][3]["r2"] == pytest.approx(0.937164178594, abs=1e-12)
    assert printed["dropped"]["sum_sum_pplx_filter0"] == "inf in mscoco"
    assert sorted(
        file.name for file in tmp_path.iterdir() if not file.name.startswith(".")
    ) == [
        f"{name}.{end}"
        for name in ("baseline", "best", "ranking")
        for end in ("png", "svg")
    ]


def test_choosing_columns():
    assert choose(TABLE, "good, f*") == ["good", "flat"]
    assert choose(TABLE, "trm") == ["trm(a)"]
    with pytest.raises(
        UnknownName, match="toy has no number column 'god'; did you mean 'good'"
    ):
        choose(TABLE, "god")
    with pytest.raises(UnknownName, match="no number column 'set'"):
        choose(TABLE, "set")
    with pytest.raises(HarnessError, match="selects no column"):
        choose(TABLE, ",")


def test_published_rule_drops_for_all_groups_and_never_keeps():
    names = ["good", "flat", "infinite"]
    dropped = study(TABLE, names, ["y"], by="set")
    assert dropped.x == ("good",)
    assert dropped.dropped == {"flat": "constant in b", "infinite": "inf in b"}
    kept = study(TABLE, names, ["y"], by="set", drop="never")
    assert kept.record("flat", "y", "b")["r2"] is None
    assert kept.record("flat", "y", "a")["r2"] == pytest.approx(
        kept.record("good", "y", "a")["r2"]
    )
    assert kept.record("infinite", "y")["r"] is None
    assert kept.record("infinite", "y")["spearman"] == pytest.approx(1)
    assert kept.best("y") == ["good", "flat"]


def test_missing_cells_leave_their_rows_out():
    table = from_records(
        "toy", [{"x": i, "y": -i if i != 2 else None} for i in range(5)]
    )
    found = study(table, ["x"], ["y"])
    assert (found.left_out, found.tables["all"].n, found.record("x", "y")["r"]) == (
        1,
        4,
        pytest.approx(-1),
    )


def test_bad_studies():
    with pytest.raises(
        InputError, match="no column is left to correlate .flat: constant in b"
    ):
        study(TABLE, ["flat"], ["y"], by="set")
    with pytest.raises(UnknownName, match="no rows with set 'c'"):
        study(TABLE, ["good"], ["y"], by="set", groups=["a", "c"])
    with pytest.raises(InputError, match="the group '0' has 1 rows"):
        study(TABLE, ["good"], ["y"], by="good")


def test_the_command_tells_mistakes_in_one_line(tmp_path, capsys):
    path = tmp_path / "t.tsv"
    path.write_text("a\tb\n1\t2\n2\t1\n3\t5\n")
    assert main(["correlate", str(path), "--x", "a", "--y", "c"]) == 2
    assert "has no number column 'c'" in capsys.readouterr().err
    assert main(["correlate", str(path), "--x", "a", "--y", "b", "--top", "0"]) == 2
    assert (
        main(
            [
                "correlate",
                str(path),
                "--x",
                "a",
                "--y",
                "b",
                "--plot",
                str(tmp_path / "p"),
                "--baseline",
                "b",
            ]
        )
        == 2
    )
    assert "the baseline 'b' is no column of the study" in capsys.readouterr().err


def test_a_pattern_selects_ids_where_it_matches_nothing_else():
    numbers = {name: np.arange(3.0) for name in ("#tokens", "#types", "rouge")}
    table = ColumnTable("t", numbers, {}, frozenset({"#tokens", "#types"}))
    assert choose(table, "#*") == ["#tokens", "#types"]
    assert choose(table, "*") == ["rouge"]


class Length(MeanMetric):
    """Words of the first candidate as a share of the longest reference of the data set
    it is fitted on.
    """

    spec = MetricSpec("length", True)

    def fit(self, references, features):
        return max(len(text.split()) for texts in references for text in texts)

    def scores(self, batch, features, state):
        return np.array(
            [len(item.candidates[0].split()) / state for item in batch.sets]
        )


def plan(metric):
    return metric_plan(
        "pregen" if metric.spec.level == "model" else metric.spec.name, {}, metric
    )


def test_each_stratum_is_its_own_data_set():
    rows = stratify_by_metric(SETS, [plan(Length())], 2, plan(Length()))
    assert [(row["num_strata"], row["stratum"]) for row in rows] == [
        (1, 0),
        (2, 0),
        (2, 1),
    ]
    # shortest captions first: examples 4, 3 | 2, 1 (0, the best, is left over); state
    # is the stratum's longest reference
    assert [row["length"] for row in rows] == pytest.approx([3 / 5, 1.5 / 5, 3.5 / 3])
    assert stratify_by_metric(SETS, [plan(Length())], 1, plan(Length())) == rows[:1]


def test_pregen_takes_the_token_scores_of_the_stratum():
    scores = {
        item.id: [TokenScores(np.log([0.5]), np.array([int(item.id) % 2]))]
        for item in SETS
    }
    rows = stratify_by_metric(SETS, [plan(Pregen())], 2, plan(Length()), scores)
    assert [row["pregen(mean_max_normcount_prefix0)"] for row in rows] == pytest.approx(
        [0.6, 0.5, 0.5]
    )


def test_more_strata_than_examples():
    with pytest.raises(InputError, match="cannot make 6 strata of 5 examples"):
        stratify_by_metric(SETS, [plan(Length())], 6, plan(Length()))


def test_left_overs_are_the_best():
    assert strata([3, 1, 2, 5, 4], 2) == [[1, 2], [0, 4]]


@given(scores=st.lists(st.integers(-5, 5), max_size=30), k=st.integers(1, 8))
def test_strata_are_disjoint_equal_in_size_and_ascending(scores, k):
    groups = strata([float(score) for score in scores], k)
    assert [len(group) for group in groups] == [len(scores) // k] * k
    members = [item for group in groups for item in group]
    assert len(set(members)) == len(members)
    assert [scores[item] for item in members] == sorted(scores)[: len(members)]


def test_ties_keep_the_order_of_the_items():
    assert strata([1.0, 0.0, 1.0, 0.0], 2) == [[1, 3], [0, 2]]


def test_the_remaining_items_with_the_highest_scores_belong_to_no_stratum():
    assert strata([0.3, 0.1, 0.2, 0.9, 0.5], 2) == [[1, 2], [0, 4]]
    assert strata([0.1], 2) == [[], []]


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_the_number_of_strata_is_a_positive_integer(k):
    with pytest.raises(InputError, match="expected an integer of at least 1"):
        strata([0.1, 0.2], k)


def test_bad_scores_are_reported():
    with pytest.raises(InputError, match="item 1: a score is NaN"):
        strata([0.1, np.nan], 1)
    with pytest.raises(InputError, match=r"found an array of shape \(1, 2\)"):
        strata(np.array([[0.1, 0.2]]), 1)
