"""The tables of calibration: drawn again, written to their file,
and shown on the cards.
"""

from __future__ import annotations

import json
import math

import pytest

from harness.contracts import Interval
from harness.run.coverage_tables import LOWEST, checked_interval, table_names
from harness.testing.calibration import MANY, calibrate
from tools import calibration

TABLES = json.loads(calibration.TABLES.read_text("utf-8"))["metrics"]
DRAWN_AGAIN = ("rouge", "meteor", "mmd", "novelty", "vendi", "dense(matched)")
RUNS = 200


@pytest.mark.slow
@pytest.mark.parametrize("label", DRAWN_AGAIN)
def test_tables_drawn_again_are_equal_within_their_error(label):
    table = TABLES[label]
    metric, populations = calibration.case(calibration.case_name(label, table))
    again = calibrate(metric, populations, sizes=(5, 20), repetitions=RUNS)
    assert label in table_names(metric)
    for n, cell in again.sizes.items():
        stored = table["sizes"][str(n)]
        assert n < MANY
        counts = (RUNS, table["repetitions"]), (again.tests, table["tests"])
        for shares, known, (new, old) in zip(
            (cell.coverage, cell.size), (stored["interval"], stored["test"]), counts
        ):
            for drawn, before in zip(shares, known):
                if drawn is None or before is None:
                    assert drawn == before
                    continue
                mean = (drawn + before) / 2
                variance = max(mean * (1 - mean), 0.01) * (1 / new + 1 / old)
                assert abs(drawn - before) < 4 * math.sqrt(variance), (n, shares, known)


@pytest.mark.slow
def test_every_card_shows_the_tables():
    cards = calibration.guides(calibration.ROOT / "docs")
    for label, table in TABLES.items():
        text = (
            calibration.ROOT / "docs" / cards["metrics", table["metric"]]
        ).read_text("utf-8")
        section = text.partition(calibration.START)[2].partition(calibration.END)[0]
        line = calibration.card_section({label: table}).splitlines()[-2]
        assert line.split("|")[2].strip() in section, label
        assert f"| `{label}` interval |" in section
        assert f"| `{label}` test |" in section


@pytest.mark.slow
def test_every_metric_without_a_table_says_why_on_its_card():
    cards = calibration.guides(calibration.ROOT / "docs")
    measured = {table["metric"] for table in TABLES.values()} | TABLES.keys()
    for name in calibration.metric_cases.names():
        text = (calibration.ROOT / "docs" / cards["metrics", name]).read_text("utf-8")
        sentence = calibration.unmeasured_sentence(name)
        assert (sentence in text) == (name not in measured), name


@pytest.mark.slow
def test_no_built_in_metric_prints_an_interval_that_covers_less_than_it_should():
    printed = 0
    for label, table in TABLES.items():
        try:
            metric, _ = calibration.case(calibration.case_name(label, table))
        except (calibration.HarnessError, OSError):
            # needs a model that is not installed here
            continue
        assert label in table_names(metric)
        for n, cell in table["sizes"].items():
            lowest = min(
                (share for share in cell["interval"] if share is not None), default=1.0
            )
            ends = checked_interval(metric, Interval((0.0, 1.0)), int(n)).ends
            assert (ends is None) == (lowest < LOWEST), (label, n)
            printed += ends is not None
    assert printed > 300


def test_metrics_outside_the_goal_are_listed():
    section = (
        calibration.PAGE.read_text("utf-8")
        .partition(calibration.START)[2]
        .partition(calibration.END)[0]
    )
    assert section.strip() == calibration.goal_section(TABLES)

    outside = calibration.outside_goal(TABLES)
    of_few = {"2": {"interval": [0.5]}, "20": {"interval": [0.94, None]}}
    wide = {"20": {"interval": [0.99]}}
    narrow = {"300": {"interval": [0.95, 0.8]}}
    tables = {
        name: {"repetitions": 10_000, "sizes": sizes}
        for name, sizes in (("few", of_few), ("wide", wide), ("narrow", narrow))
    }
    assert calibration.outside_goal(tables) == {
        "narrow": ["300: .80–.95 \\*"],
        "wide": ["20: .99"],
    }

    smooth = {
        "rouge",
        "meteor",
        "bleu4",
        "cider",
        "chrf",
        "ter",
        "bertscore",
        "wmd",
        "trm",
        "mmd",
        "frechet",
        "sari",
        "fense",
    }
    assert smooth <= TABLES.keys() and not smooth & outside.keys()


@pytest.mark.slow
def test_captions_for_metrics_of_nearest_neighbours_differ():
    a, b = calibration.unequal_captions(2)
    texts = [
        text for system in (a, b) for item in system for text in item.candidates
    ] + [text for item in a for text in item.references]
    assert len(set(texts)) == len(texts) == 15 * len(a)
    assert [item.references for item in a] == [item.references for item in b]


def test_a_section_stars_what_a_run_does_not_print():
    cells = {
        "2": {"interval": [0.9, 0.896, 1.0], "test": [0.0, 0.0, 0.0]},
        "5": {"interval": [None], "test": [0.05]},
    }
    lines = calibration.card_section(
        {"words": {"repetitions": 1000, "tests": 250, "sizes": cells}}
    ).splitlines()
    assert lines[-4:] == [
        "| | n = 2 | 5 |",
        "| --- | --- | --- |",
        "| `words` interval | .89–1.00 \\* | – |",
        "| `words` test | .00 | .05 |",
    ]


def test_a_section_names_the_tables_of_other_numbers_of_runs():
    sizes = {"5": {"interval": [0.9], "test": [0.05]}}
    tables = {
        label: {"repetitions": runs, "tests": tests, "sizes": sizes}
        for label, runs, tests in (
            ("a", 200, 50),
            ("b", 500, 250),
            ("c", 2000, 1000),
            ("d", 500, 250),
            ("e", 200, 50),
            ("f", 500, 250),
        )
    }
    text = " ".join(calibration.card_section(tables).partition("\n\n")[0].split())
    assert text.endswith(
        "at least 500 intervals and 250 tests (standard error .010, .014); "
        "200 and 50 (.015, .031) of `a`, `e`; "
        "2,000 and 1,000 (.005, .007) of `c`. "
        "\\* below .90: no interval."
    )


def test_tables_are_stored_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "TABLES", tmp_path / "calibration.json")
    first = {
        "repetitions": 10,
        "tests": 5,
        "sizes": {"2": {"interval": [0.9], "test": [None]}},
    }
    calibration.store("b", "b2", first)
    calibration.store("a", "a", first)
    calibration.store("b", "b2", {**first, "repetitions": 20})
    stored = json.loads(calibration.TABLES.read_text("utf-8"))["metrics"]
    assert list(stored) == ["a", "b2"]
    assert stored["b2"] == {
        "metric": "b",
        "repetitions": 20,
        "tests": 5,
        "sizes": first["sizes"],
    }


def test_cells_of_other_sizes_stay_with_the_smallest_number_of_repetitions(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(calibration, "TABLES", tmp_path / "calibration.json")
    cells = {n: {"interval": [0.9], "test": [None]} for n in ("2", "10")}
    calibration.store("a", "a", {"repetitions": 10, "tests": 9, "sizes": cells})
    calibration.store(
        "a",
        "a",
        {
            "repetitions": 20,
            "tests": 5,
            "sizes": {"3": cells["2"], "10": {"interval": [0.8], "test": [0]}},
        },
    )
    table = json.loads(calibration.TABLES.read_text("utf-8"))["metrics"]["a"]
    assert (table["repetitions"], table["tests"], list(table["sizes"])) == (
        10,
        5,
        ["2", "3", "10"],
    )
    assert (
        table["sizes"]["10"]["interval"] == [0.8] and table["sizes"]["2"] == cells["2"]
    )


def test_populations_of_reference_games():
    a, b = calibration.games(2)
    assert len(a) == len(b) == calibration.EXAMPLES
    assert [item.references for item in a] == [item.references for item in b]
    assert sum(one.candidates != other.candidates for one, other in zip(a, b)) > 100


@pytest.mark.parametrize(
    ("name", "reason"),
    [("clair", "needs a judge"), ("clipscore", "needs weights of CLIP")],
)
def test_metrics_that_are_not_measured(name, reason):
    with pytest.raises(calibration.HarnessError, match=reason):
        calibration.case(name)
