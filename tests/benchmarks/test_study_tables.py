"""Rows of stored tables: trends beside published values, choices of architectures, and
the commands that the results name.
"""

import json
import math
from types import SimpleNamespace

import pytest

from benchmarks import crnrr_tables
from benchmarks.pregen_choice import CHOICES, choices
from benchmarks.study_tables import STUDIES


def test_a_trend_continues_the_last_doubling_to_the_published_size():
    names = [
        f"qdisc({pair} {n})"
        for pair in crnrr_tables.PAIRS.values()
        for n in crnrr_tables.ORDERS
    ]
    sizes = (12_500, 25_000)
    rows = list(
        crnrr_tables.trend_rows(
            [dict.fromkeys(names, 0.4), dict.fromkeys(names, 0.2)],
            sizes,
            "MSCOCO",
            "qdisc",
        )
    )
    assert rows[0] == ["BS-2, qdisc", "0.4", "0.2", "0.1", "0.032"]
    assert [row[0] for row in rows] == [
        f"{pair}-{n}, qdisc" for pair in ("BS", "CN") for n in (2, 3, 4)
    ]
    assert len(rows[0]) == len(crnrr_tables.trend_headers(sizes))


def test_a_trend_through_an_undefined_value_is_undefined():
    assert math.isnan(crnrr_tables.continue_power_law([math.nan, 0.2], [100, 200], 400))


def test_a_published_bound_is_printed_and_is_no_number():
    row = {
        "DRate_pct_s0.5": {"below": 0.01},
        "QDisc_s0.5": {"value": 2.09e-8, "printed": "2.090 x 10^-8"},
    }
    assert crnrr_tables.published_text(row, "DRate_pct_s0.5") == "< 0.0001"
    assert math.isnan(crnrr_tables.published_number(row, "DRate_pct_s0.5"))
    assert crnrr_tables.published_text(row, "QDisc_s0.5") == "2.09e-08"


def test_the_chosen_architecture_has_its_own_cider():
    scores = {"cider": {"a 1": 1.0, "b 1": 3.0, "a 2": 4.0, "b 2": 2.0}} | {
        name: {"a 1": 1.0, "b 1": 2.0, "a 2": 1.0, "b 2": 2.0} for name in CHOICES
    }
    records = [
        SimpleNamespace(model=model, metric=metric, value=value)
        for metric, row in scores.items()
        for model, value in row.items()
    ]
    rows = {row[0]: row[1:] for row in choices(SimpleNamespace(records=records))}
    assert rows["CIDEr itself"] == ["3.500", "1.000", "2 of 2"]
    # b at both stages
    assert rows["pregen(mean_max_normcount_prefix0)"] == ["2.500", "0.714", "1 of 2"]
    # lower is better: a at both stages
    assert rows["pregen(geomean_join_pplx_none)"] == ["2.500", "0.714", "1 of 2"]
    assert rows["at random"][0] == "2.500"


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_has_stored_results_in_a_page(study, root):
    folder = root / "docs/studies"
    stored = json.loads((folder / f"results/{study}.json").read_text(encoding="utf-8"))
    pages = "".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    assert stored["command"] == f"python -m benchmarks.study_tables {study}"
    assert all(f"<!-- results {table} -->" in pages for table in stored["tables"])
