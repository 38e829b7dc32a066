"""harness correlate: patterns, order, digits, files, metric lists, metadata of runs."""

import json

import pytest

from harness.cli.main import main


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{1000 + i},{i},{i * i},{(i * 7) % 5},{i + 0.5},en" for i in range(8)]
    path.write_text("id,a,b,c,human_score,lang\n" + "\n".join(rows) + "\n")
    return path


def correlations(capsys, *call):
    assert main(["correlate", *map(str, call), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["correlations"]


def test_a_star_selects_neither_y_nor_ids(table, capsys):
    rows = correlations(capsys, table, "--x", "*", "--y", "human_score")
    assert [row["x"] for row in rows] == ["a", "b", "c"]
    assert all(
        row["x"] != row["y"]
        for row in correlations(capsys, table, "--x", "a,b,c", "--y", "a,b")
    )
    assert [
        row["x"] for row in correlations(capsys, table, "--x", "id", "--y", "a")
    ] == ["id"]


def test_a_column_with_itself_is_an_error(table, capsys):
    assert main(["correlate", str(table), "--x", "a", "--y", "a"]) == 2
    assert "x and y are the same column, 'a'" in capsys.readouterr().err


def test_sort(table, capsys):
    call = [table, "--x", "*", "--y", "human_score", "--sort"]
    assert [row["x"] for row in correlations(capsys, *call, "name")] == ["a", "b", "c"]
    rows = correlations(capsys, *call, "kendall")
    assert [row["kendall"] for row in rows] == sorted(
        (row["kendall"] for row in rows), reverse=True
    )


def test_printed_digits_and_the_file(table, tmp_path, capsys):
    assert (
        main(
            [
                "correlate",
                str(table),
                "--x",
                "*",
                "--y",
                "human_score",
                "--output",
                str(tmp_path / "o.csv"),
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out
    line = next(line for line in printed.splitlines() if line.startswith("b "))
    assert all(
        len(cell.partition(".")[2]) == 4 for cell in line.replace("│", " ").split()[1:3]
    )
    assert f"wrote {tmp_path / 'o.csv'}" in printed
    assert (
        (tmp_path / "o.csv")
        .read_text()
        .startswith("x,y,group,n,r,r2,p,spearman,kendall\n")
    )


def test_several_files_and_parquet(table, tmp_path, capsys):
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(table), tmp_path / "t.parquet")
    rows = correlations(
        capsys, table, tmp_path / "t.parquet", "--x", "*", "--y", "human_score"
    )
    assert {row["n"] for row in rows} == {16} and [row["x"] for row in rows] == [
        "a",
        "b",
        "c",
    ]
    grouped = correlations(
        capsys, table, tmp_path / "t.parquet", "--x", "a", "--y", "b", "--by", "file"
    )
    assert len(grouped) == 3
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    assert (
        main(["correlate", str(tmp_path / "bad.parquet"), "--x", "a", "--y", "b"]) == 2
    )
    assert "not readable as Parquet" in capsys.readouterr().err


def test_judgments_with_several_metrics_of_one_name(tmp_path, capsys):
    path = tmp_path / "j.jsonl"
    rows = [
        {
            "image_id": i // 2,
            "references": ["a b c", "d"],
            "caption": "abcd"[: i % 4 + 1],
            "human_score": i % 3,
        }
        for i in range(8)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call = [
        path,
        "--judgments",
        "bleu:n=[1,2],tokenizer=none,rouge:tokenizer=none",
        "--x",
        "*",
        "--y",
        "human_score",
        "--rows",
        "example",
    ]
    found = {row["x"] for row in correlations(capsys, *call, "--drop", "never")}
    assert (
        "human_score" not in found
        and "image_id" not in found
        and found <= {"bleu1", "bleu2", "rouge"}
    )


def test_metadata_of_a_run_are_columns(project, capsys):
    (project / "mine_meta.py").write_text(
        "from harness.contracts import Example\n"
        "class Rated:\n    def fingerprint(self):\n        return 'r'\n"
        "    def __iter__(self):\n"
        "        for i in range(6):\n"
        "            yield Example(f'e{i}', (f'a dog {i}', 'x ' * i + 'y'), "
        "meta={'difficulty': i * 2, 'kind': 'ab'[i % 2], 'big': [1]})\n"
    )
    registry = (
        (project / "registry.yaml")
        .read_text()
        .replace(
            "readers: {",
            'readers: {rated: {import: "mine_meta:Rated", summary: rated examples}, ',
        )
    )
    (project / "registry.yaml").write_text(registry)
    (project / "spec.yaml").write_text(
        (project / "spec.yaml").read_text().replace("reader: words", "reader: rated")
    )
    assert main(["run", "spec.yaml", "--output", "r"]) == 0
    capsys.readouterr()
    rows = correlations(
        capsys,
        "r",
        "--rows",
        "example",
        "--x",
        "*",
        "--y",
        "difficulty",
        "--by",
        "kind",
        "--drop",
        "never",
    )
    assert {row["x"] for row in rows} == {"length"} and {
        row["group"] for row in rows
    } == {"a", "b", "all"}
