"""Collection of items and captions."""

import pytest

from harness.contracts import JudgedCaption
from harness.errors import InputError
from harness.files.records import Record
from harness.judgments.collection import Collection, equal_references, marked_reference
from harness.judgments.judgment_models import JudgmentSource
from harness.judgments.source_files import read_judgments

REFERENCES = ["A dog , runs .", "dog", "a cat"]


def collection(**keys):
    return Collection(
        JudgmentSource.model_validate({"form": "captions", "path": "f", **keys})
    )


def test_items_are_numbered_without_ids_and_kept_once_with_them():
    numbered = collection()
    assert [
        numbered.item(Record(f"f:{k}", {"references": ["r"]}), k) for k in range(2)
    ] == [0, 1]
    assert [item.id for item in numbered.items] == ["0", "1"]
    named = collection()
    record = Record("f:1", {"id": 7, "references": ["r"], "file_name": "7.jpg"})
    assert [named.item(record, 0), named.item(record, 1)] == [0, 0]
    assert named.items[0].media == "7.jpg"
    rooted = collection(media_root="images/")
    rooted.item(record, 0)
    assert rooted.items[0].media == "images/7.jpg"


def test_the_place_is_that_of_all_files_or_of_the_data_set():
    assert collection(path=["f", "g"]).place == "f, g"
    assert collection(path=[], hf={"name": "owner/set"}).place == "owner/set"


def test_columns_are_sought_in_each_file(jsonl):
    first = jsonl(
        [{"id": "a", "text": "x", "score": 1, "references": ["r"]}], "1.jsonl"
    )
    second = jsonl(
        [{"item_id": "b", "caption": "y", "rating": 2, "refs": ["s"]}], "2.jsonl"
    )
    judged = read_judgments(
        JudgmentSource.model_validate({"form": "captions", "path": [first, second]})
    )
    assert [(item.id, item.references) for item in judged.items] == [
        ("a", ("r",)),
        ("b", ("s",)),
    ]
    assert [(c.texts, c.ratings) for c in judged.captions] == [
        (("x",), (1.0,)),
        (("y",), (2.0,)),
    ]


def test_records_are_selected_by_all_conditions(jsonl):
    rows = [
        {"lp": lp, "kind": kind, "system": system, "score": score}
        for lp in ("en-de", "de-en")
        for kind in (1, 2)
        for system in ("a", "ref", None)
        for score in (0, 1)
    ]
    chosen = collection(
        path=jsonl(rows),
        where={"lp": "en-de", "kind": 1},
        without={"system": ["ref", None], "score": [0]},
    )
    assert [record.fields for record in chosen.records()] == [
        {"lp": "en-de", "kind": 1, "system": "a", "score": 1}
    ]


def test_nothing_is_left_of_two_conditions(jsonl):
    path = jsonl([{"id": "a", "caption": "x"}])
    with pytest.raises(
        InputError, match=r"j\.jsonl: holds no judgments with lp: en-de, kind: 1$"
    ):
        list(collection(path=path, where={"lp": "en-de", "kind": 1}).records())
    with pytest.raises(InputError, match=r"j\.jsonl: holds no judgments$"):
        list(collection(path=path, without={"id": ["a"]}).records())


def test_an_item_beyond_the_limit_has_no_position():
    limited = Collection(collection().source, 1)
    records = [
        Record(f"f:{k}", {"id": name, "references": ["r"], "image_path": 3})
        for k, name in enumerate("aba")
    ]
    assert [limited.item(record, k) for k, record in enumerate(records)] == [0, None, 0]
    assert Collection(collection().source, 0).item(records[0], 0) is None


def test_references_of_an_item_are_equal_in_all_records_unless_a_table_has_them(jsonl):
    plain = collection()
    plain.item(Record("f:1", {"id": "a", "references": ["r"]}), 0)
    for other in "qs":
        with pytest.raises(
            InputError,
            match="f:2: the references of the item 'a' differ from those in f:1",
        ):
            plain.item(Record("f:2", {"id": "a", "references": [other]}), 1)
    table = collection(
        references={
            "path": jsonl(
                [{"id": "a", "references": ["t"]}, {"id": "b", "references": None}]
            )
        }
    )
    assert [
        table.item(Record(f"f:{k}", {"id": "a", "references": [str(k)]}), k)
        for k in range(2)
    ] == [0, 0]
    assert table.items[0].references == ("t",)
    for name in "bc":
        with pytest.raises(
            InputError, match=f"f:1: the item '{name}' has no references"
        ):
            table.item(Record("f:1", {"id": name}), 2)


def test_a_column_that_holds_the_captions_is_not_one_of_references():
    for columns, expected in (
        ({"caption": "captions"}, ()),
        ({"first": "captions.0"}, ()),
        ({}, ("r", "s")),
    ):
        used = collection(columns=columns)
        used.item(Record("f:1", {"id": "a", "captions": ["r", "s"]}), 0)
        assert used.items[0].references == expected, columns


def test_texts():
    empty = collection()
    assert empty.texts("", "f:1", "caption") == ("",)  # a system may have said nothing
    for value, message in (
        (None, "'caption' is missing"),
        ([], "is an empty list"),
        (3, "the caption is the number 3"),
    ):
        with pytest.raises(InputError, match=message):
            empty.texts(value, "f:1", "caption")


def test_pairs_add_two_captions():
    both = collection()
    both.prefer(
        JudgedCaption(0, ("a",)), JudgedCaption(0, ("b",)), (-1.0, -1.0), {"k": 1}
    )
    (pair,) = both.pairs
    assert (pair.first, pair.second, pair.preference, pair.meta) == (
        0,
        1,
        -2.0,
        {"k": 1},
    )


def test_the_marked_reference():
    assert marked_reference("a dog, runs.", REFERENCES, "f:1") == 0
    assert marked_reference("dog", REFERENCES, "f:1") == 1
    assert marked_reference("abcdefghij", ["abcdefghi", "abcdefghix"], "f:1") == 0, (
        "the more similar one"
    )
    assert marked_reference("abcdefghij", ["z", "abcdefghix"], "f:1") == 1, (
        "9 of 10 letters"
    )
    for text, references in (("abcdefghi", ["abcdefghx"]), ("a", [])):
        with pytest.raises(InputError, match="no reference is similar to it"):
            marked_reference(text, references, "f:1")
    with pytest.raises(
        InputError, match=r"f:1: the caption 'zebra' is marked as a reference"
    ):
        marked_reference("zebra", REFERENCES, "f:1")


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("own", (1,)),
        ("match", (1,)),
        ({"by": "person"}, (1,)),
        ("other", ()),
        (None, ()),
    ],
)
def test_the_first_text_of_a_set_is_that_of_a_reference(mark, expected):
    own = collection()
    item = own.item(Record("f:1", {"references": REFERENCES}), 0)
    assert (
        own.own(
            ("dog", "zebra"),
            item,
            {"own": True, "by": "person", "other": False},
            mark,
            "f:1",
        )
        == expected
    )


def test_a_caption_by_a_person_that_is_no_reference_is_counted():
    own = collection()
    item = own.item(Record("f:1", {"references": REFERENCES}), 0)
    for text in ("dog", "zebra", "a cat", "giraffe"):
        own.own((text,), item, {"by": "person"}, {"by": "person"}, "f:1")
    own.own(("zebra",), item, {"by": "model"}, {"by": "person"}, "f:1")
    assert own.strangers == 2


def test_votes_of_one_caption_stand_together():
    each = collection(raters="each")
    mean = collection()
    captions = [
        JudgedCaption(item, (text,), system, (rating,))
        for item, system, text, rating in (
            (0, "s", "a", 1.0),
            (0, "s", "b", 2.0),
            (0, "s", "a", 3.0),
            (0, "t", "a", 4.0),
            (1, "s", "a", 5.0),
        )
    ]
    assert [each.add(caption) for caption in captions] == [0, 1, 0, 2, 3]
    assert [caption.ratings for caption in each.judged] == [
        (1.0, 3.0),
        (2.0,),
        (4.0,),
        (5.0,),
    ]
    assert [mean.add(caption) for caption in captions] == [0, 1, 2, 3, 4] and len(
        mean.judged
    ) == 5
    with pytest.raises(InputError, match="judged caption 6"):
        mean.add(JudgedCaption(0, ("a",), "\ud800"))


def test_equal_references():
    assert equal_references("dog", [*REFERENCES, "dog"]) == (1, 3)
    assert equal_references("Dog", REFERENCES) == ()
