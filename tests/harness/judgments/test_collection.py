"""Collection of items and captions."""

import pytest

from harness.contracts import JudgedCaption
from harness.errors import InputError
from harness.files.records import Record
from harness.judgments.collection import Collection, equal_references, marked_reference
from harness.spec.judgment_models import JudgmentSource


def collection(**keys):
    return Collection(JudgmentSource.model_validate({"form": "captions", "path": "f", **keys}))


def test_items_are_numbered_without_ids_and_kept_once_with_them():
    numbered = collection()
    assert [numbered.item(Record(f"f:{k}", {"references": ["r"]}), k) for k in range(2)] == [0, 1]
    assert [item.id for item in numbered.items] == ["0", "1"]
    named = collection()
    record = Record("f:1", {"id": 7, "references": ["r"], "file_name": "7.jpg"})
    assert [named.item(record, 0), named.item(record, 1)] == [0, 0]
    assert named.items[0].media == "7.jpg"
    rooted = collection(media_root="images/")
    rooted.item(record, 0)
    assert rooted.items[0].media == "images/7.jpg"


def test_texts():
    empty = collection()
    assert empty.texts("", "f:1", "caption") == ("",)  # a system may have said nothing
    for value, message in ((None, "'caption' is missing"), ([], "is an empty list"), (3, "the caption is the number 3")):
        with pytest.raises(InputError, match=message):
            empty.texts(value, "f:1", "caption")


def test_pairs_add_two_captions():
    both = collection()
    both.prefer(JudgedCaption(0, ("a",)), JudgedCaption(0, ("b",)), (-1.0, -1.0), {"k": 1})
    (pair,) = both.pairs
    assert (pair.first, pair.second, pair.preference, pair.meta) == (0, 1, -2.0, {"k": 1})


REFERENCES = ["A dog , runs .", "dog", "a cat"]


def test_the_marked_reference():
    assert marked_reference("a dog, runs.", REFERENCES, "f:1") == 0
    assert marked_reference("dog", REFERENCES, "f:1") == 1
    with pytest.raises(InputError, match=r"f:1: the caption 'zebra' is marked as a reference"):
        marked_reference("zebra", REFERENCES, "f:1")


@pytest.mark.parametrize(
    ("mark", "expected"), [("own", (1,)), ("match", (1,)), ({"by": "person"}, (1,)), ("other", ()), (None, ())]
)  # fmt: skip
def test_the_first_text_of_a_set_is_that_of_a_reference(mark, expected):
    own = collection()
    item = own.item(Record("f:1", {"references": REFERENCES}), 0)
    assert own.own(("dog", "zebra"), item, {"own": True, "by": "person", "other": False}, mark, "f:1") == expected


def test_equal_references():
    assert equal_references("dog", [*REFERENCES, "dog"]) == (1, 3)
    assert equal_references("Dog", REFERENCES) == ()
