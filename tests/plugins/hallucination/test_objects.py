"""Tables of objects: mentions, the built-in table, users' files, and refused tables."""

import pickle

import pytest

from harness.errors import InputError
from harness_metrics.hallucination.objects import ObjectTable, object_table

COCO = object_table("coco")


def test_the_built_in_table_has_the_80_classes():
    assert len(COCO.objects) == 80
    assert all(COCO.canonical(name) == name for name in COCO.objects)
    assert all(
        COCO.mentions(f"a {name} here") == [name]
        for name in COCO.objects
        if name != "orange"
    )


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Two puppies and a kitten.", ["dog", "cat"]),
        ("a hot dog with a toy train on toilet paper", ["hot dog"]),
        ("an orange cat beside an orange", ["cat", "orange"]),
        (
            "People sit at a picnic table under umbrellas",
            ["person", "dining table", "umbrella"],
        ),
        ("glasses of wine, knives and skis", ["wine glass", "knife", "skis"]),
        ("a man's cell phone", ["cell phone"]),
        ("", []),
        ("日本語 ☃", []),
    ],
)
def test_mentions(text, expected):
    assert COCO.mentions(text) == expected


def test_synonyms_that_are_objects_belong_to_the_one_above():
    table = ObjectTable(
        {
            "pup": [],
            "dog": ["puppy", "hound"],
            "animal": ["dog", "cat"],
            "puppy": ["pup"],
        }
    )
    assert table.objects == ("animal",)
    assert table.mentions("a pup, a hound and cats") == ["animal"] * 3


@pytest.mark.parametrize(
    "objects, message",
    [
        (
            {"dog": ["puppy"], "puppy": ["pup"], "pup": ["dog"]},
            "cycle: dog > puppy > pup > dog",
        ),
        ({"a": ["b"], "b": ["a"]}, "cycle: a > b > a"),
        (
            {"dog": ["pet"], "cat": ["pet"]},
            "'pet' is a word of two objects, 'dog' and 'cat'",
        ),
        ({"dog": ["pet"], "cat": ["pet"], "pet": []}, "'pet' is a word of two objects"),
        ({"dog": ["dogs", "--"]}, "without words: '--'"),
    ],
)
def test_refused_tables(objects, message):
    with pytest.raises(InputError, match=message):
        ObjectTable(objects)


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "dog: [puppy]\npuppy: [dog]\n",
            r"table.yaml:1: the table of objects has a cycle: dog > puppy > dog",
        ),
        (
            "dog: puppy\n",
            r"table.yaml:1: the synonyms of 'dog' are 'puppy'; "
            r"expected a list of texts",
        ),
        ("- dog\n", "no mapping"),
        (
            "objects: {dog: []}\nnon: [dog house]\n",
            r"table.yaml:2: unknown key 'non', did you mean 'none'|unknown key 'non'",
        ),
        ("objects: {dog: []}\nnone: dog house\n", r"table.yaml:2: the 'none' are"),
    ],
)
def test_refused_files(tmp_path, text, message):
    path = tmp_path / "table.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        object_table(path)


def test_a_file_of_objects(tmp_path):
    path = tmp_path / "table.yaml"
    path.write_text(
        "objects: {ball: [sphere], box:}\nnone: [ball room]\nmodifiers: [box]\n",
        encoding="utf-8",
    )
    table = object_table(str(path))
    assert table.mentions("spheres and a box ball in the ball room") == ["ball", "ball"]
    assert table.signature() != COCO.signature()
    assert pickle.loads(pickle.dumps(table)).signature() == table.signature()


def test_annotated_labels():
    assert COCO.object_of("Puppies", "here") == "dog"
    with pytest.raises(
        InputError, match="here: the annotated object 'zebr' is not in the table.*zebra"
    ):
        COCO.object_of("zebr", "here")
