"""The rule parser on plain captions, with the facts written out by hand."""

import pytest

from harness_metrics.hallucination.facts import _is_content, chunks, parse
from harness_metrics.hallucination.objects import ObjectTable, object_table

COCO = object_table("coco")


def facts(text, table=COCO):
    return tuple({"|".join(fact) for fact in part} for part in parse(text, table))


@pytest.mark.parametrize(
    "text, objects, attributes, relations",
    [
        (
            "a brown puppy sits on a couch",
            {"dog", "couch"},
            {"dog|brown"},
            {"dog|sit on|couch"},
        ),
        (
            "A black and white dog is running on wet grass.",
            {"dog", "grass"},
            {"dog|black", "dog|white", "grass|wet"},
            {"dog|run on|grass"},
        ),
        (
            "a man riding a wave on top of a surfboard",
            {"person", "wave", "surfboard"},
            set(),
            {"person|ride|wave", "wave|on|surfboard"},
        ),
        (
            "A dog and a cat sit on a bench",
            {"dog", "cat", "bench"},
            set(),
            {"dog|sit on|bench", "cat|sit on|bench"},
        ),
        (
            "a woman holding a cup and a plate",
            {"person", "cup", "plate"},
            set(),
            {"person|hold|cup", "person|hold|plate"},
        ),
        (
            "a man rides a horse and a woman walks a dog",
            {"person", "horse", "dog"},
            set(),
            {"person|ride|horse", "person|walk|dog"},
        ),
        (
            "a group of people standing around a kitchen",
            {"person", "kitchen"},
            set(),
            {"person|stand around|kitchen"},
        ),
        (
            "a parked car next to a fire hydrant",
            {"car", "fire hydrant"},
            {"car|park"},
            {"car|beside|fire hydrant"},
        ),
        (
            "The walls are white and the floor is wooden.",
            {"wall", "floor"},
            {"wall|white", "floor|wooden"},
            set(),
        ),
        (
            "a man with a dog running on grass",
            {"person", "dog", "grass"},
            set(),
            {"person|with|dog", "dog|run on|grass"},
        ),
        (
            "a dog of a man that rides a horse",
            {"dog", "person", "horse"},
            set(),
            {"dog|of|person", "person|ride|horse"},
        ),
        (
            "a man in a coat riding a horse",
            {"person", "coat", "horse"},
            set(),
            {"person|in|coat", "person|ride|horse"},
        ),
        (
            "a man with glasses is reading",
            {"person", "glasses"},
            {"person|read"},
            {"person|with|glasses"},
        ),
        ("two cats sleeping", {"cat"}, {"cat|two", "cat|sleep"}, set()),
        ("a dog", {"dog"}, set(), set()),
        ("", set(), set(), set()),
        ("?! ...", set(), set(), set()),
        ("is on and the", set(), set(), set()),
    ],
)
def test_facts_of_captions(text, objects, attributes, relations):
    assert facts(text) == (objects, attributes, relations)


def test_pronouns_and_frames():
    assert facts("The image shows a dog. It is wet.") == ({"dog"}, {"dog|wet"}, set())
    objects, attributes, relations = facts(
        "a young woman in a red dress holding a cup. She is smiling."
    )
    assert objects == {"person", "dress", "cup"}
    assert attributes == {"person|young", "dress|red", "person|smile"}
    assert relations == {"person|in|dress", "person|hold|cup"}


def test_a_pronoun_stands_for_all_subjects():
    relations = facts("a man and a dog run. They with a ball", ObjectTable({}))[2]
    assert relations == {"man|with|ball", "dog|with|ball"}


def test_without_a_table_nouns_are_themselves():
    assert facts("puppies near a sofa", ObjectTable({})) == (
        {"puppy", "sofa"},
        set(),
        {"puppy|near|sofa"},
    )


def test_phrases_of_the_table_are_one_object():
    assert facts("a big hot dog and a traffic light")[0] == {"hot dog", "traffic light"}
    assert facts("a big hot dog", ObjectTable({}))[1] == {"dog|big", "dog|hot"}


def test_words_of_content_begin_with_a_letter_or_digit():
    assert [
        _is_content(word) for word in ("dog", "2nd", "'s", "the", "slowly", "fly")
    ] == [True, True, False, False, False, True]


def test_chunks_of_a_caption():
    kinds = [
        (chunk.kind, chunk.head)
        for chunk in chunks(
            ["the", "old", "dog", "slowly", "runs", "to", "it", "."], COCO
        )
    ]
    assert kinds == [
        ("noun", "dog"),
        ("verb", "run"),
        ("preposition", "to"),
        ("pronoun", "it"),
        ("break", "."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "日本語 ☃ a dog",
        "a " * 500 + "dog",
        "1 2 3 dogs",
        "and and , , with with of of is is",
    ],
)
def test_unusual_texts_are_parsed(text):
    parse(text, COCO)
