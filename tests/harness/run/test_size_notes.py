"""Notes on sizes of the grid beyond the data."""

from __future__ import annotations

import pytest

from harness.run.size_notes import size_note


@pytest.mark.parametrize("size", [None, 1, 3])
def test_sizes_within_the_data_have_no_note(size):
    assert size_note("m", "candidates", size, 3, [1, 3, size]) is None


def test_a_size_beyond_the_data_is_scored_with_all_of_them():
    note = size_note("m", "candidates", 5, 3, [1, 5])
    assert note is not None
    assert (note.text, note.covered) == ("m has at most 3 candidates, not 5: scored with what there is", False)


@pytest.mark.parametrize("grid", [[3, 5], [4, 5]])
def test_a_size_is_left_out_when_a_smaller_one_uses_all_data(grid):
    note = size_note("m", "references", 5, 3, grid)
    assert note is not None
    assert note.covered
    assert note.text.endswith("left out, a smaller size shows all of them")
