"""The common size of caption sets."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.run.common_size import common_size, size_note

SPEC = {
    "task": "words",
    "dataset": {"reader": "words"},
    "models": [
        {"echo": {"n": 3, "label": "three", "log": "calls.txt"}},
        {"echo": {"n": 2, "label": "two"}},
    ],
    "metrics": ["length"],
    "bootstrap": {"samples": 0},
}


def counts(label: str, *sizes: tuple[int, int]) -> tuple[str, np.ndarray, np.ndarray]:
    return label, np.array([n for n, _ in sizes]), np.array([m for _, m in sizes])


def test_the_smallest_numbers_that_occur_are_common():
    size = common_size([counts("a", (3, 5), (2, 5)), counts("b", (4, 4))])
    assert (size.n, size.m) == (2, 4)
    assert (
        size.note == "sizes: equal cuts all sets to 2 candidates (the fewest, of a) "
        "and 4 references (the fewest, of b)"
    )
    assert (
        common_size([counts("a", (3, 5)), counts("b", (4, 4)), counts("a", (2, 5))])
        == size
    ), "two decodings of a"


def test_nothing_is_noted_where_all_sets_have_one_size():
    assert (
        common_size([counts("a", (2, 3)), counts("b", (2, 3)), counts("c")]).note == ""
    )
    assert common_size([counts("a", (2, 3)), counts("b", (1, 3))]).note == (
        "sizes: equal cuts all sets to 1 candidate (the fewest, of b)"
    )
    with pytest.raises(ValueError):
        common_size([])


def test_a_run_cuts_all_models_and_notes_it(project):
    plain = harness.evaluate(SPEC)
    assert [record.sizes["candidates"] for record in plain.records if record.sizes] == [
        [3],
        [2],
    ]
    (project / "calls.txt").unlink()
    run = harness.evaluate(SPEC, sizes="equal", output="r")
    assert [record.sizes for record in run.records] == [
        {"candidates": [2], "references": [2]}
    ] * 2
    assert [record.value for record in run.records] == [4.5, 4.5]
    assert run.notes == [
        "sizes: equal cuts all sets to 2 candidates (the fewest, of two)"
    ]
    assert len((project / "calls.txt").read_text().splitlines()) == 6, (
        "captions are generated once"
    )
    assert harness.evaluate(SPEC, sizes="equal", output="r").results == run.results


def test_grid_sizes_beyond_the_common_size_are_left_out(project):
    models = [{"echo": {"label": "a"}}, {"first-words": {"label": "b"}}]
    registry = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        registry.replace(
            "adapters: {", 'adapters: {first-words: {import: "one:One", summary: one}, '
        )
    )
    (project / "one.py").write_text(
        "class One:\n    def fingerprint(self):\n        return 'one'\n\n"
        "    def generate(self, examples, decoding, "
        "seeds):\n        return [('a dog', 'a cat') for e in examples]\n"
    )
    run = harness.evaluate(
        SPEC, models=models, decoding={"candidates": [1, 2, 3]}, sizes="equal"
    )
    assert [(r.model, r.decoding["candidates"]) for r in run.records] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]
    assert (
        "a has at most 2 candidates, not 3: left out, a smaller size shows all of them"
        in run.notes
    )


@pytest.mark.parametrize("size", [None, 1, 3])
def test_sizes_within_the_data_have_no_note(size):
    assert size_note("m", "candidates", size, 3, [1, 3, size]) is None


def test_a_size_beyond_the_data_is_scored_with_all_of_them():
    note = size_note("m", "candidates", 5, 3, [1, 5, 7])
    assert note is not None
    assert (note.text, note.covered) == (
        "m has at most 3 candidates, not 5: scored with what there is",
        False,
    )


@pytest.mark.parametrize("grid", [[3, 5], [4, 5]])
def test_a_size_is_left_out_when_a_smaller_one_uses_all_data(grid):
    note = size_note("m", "references", 5, 3, grid)
    assert note is not None
    assert note.covered
    assert note.text.endswith("left out, a smaller size shows all of them")
