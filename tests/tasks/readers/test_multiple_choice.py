"""The reader of choices: the correct option first, companions without image,
and refused records.
"""

import json

import pytest

from harness.errors import InputError
from harness_tasks.readers.multiple_choice import ChoiceReader


def written(folder, *records):
    path = folder / "choices.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return str(path)


def test_the_correct_option_comes_first(tmp_path):
    path = written(
        tmp_path,
        {
            "id": "x",
            "options": ["a", "b", "c"],
            "answer": 2,
            "media": "1.jpg",
            "kind": "swap",
        },
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
    path = written(
        tmp_path,
        {"question_id": 1, "image": "1.jpg", "text": "Is there a dog?", "label": "no"},
    )
    columns = {
        "id": "question_id",
        "media": "image",
        "source": "text",
        "answer": "label",
    }
    (example,) = ChoiceReader(path=path, options=["yes", "no"], columns=columns)
    assert (example.id, example.references, example.source) == (
        "1",
        ("no", "yes"),
        "Is there a dog?",
    )


def test_options_in_columns_and_companions(tmp_path):
    path = written(
        tmp_path, {"caption": "a", "negative_caption": "b", "media": "1.jpg"}
    )

    reader = ChoiceReader(
        path=path,
        columns={"options": ["caption", "negative_caption"]},
        answer=0,
        blind=True,
    )
    seen, blind = reader
    assert (seen.id, blind.id, seen.media, blind.media) == (
        "0",
        "0/blind",
        "1.jpg",
        None,
    )
    assert seen.references == blind.references == ("a", "b")

    grey = list(
        ChoiceReader(
            path=path,
            columns=reader.columns,
            answer=0,
            blind=True,
            blank="grey.png",
            media_root="images",
        )
    )[1]
    assert grey.media == "images/grey.png"

    assert reader.fingerprint() != ChoiceReader(path=path).fingerprint()


@pytest.mark.parametrize(
    "record, message",
    [
        ({"options": ["a"], "answer": 0}, "expected a list of at least 2 texts"),
        ({"answer": 0}, "are None"),
        ({"options": ["a", "a"], "answer": 0}, "two options of the record are equal"),
        (
            {"options": ["a", "b"], "answer": 2},
            "is 2; expected one of the options or an index from 0 to 1",
        ),
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


@pytest.mark.parametrize("indent", [None, 1])
def test_an_object_of_records_is_a_list_with_ids(tmp_path, indent):
    rows = {
        str(k): {
            "filename": f"{k}.jpg",
            "caption": f"a dog {k}",
            "negative_caption": f"a cat {k}",
        }
        for k in (0, 7)
    }
    (tmp_path / "add_obj.json").write_text(json.dumps(rows, indent=indent))
    columns = {"media": "filename", "options": ["caption", "negative_caption"]}
    examples = list(
        ChoiceReader(path=str(tmp_path / "add_obj.json"), columns=columns, answer=0)
    )
    assert [(e.id, e.media, e.references) for e in examples] == [
        ("0", "0.jpg", ("a dog 0", "a cat 0")),
        ("7", "7.jpg", ("a dog 7", "a cat 7")),
    ]


def test_json_lines_may_end_in_json(tmp_path):
    (tmp_path / "pope.json").write_text(
        '{"text": "Is it?", "label": "yes"}\n{"text": "Is it not?", "label": "no"}\n'
    )
    reader = ChoiceReader(
        path=str(tmp_path / "pope.json"),
        options=["yes", "no"],
        columns={"source": "text", "answer": "label"},
    )
    assert [(e.source, e.references) for e in reader] == [
        ("Is it?", ("yes", "no")),
        ("Is it not?", ("no", "yes")),
    ]


def test_an_object_of_other_things_is_refused(tmp_path):
    (tmp_path / "x.json").write_text('{\n "annotations": []\n}')
    with pytest.raises(
        InputError,
        match=r"x\.json: found one object; expected a list of records, "
        r"or an object of records",
    ):
        list(ChoiceReader(path=str(tmp_path / "x.json")))


def test_a_record_of_several_images_makes_one_example_each(tmp_path):
    record = {
        "id": 3,
        "image_0": "a.png",
        "image_1": "b.png",
        "caption_0": "x y",
        "caption_1": "y x",
        "tag": "Object",
    }
    columns = {"media": ["image_0", "image_1"], "options": ["caption_0", "caption_1"]}

    examples = list(
        ChoiceReader(
            path=written(tmp_path, record),
            columns=columns,
            media_root="images",
            blind=True,
        )
    )
    assert [(e.id, e.media, e.references) for e in examples] == [
        ("3/0", "images/a.png", ("x y", "y x")),
        ("3/0/blind", None, ("x y", "y x")),
        ("3/1", "images/b.png", ("y x", "x y")),
        ("3/1/blind", None, ("y x", "x y")),
    ]
    assert examples[0].meta == {"tag": "Object"}

    columns["options"] = ["caption_0", "caption_1", "tag"]
    with pytest.raises(
        InputError,
        match="the record has 2 images and 3 options; expected one option per image",
    ):
        list(ChoiceReader(path=written(tmp_path, record), columns=columns))
    with pytest.raises(InputError, match="media name"):
        list(
            ChoiceReader(
                path=written(tmp_path, {**record, "image_1": 5}),
                columns={**columns, "options": ["caption_0", "caption_1"]},
            )
        )


def test_several_files_are_told_apart(tmp_path):
    record = {"options": ["a", "b"], "answer": 0, "kind": "x"}
    paths = [str(tmp_path / f"{name}.json") for name in ("swap_att", "add_obj")]
    (tmp_path / "swap_att.json").write_text(json.dumps({"0": record, "1": record}))
    (tmp_path / "add_obj.json").write_text(json.dumps([record]))

    reader = ChoiceReader(path=paths)
    assert [(item.id, dict(item.meta)) for item in reader] == [
        ("swap_att/0", {"kind": "x", "file": "swap_att"}),
        ("swap_att/1", {"kind": "x", "file": "swap_att"}),
        ("add_obj/0", {"kind": "x", "file": "add_obj"}),
    ]

    assert (
        ChoiceReader(path=paths[:1]).fingerprint()
        == ChoiceReader(path=paths[0]).fingerprint()
    )
    assert reader.fingerprint() != ChoiceReader(path=paths[::-1]).fingerprint()
    assert [item.id for item in ChoiceReader(path=paths[:1])] == ["0", "1"]

    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "add_obj.jsonl").write_text(json.dumps(record))
    with pytest.raises(
        InputError, match="add_obj, add_obj; expected one or several of different names"
    ):
        ChoiceReader(path=[paths[1], str(tmp_path / "other" / "add_obj.jsonl")])
    with pytest.raises(InputError, match="are none; expected"):
        ChoiceReader(path=[])
