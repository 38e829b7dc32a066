"""Tables of runs of judgments, in the terminal and as files."""

from harness.cli.main import main
from harness.reporting.league import LeagueSet
from harness.reporting.league_tables import pairwise_table, set_table
from harness.run.finished import Run


def test_the_console(judged_runs):
    assert "League table" in judged_runs and "published: A paper" in judged_runs and "12.5" in judged_runs
    assert "7 items, 21 captions" in judged_runs and "a set of one" in judged_runs


def test_tables_are_files(judged_runs, tmp_path):
    assert main(["report", "out", "--tables", "tables"]) == 0
    league = (tmp_path / "tables/league.csv").read_text().splitlines()
    assert len(league) == 7 and league[0].startswith("set,statistic,metric,value") and league[0].endswith("reference")
    assert "| BLEU-1 | **0.9 (1)** | **0.9 (1)** | 1.0 |" in (tmp_path / "tables/league.md").read_text()
    assert len((tmp_path / "tables/2-judgments-two.csv").read_text().splitlines()) == 10
    assert r"\textbf{BLEU-1}" in (tmp_path / "tables/1-judgments-one.tex").read_text()


def test_the_set_is_one_table_for_all_formats(judged_runs, tmp_path):
    judged = LeagueSet(Run.open(tmp_path / "out/one"))
    table = set_table(judged)
    assert table.title.startswith("judgments/one  ") and table.notes[0] == "7 items, 21 captions"
    assert [row[:3] for row in table.rows[:4]] == [
        ["kendall_c", "BLEU-1", "0.9"], ["", "ROUGE-L", "0.9"], ["", "Self-BLEU-2", "–"], ["pearson", "BLEU-1", "4.1"],
    ]  # fmt: skip
    assert {row for row, _ in table.bold} == {0, 1} and table.groups == {0, 3, 6}
    assert len(table.bars) == 6 and all(0 <= end <= 1 for bar in table.bars.values() for end in bar)
    assert [row[:2] for row in pairwise_table(judged).rows] == [["BLEU-1", "ROUGE-L"]]
