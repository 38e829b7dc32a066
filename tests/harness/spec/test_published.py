"""References of views to files of published values."""

import pytest

from harness.errors import InputError
from harness.spec.loading import load_specs
from harness.spec.published import PublishedTable, authors_text

PAPER = """
paper: {authors: [Ada Low, Bo Key], year: 2020}
items:
  - id: table1
    kind: table
    labels: [dataset, model]
    columns: [A, B]
    rows:
      - {dataset: X, model: M, A: 0.5, B: {below: 1.0}}
      - {dataset: X, model: Human, A: {value: 40.0, spread: 2.0}, B: null}
"""
SPEC = """
task: t
dataset: {{reader: coco, path: captions.json}}
models: [human]
metrics: [meteor, cider]
views:
  - plot: table
    x: metric
    by: model
    reference:
      item: {item}
      columns: {{meteor: {column}, cider: {{column: B, factor: 0.01}}}}
      rows:
        - {row}
"""


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "paper.yaml").write_text(PAPER)

    def loaded(item="paper.yaml#table1", column="A", row="{at: [X, M], label: human}"):
        file = tmp_path / "spec.yaml"
        file.write_text(SPEC.format(item=item, column=column, row=row))
        (one,) = load_specs(file)
        return one.spec.views[0].reference

    return loaded


def test_numbers_bounds_and_empty_cells(spec):
    table = spec()
    assert isinstance(table, PublishedTable)
    assert table.source == "Low and Key 2020, Table 1"
    assert table.rows[0].values == {"meteor": 0.5, "cider": "< 0.01"}
    assert (table.rows[0].title, table.rows[0].label) == ("X, M", "human")
    (row,) = spec(row="{at: [X, Human], task: t}").rows
    assert row.values == {"meteor": 40.0} and row.task == "t" and row.label is None


def test_cells_of_a_transposed_table(spec):
    (row,) = spec(
        row="{label: human, title: M, cells: {meteor: [X, M, A], cider: {at: [X, "
        "Human, A], factor: 0.01}}}"
    ).rows
    assert row.values == {"meteor": 0.5, "cider": 0.4}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"item": "paper.yaml#table2"},
            "no item 'table2' in paper.yaml; did you mean 'table1'?",
        ),
        ({"item": "papers.yaml#table1"}, "expected FILE#ID"),
        ({"item": "paper.yaml"}, "expected FILE#ID"),
        ({"column": "C"}, "no column 'C'"),
        ({"row": "{at: [X, N]}"}, "no row 'X, N'; did you mean 'X, M'?"),
        ({"row": "{at: [X]}"}, r"expected \[dataset, model, column\]"),
        ({"row": "{label: human}"}, "a row has 'at' or 'cells'"),
        ({"row": "{at: [X, M], lable: human}"}, "a row has 'at' or 'cells'"),
    ],
)
def test_mistakes_name_file_line_and_nearest(spec, change, message):
    with pytest.raises(InputError, match=message) as error:
        spec(**change)
    assert "spec.yaml:" in str(error.value)


def test_rows_may_be_written_in_the_spec():
    views = [
        {
            "plot": "table",
            "reference": {
                "source": "mine",
                "rows": [{"values": {"cider": 1.0, "meteor": "< 0.1"}}],
            },
        }
    ]
    content = {
        "task": "t",
        "dataset": {"reader": "jsonl"},
        "models": ["human"],
        "metrics": ["cider"],
        "views": views,
    }
    (one,) = load_specs(content)
    view = one.spec.views[0]
    assert view.remark == "Published: mine."
    (again,) = load_specs(one.spec)
    assert again.spec.views[0] == view
    views[0]["reference"]["rows"][0]["value"] = 1
    with pytest.raises(InputError, match="unknown key 'value'; did you mean 'values'"):
        load_specs(content)


@pytest.mark.parametrize(
    ("authors", "text"),
    [
        (["Ada Low"], "Low 2020"),
        (["Ada Low", "Bo Key"], "Low and Key 2020"),
        (["Ada Low", "Bo Key", "Cy May"], "Low et al. 2020"),
        ([], "unknown 2020"),
    ],
)
def test_authors_of_a_paper(authors, text):
    assert authors_text({"authors": authors, "year": 2020}) == text
