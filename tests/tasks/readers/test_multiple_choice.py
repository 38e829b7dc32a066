"""The reader of choices: the correct option first, companions without image, and refused records."""

import json

import pytest

from harness.errors import InputError
from harness.tasks.readers.multiple_choice import ChoiceReader


def written(folder, *records):
    path = folder / "choices.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return str(path)


def test_the_correct_option_comes_first(tmp_path):
    path = written(
        tmp_path,
        {"id": "x", "options": ["a", "b", "c"], "answer": 2, "media": "1.jpg", "kind": "swap"},
        {"options": ["a", "b"], "answer": "b"},
    )
    one, two = ChoiceReader(path=path, media_root="images")
    assert (one.id, one.references, one.media, dict(one.meta)) == (
        "x",
        ("c", "a", "b"),
        "images/1.jpg",
        {"kind": "swap"},
    )
    assert (two.id, two.references, two.media) == ("1", ("b", "a"), None)


def test_polls_have_the_same_options(tmp_path):
    path = written(tmp_path, {"question_id": 1, "image": "1.jpg", "text": "Is there a dog?", "label": "no"})
    columns = {"id": "question_id", "media": "image", "source": "text", "answer": "label"}
    (example,) = ChoiceReader(path=path, options=["yes", "no"], columns=columns)
    assert (example.id, example.references, example.source) == ("1", ("no", "yes"), "Is there a dog?")


def test_options_in_columns_and_companions(tmp_path):
    path = written(tmp_path, {"caption": "a", "negative_caption": "b", "media": "1.jpg"})
    reader = ChoiceReader(path=path, columns={"options": ["caption", "negative_caption"]}, answer=0, blind=True)
    seen, blind = reader
    assert (seen.id, blind.id, seen.media, blind.media) == ("0", "0/blind", "1.jpg", None)
    assert seen.references == blind.references == ("a", "b")
    grey = list(
        ChoiceReader(path=path, columns=reader.columns, answer=0, blind=True, blank="grey.png", media_root="images")
    )[1]
    assert grey.media == "images/grey.png"
    assert reader.fingerprint() != ChoiceReader(path=path).fingerprint()


@pytest.mark.parametrize(
    "record, message",
    [
        ({"options": ["a"], "answer": 0}, "expected a list of at least 2 texts"),
        ({"answer": 0}, "are None"),
        ({"options": ["a", "a"], "answer": 0}, "two options of the record are equal"),
        ({"options": ["a", "b"], "answer": 2}, "is 2; expected one of the options or an index from 0 to 1"),
        ({"options": ["a", "b"], "answer": "c"}, "is 'c'"),
        ({"options": ["a", "b"]}, "is None"),
        ({"options": ["a", " "], "answer": 0}, "empty option"),
    ],
)
def test_refused_records(tmp_path, record, message):
    with pytest.raises(InputError, match=message):
        list(ChoiceReader(path=written(tmp_path, record)))


def test_refused_files(tmp_path):
    with pytest.raises(InputError, match="blank is the media of the repetitions"):
        ChoiceReader(path=written(tmp_path, {}), blank="grey.png")
    with pytest.raises(InputError, match="did you mean 'answer'"):
        ChoiceReader(path=written(tmp_path, {}), columns={"anser": "label"})
    path = written(tmp_path, *[{"id": 1, "options": ["a", "b"], "answer": 0}] * 2)
    with pytest.raises(InputError, match="occurs twice"):
        list(ChoiceReader(path=path))
