"""Pairs of captions in the forms that files of the field have."""

import pytest

from harness import api
from harness.errors import InputError
from harness.judgments.source_files import read_judgments


def test_categories_that_hold_pairs(write, source):
    pair = {"image": "a.jpg", "captions": ["a dog", "a cat"]}
    value = {
        "HC": [{**pair, "label": 0}],
        "MM": [{**pair, "image": "b.jpg", "label": 1}],
    }
    columns = {"first": "captions.0", "second": "captions.1", "preference": "label"}
    judged = read_judgments(
        source(
            write(value),
            form="pairs",
            columns=columns,
            preference={"first": 0, "second": 1},
        )
    )
    assert [(p.preference, p.meta["group"]) for p in judged.pairs] == [
        (1, "HC"),
        (-1, "MM"),
    ]
    assert [item.id for item in judged.items] == ["a.jpg", "b.jpg"] and judged.items[
        0
    ].references == ()


def test_scores_of_other_programs_for_both_captions_of_a_pair(write, source):
    rows = [
        {
            "id": k,
            "a": "x",
            "b": "y",
            "vote": 1 - 2 * k,
            "clip": [0.5, 0.25 + k],
            "fleur_a": 1,
            "fleur_b": k,
        }
        for k in range(2)
    ]
    columns = {
        "first": "a",
        "second": "b",
        "preference": "vote",
        "scores": {"clip": ["clip.0", "clip.1"], "FLEUR": ["fleur_a", "fleur_b"]},
    }
    judgments = {"form": "pairs", "path": write(rows), "columns": columns}
    judged = read_judgments(source(judgments["path"], form="pairs", columns=columns))
    assert [caption.meta for caption in judged.captions[2:]] == [
        {"clip": 0.5, "FLEUR": 1},
        {"clip": 1.25, "FLEUR": 1},
    ]
    metrics = [{"scores": {"column": ["clip", "FLEUR"]}}]
    result = api.evaluate(
        {
            "task": "t",
            "judgments": judgments,
            "statistics": ["accuracy"],
            "metrics": metrics,
        }
    )
    # a tie counts half
    assert {r.metric: (r.value, r.n) for r in result.records} == {
        "clip": (1, 2),
        "FLEUR": (0.75, 2),
    }
    with pytest.raises(InputError, match="no column 'clip_b'"):
        read_judgments(
            source(
                judgments["path"],
                form="pairs",
                columns={**columns, "scores": {"clip": ["clip", "clip_b"]}},
            )
        )
    with pytest.raises(
        ValueError,
        match="columns.scores is for the forms pairs and foil; found form: captions",
    ):
        source(judgments["path"], columns={"scores": {"clip": ["a", "b"]}})


def test_chosen_and_rejected_answers(write, source):
    rows = [
        {"id": k, "prompt": "p", "chosen": "yes", "rejected": "no", "subset": "easy"}
        for k in range(2)
    ]
    judged = read_judgments(
        source(write(rows), form="foil", columns={"source": "prompt"})
    )
    assert (
        judged.items[0].source == "p"
        and "the preferred caption always stands first" in judged.notes[0]
    )


def test_both_sides_of_a_pair_have_their_system_and_mark(write, source):
    common = {
        "first": "a dog",
        "second": "a cat",
        "y": "t",
        "references": ["a cat", "a dog"],
        "by_first": "person",
        "lang": "de",
    }
    rows = [
        {"id": 0, "votes": 1, "x": None, "by_second": "person"},
        {"id": 1, "votes": -1, "x": "s", "by_second": "model"},
    ]
    rows = [{**common, **row} for row in rows]
    columns = {
        "system_first": "x",
        "system_second": "y",
        "own_first": {"by_first": "person"},
        "own_second": {"by_second": "person"},
    }
    judged = read_judgments(source(write(rows), form="pairs", columns=columns))
    assert [c.system for c in judged.captions] == ["", "t", "s", "t"]
    assert [c.own_references for c in judged.captions] == [(1,), (0,), (1,), ()]
    assert judged.pairs[0].meta == {
        "id": 0,
        "y": "t",
        "by_first": "person",
        "by_second": "person",
        "lang": "de",
    }
    both = read_judgments(
        source(write(rows), form="pairs", columns={"own_reference": "match"})
    )
    assert [c.own_references for c in both.captions] == [(1,), (0,), (1,), (0,)]


def test_only_the_caption_of_a_foil_is_a_reference(write, source):
    texts = [("a dog", "a cat"), ("a cat", "a dog")]
    rows = [
        {"id": k, "caption": caption, "foil": foil, "references": ["a cat", "a dog"]}
        for k, (caption, foil) in enumerate(texts)
    ]
    judged = read_judgments(
        source(write(rows), form="foil", columns={"own_reference": "match"})
    )
    assert [c.own_references for c in judged.captions] == [(1,), (), (0,), ()]
    assert [(pair.first, pair.second, pair.votes) for pair in judged.pairs] == [
        (0, 1, (1.0,)),
        (2, 3, (1.0,)),
    ]


def test_pairs_under_keys(write, source):
    rows = [
        {
            "id": 0,
            "HC": ["a", "b", "s", "t", [1, -1, -1]],
            "MM_1": ["c", "d", "u", "v", "unused", 1],
            "MM_2": None,
            "references": ["a"],
        },
        {
            "id": 1,
            "MM_1": ["e", "f", "s", "v", "skip"],
            "MM_2": ["g", "h", "s", "u", "unused", "u"],
            "references": ["a"],
        },
        {"id": 2, "HC": ["i", "j", "s", "t", -1], "references": ["a"]},
    ]
    options = {
        "form": "keyed-pairs",
        "keys": ["HC", "MM_*"],
        "preference": {"first": 1, "second": -1, "skip": "skip"},
    }
    judged = read_judgments(
        source(write(rows), **options, columns={"own_reference": "match"})
    )
    found = [
        (
            judged.captions[p.first].texts[0],
            judged.captions[p.second].texts[0],
            p.preference,
            p.meta,
        )
        for p in judged.pairs
    ]
    assert found == [
        ("a", "b", -1, {"key": "HC", "category": "HC"}),
        ("c", "d", 1, {"key": "MM_1", "category": "MM"}),
        ("g", "h", -1, {"key": "MM_2", "category": "MM"}),
        ("i", "j", -1, {"key": "HC", "category": "HC"}),
    ]
    assert [(c.system, c.own_references) for c in judged.captions[:4]] == [
        ("s", (0,)),
        ("t", ()),
        ("u", ()),
        ("v", ()),
    ]
    assert len(read_judgments(source(write(rows), **options), limit=2).pairs) == 3
    for value in (["a", "b", "s", "t"], "abcde"):
        with pytest.raises(
            InputError,
            match="'HC' is .*; expected .caption 1, caption 2, source 1, source 2, "
            "votes",
        ):
            read_judgments(source(write([{"id": 0, "HC": value}, rows[1]]), **options))


def test_the_winner_under_a_key_is_named_by_its_source(write, source):
    rows = [
        {"id": k, "HC": ["a", "b", "s", "t", [vote, vote]], "references": ["r"]}
        for k, vote in enumerate("st")
    ]
    judged = read_judgments(source(write(rows), form="keyed-pairs", keys=["HC"]))
    assert [pair.votes for pair in judged.pairs] == [(1.0, 1.0), (-1.0, -1.0)]
