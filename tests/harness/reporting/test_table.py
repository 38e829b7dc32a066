"""The table that all formats show."""

from harness.reporting.table import Table, TableCell


def test_cells_have_their_looks():
    table = Table(["a", "b"], [["x", "1"], ["y", "2"]], "lr", bold=frozenset({(1, 1)}), marks={(0, 1): "ab"})
    assert list(table.cells()) == [
        [TableCell("x", False, ""), TableCell("1", False, "ab")],
        [TableCell("y", False, ""), TableCell("2", True, "")],
    ]
