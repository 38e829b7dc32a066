"""The page and the tables of runs of judgments."""

from harness.cli.main import main


def test_the_page(judged_runs, tmp_path, capsys):
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
