"""Preferences of pairs: signed votes, mapped labels, names of systems;
labels that say nothing are refused.
"""

import pytest

from harness.errors import InputError
from harness.judgments.judgment_models import PreferenceLabels
from harness.judgments.preferences import Preferences
from harness.judgments.source_files import read_judgments

TEXTS = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]


def pairs(jsonl, source, votes, limit=None, **more):
    records = [
        {
            "id": str(k),
            "caption_a": first,
            "caption_b": second,
            "label": vote,
            "references": ["r"],
            "system_a": "x",
            "system_b": "y",
        }
        for k, ((first, second), vote) in enumerate(zip(TEXTS, votes))
    ]
    columns = {
        "preference": "label",
        "system_first": "system_a",
        "system_second": "system_b",
    }
    return read_judgments(
        source(jsonl(records), form="pairs", columns=columns, **more), limit
    )


def preferred(judgments):
    return [pair.preference for pair in judgments.pairs]


def test_signed_votes_are_summed(jsonl, source):
    assert preferred(pairs(jsonl, source, [1, [1, -1, -1], 0, "2"])) == [1, -1, 0, 2]


def test_unsigned_numbers_are_refused_with_the_mapping_to_type(jsonl, source):
    for votes, labels in (
        ([0, 1, 1, 0], "{first: [0], second: [1]}"),
        (["1", 2, 2, 1], "{first: [1], second: [2]}"),
    ):
        with pytest.raises(
            InputError, match="no negative vote: tell which caption each prefers"
        ) as caught:
            pairs(jsonl, source, votes)
        assert f"judgments.preference: {labels} (or the other way round)" in str(
            caught.value
        )
        assert "j.jsonl:1: 'label' holds" in str(caught.value)
    with pytest.raises(
        InputError,
        match=r"judgments.preference: \{first: \[7\]\} \(or second, tie, skip\)",
    ):
        pairs(jsonl, source, [7] * 4)
    for votes in ([0, 1, 2, 0], [True, False, True, True], [1, 1, 1, 1], [0, 3, 11, 5]):
        with pytest.raises(InputError, match="no negative vote"):
            pairs(jsonl, source, votes)


def test_at_most_five_unsigned_numbers_are_named_in_their_order(jsonl, source):
    text = (
        r"j\.jsonl:2: 'label' holds 1, 2, 3, 9, 10 and no negative vote: "
        r"tell which caption each prefers with judgments\.preference: "
    )
    mapping = (
        r"\{first: \[1\], second: \[2\], tie: \[3\], skip: "
        r"\[9\]\} \(each where it belongs\)$"
    )
    with pytest.raises(InputError, match=text + mapping):
        pairs(jsonl, source, [[10, 9], ["1", 2.0], [1, 3], [11]])
    with pytest.raises(
        InputError, match=r"j\.jsonl:1: 'label' holds 0 and no negative vote"
    ):
        pairs(jsonl, source, [0] * 4)


def test_the_sign_is_sought_in_the_whole_file(jsonl, source):
    assert preferred(pairs(jsonl, source, [1, 1, 0, -1], limit=2)) == [1, 1]


def test_a_mapping_gives_labels_a_meaning(jsonl, source):
    assert preferred(
        pairs(jsonl, source, [0, 1, 1, 0], preference={"first": 0, "second": 1})
    ) == [1, -1, -1, 1]
    labels = {"first": ["A", 1], "second": "B", "tie": ["tie", "="], "skip": "bad"}
    judgments = pairs(
        jsonl, source, ["B", ["A", "1", "B"], "bad", "tie"], preference=labels
    )
    assert preferred(judgments) == [-1, 1, 0] and [
        item.id for item in judgments.items
    ] == ["0", "1", "3"]


def test_a_pair_is_left_out_when_nobody_judged_it():
    read = Preferences(PreferenceLabels(first=["A"], second=["B"], skip=["bad"])).read
    assert read(["bad", None], ("", ""), "f:1", "label") == ()
    votes = read(["A", "bad", "", "B", "B"], ("", ""), "f:1", "label")
    assert [vote for vote in votes if vote == vote] == [1.0, -1.0, -1.0] and len(
        votes
    ) == 5
    for value, kind in ((["", None], "a list"), ("", "an empty text|text")):
        with pytest.raises(
            InputError,
            match=f"f:1: 'label' is ({kind}).*; expected a preference or a list of "
            "votes",
        ):
            read(value, ("", ""), "f:1", "label")


def test_names_of_systems(jsonl, source):
    assert preferred(
        pairs(jsonl, source, ["x", "y", "y", "="], preference={"tie": "="})
    ) == [1, -1, -1, 0]
    for systems in (("x", "y"), ("y", "x")):
        read = Preferences(PreferenceLabels()).read
        assert [read(name, systems, "f:1", "winner") for name in systems] == [
            (1.0,),
            (-1.0,),
        ]
    with pytest.raises(
        InputError,
        match="'label' holds 'z'; expected one of x, y, or judgments.preference: "
        "{first: \\[z\\]}",
    ):
        pairs(jsonl, source, ["x", "y", "z", "x"])
    with pytest.raises(InputError, match="'label' holds 3; expected one of =, x, y"):
        pairs(jsonl, source, ["x", "y", 3, "x"], preference={"tie": "="})
    # the first system has no name
    with pytest.raises(
        InputError, match=r"'label' holds 'z'; expected one of =, y, or judgments"
    ):
        Preferences(PreferenceLabels(tie=["="])).read("z", ("", "y"), "f:1", "label")
    with pytest.raises(InputError, match="'gpt'; expected \\+1, -1, a system"):
        # a system against itself
        Preferences(PreferenceLabels()).read("gpt", ("gpt", "gpt"), "f:1", "winner")


def test_keyed_pairs_have_signs_too(jsonl, source):
    records = [
        {"id": str(k), "HC": ["a", "b", "s", "t", [1, 0]], "references": ["r"]}
        for k in range(2)
    ]
    with pytest.raises(InputError, match="'HC' holds 0, 1 and no negative vote"):
        read_judgments(source(jsonl(records), form="keyed-pairs", keys=["HC"]))


def test_a_missing_preference(jsonl, source):
    with pytest.raises(InputError, match="'label' is null; expected a preference"):
        pairs(jsonl, source, [1, None, -1, 1])


def test_the_summary_tells_where_the_preferred_caption_stands(jsonl, source):
    (note,) = pairs(
        jsonl, source, [0, 0, 0, 0], preference={"first": 0, "second": 1}
    ).notes
    assert note.startswith("the preferred caption always stands first")
    (note,) = pairs(
        jsonl, source, [1, 1, 1, 1], preference={"first": 0, "second": 1}
    ).notes
    assert note.startswith("the preferred caption always stands second")
    assert not pairs(jsonl, source, [1, -1, 1, 1]).notes


def test_labels_have_one_meaning(source):
    for keys, message in (
        (
            {"form": "pairs", "preference": {"first": [1], "tie": "1"}},
            "found '1' twice",
        ),
        ({"preference": {"first": [1]}}, "is for the forms pairs and keyed-pairs"),
    ):
        with pytest.raises(ValueError, match=message):
            source("f", **keys)
