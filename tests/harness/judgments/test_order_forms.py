"""Best and worst captions, and rankings."""

import pytest

from harness.errors import InputError
from harness.judgments.source_files import read_judgments


def ranked(write, source, ranking, captions=("a", "b", "c")):
    rows = [{"id": k, "captions": captions, "ranking": ranking} for k in range(2)]
    return read_judgments(source(write(rows), form="ranking"))


def test_rankings(write, source):
    judged = ranked(write, source, [2, 0, 1])
    assert [c.ratings[0] for c in judged.captions[:3]] == [
        0.0,
        -1.0,
        1.0,
    ] and judged.items[0].references == ()
    # a over b, c over a, c over b
    assert [p.preference for p in judged.pairs[:3]] == [1, -1, -1]
    judged = ranked(write, source, [["c", "a", "b"], ["a", "c", "b"]])
    assert [c.ratings[0] for c in judged.captions[:3]] == [0.5, -1.0, 0.5]
    assert [p.preference for p in judged.pairs[:3]] == [2, 0, -2]
    systems = ranked(write, source, ["y", "x"], {"x": "a dog", "y": "a cat"})
    assert [(c.system, c.ratings[0]) for c in systems.captions[:2]] == [
        ("x", -1.0),
        ("y", 1.0),
    ]
    for ranking, message in (
        ([0, 1], "each of the 3 captions once"),
        ([0, 0, 1], "each of the 3"),
        ([0, 1, 2, 2], "each of the 3"),
        (1, "each of the 3"),
        ([], "each"),
        (None, "is missing"),
        ([0, 1, "d"], "'ranking' is 'd'"),
    ):
        with pytest.raises(InputError, match=message):
            ranked(write, source, ranking)


def test_best_and_worst_by_several_raters(write, source):
    """Captions are named by their position, system or text."""
    rows = [
        {
            "id": k,
            "captions": {"x": "a dog", "y": "a cat", "z": "a cow"},
            "best": ["x", 1],
            "worst": ["a cow", "2"],
        }
        for k in range(2)
    ]
    judged = read_judgments(source(write(rows), form="best-worst"))
    assert [(c.system, c.texts[0], c.ratings) for c in judged.captions[:3]] == [
        ("x", "a dog", (0.5,)),
        ("y", "a cat", (0.5,)),
        ("z", "a cow", (-1.0,)),
    ]
    assert [p.votes for p in judged.pairs[:3]] == [(1.0, -1.0), (1.0, 1.0), (1.0, 1.0)]
    single = [{**row, "best": "y", "worst": "x"} for row in rows]
    assert [
        p.votes
        for p in read_judgments(source(write(single), form="best-worst")).pairs[:3]
    ] == [(-1.0,), (-1.0,), (1.0,)]
    for name, message in (
        (None, "'best' is missing; expected the position"),
        ("", "'best' is ''; expected the position"),
        ("q" * 60, "'best' is 'q{39}; expected"),
    ):
        with pytest.raises(InputError, match=message):
            read_judgments(
                source(
                    write([{**row, "best": name} for row in rows]), form="best-worst"
                )
            )
