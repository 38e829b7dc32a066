"""Files that can be read in several ways: the right numbers, a line that says how,
or a refusal.
"""

from __future__ import annotations

import json

import pytest

import harness
from harness.api import score_files
from harness.errors import HarnessError, InputError
from harness.run.file_options import FileOptions

TEXTS = [
    "a man rides a horse",
    "two dogs play in the snow",
    "a bowl of fruit on a table",
    "a boat on a lake",
]


ANNOTATIONS = [
    {"image_id": 1, "caption": "a can of beans on a table"},
    {"image_id": 1, "caption": "the photo is too blurred", "MARK": "EXCLUDES"},
    {"image_id": 2, "caption": "a phone with a bright screen"},
    {"image_id": 2, "caption": "the photo is too blurred", "MARK": "EXCLUDES"},
]


@pytest.fixture
def write(tmp_path):
    """Write a file of a value: JSON, JSON Lines of a list for ``.jsonl``,
    else text; return its path.
    """

    def save(name: str, content: object) -> str:
        path = tmp_path / name
        if isinstance(content, str):
            text = content
        elif name.endswith(".jsonl"):
            assert isinstance(content, list)
            text = "\n".join(map(json.dumps, content))
        else:
            text = json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return save


def bleu1(candidates, references, **options) -> float:
    return harness.score(candidates, references, "bleu1", bootstrap=0, **options)[
        "bleu1"
    ].value


def shuffled_records(key: str, ids: list) -> list[dict[str, object]]:
    """Return records in another order than the ids,
    with their running numbers as ``id``.
    """
    return [
        {"id": k, key: ids[place], "caption": TEXTS[place]}
        for k, place in enumerate([2, 0, 3, 1], 1)
    ]


@pytest.mark.parametrize(
    ("key", "ids"),
    [
        ("image_id", [1, 2, 3, 4]),
        ("video_id", ["1", "2", "3", "4"]),
        ("Image ID", [4, 3, 2, 1]),
    ],
)
def test_a_running_number_beside_the_id_of_the_image(write, key, ids, caplog):
    plain = write(
        "plain.json", [{key: name, "caption": text} for name, text in zip(ids, TEXTS)]
    )
    numbered = write("numbered.json", shuffled_records(key, ids))
    annotations = write("full.json", {"annotations": shuffled_records(key, ids)})
    for candidates in (numbered, annotations, plain):
        for references in (numbered, annotations, plain):
            assert bleu1(candidates, references) == pytest.approx(1)
    assert f"ids by '{key}' (not 'id')" in caplog.text


def test_the_number_of_the_record_is_the_id_where_the_other_file_has_it(write):
    references = write(
        "r.json",
        [
            {"id": f"s{k}", "image_id": k // 2, "caption": text}
            for k, text in enumerate(TEXTS)
        ],
    )
    candidates = write(
        "c.json", [{"id": f"s{k}", "caption": text} for k, text in enumerate(TEXTS)]
    )
    assert bleu1(candidates, references) == pytest.approx(1)
    assert bleu1(candidates, candidates) == pytest.approx(1)
    annotated = [
        {"id": f"s{k}", "image_id": f"i{k}", "caption": text}
        for k, text in enumerate(TEXTS)
    ]
    assert bleu1(write("a.json", annotated), candidates) == pytest.approx(1)


def test_captions_of_one_image_in_both_files_are_sets(write, caplog):
    rows = [
        {"id": k, "image_id": k % 2, "caption": text} for k, text in enumerate(TEXTS)
    ]
    results = harness.score(
        write("c.json", rows[::-1]), write("r.json", rows), "bleu1"
    )["bleu1"]
    assert results.n == 2 and "ids by 'image_id' (not 'id')" in caplog.text


def test_files_of_one_command_use_one_column(write):
    fields = [
        {"image_id": name, "question_id": other} for name, other in zip("12", "34")
    ]
    first = write("a.json", [{**item, "caption": "a dog"} for item in fields])
    second = write(
        "b.json",
        [
            {
                "image_id": other["question_id"],
                "question_id": other["image_id"],
                "caption": "a dog",
            }
            for other in fields
        ],
    )
    references = write("r.json", {"1": ["a dog"], "2": ["a cat"]})
    with pytest.raises(
        InputError,
        match="its records are matched by 'question_id', "
        "those of .*a.json by 'image_id'.*choose one",
    ):
        score_files([first, second], references, ["bleu1"])


def test_a_column_of_another_name_that_has_the_ids(write, caplog):
    candidates = write("c.csv", "vid,seconds,pred\nx1,4,a dog\nx2,5,a cat\n")
    assert bleu1(
        candidates, write("r.json", {"x2": ["a cat"], "x1": ["a dog"]})
    ) == pytest.approx(1)
    assert "'vid' has the ids of the examples" in caplog.text
    with pytest.raises(
        InputError, match=r"no column for id \(name it with id=.*; id=None matches"
    ):
        bleu1(candidates, write("s.json", {"y2": ["a cat"], "y1": ["a dog"]}))


def test_padded_ids_and_names_of_files(write):
    references = write("r.json", {"1": ["a dog"], "2": ["a cat"], "10": ["a bird"]})
    padded = [
        {"id": name, "caption": text}
        for name, text in (("0002", "a cat"), ("0010", "a bird"), ("0001", "a dog"))
    ]
    assert bleu1(write("c.jsonl", padded), references) == pytest.approx(1)
    named = [
        {
            "id": k,
            "file": f"val/{name}.jpg",
            "image": f"val/{name}.jpg",
            "caption": text,
        }
        for k, (name, text) in enumerate(
            (("000002", "a cat"), ("000010", "a bird"), ("000001", "a dog")), 5
        )
    ]
    assert bleu1(write("d.jsonl", named), references) == pytest.approx(1)


def test_ids_that_match_in_part_by_name_are_not_called_missing(write):
    references = write("r.json", {"1": ["a dog"], "2": ["a cat"], "3": ["a bird"]})
    rows = [
        {"id": name, "caption": "a dog"}
        for name in ("1", "a/2.jpg", "b/2.jpg", "a/3.jpg")
    ]
    with pytest.raises(
        InputError,
        match=r"2 of 3 examples have no predictions.*; by file name or number 3 ids "
        r"would match, but not all",
    ):
        bleu1(write("c.json", rows), references)


def test_missing_predictions_of_other_splits_name_the_split(write):
    images = [
        {
            "cocoid": k,
            "imgid": k,
            "split": "test" if k > 1 else "train",
            "filename": f"{k}.jpg",
            "sentences": [{"raw": text}],
        }
        for k, text in enumerate(TEXTS)
    ]
    references = write("dataset_coco.json", {"dataset": "coco", "images": images})
    candidates = write("c.json", [{"image_id": k, "caption": TEXTS[k]} for k in (2, 3)])
    with pytest.raises(
        InputError,
        match=r"the file has the predictions of the split test, "
        r"not of the split train \(split='test'\)",
    ):
        bleu1(candidates, references)
    assert bleu1(candidates, references, split="test") == pytest.approx(1)
    table = write(
        "t.jsonl",
        [
            {"id": k, "split": "val" if k > 1 else "train", "references": [text]}
            for k, text in enumerate(TEXTS)
        ],
    )
    with pytest.raises(InputError, match=r"\(split='val'\)"):
        bleu1(candidates, table)
    assert bleu1(candidates, table, split="val") == pytest.approx(1)


@pytest.mark.parametrize(
    "nested",
    [
        {"image_id": "PLACE"},
        {"video_id": "PLACE"},
        {"question_id": "PLACE", "category": "a"},
    ],
)
def test_a_log_whose_numbers_are_ids_of_other_images(write, nested, caplog):
    references = write("r.json", {str(k): [text] for k, text in enumerate(TEXTS)})
    documents = [
        {name: place if value == "PLACE" else value for name, value in nested.items()}
        for place in (2, 0, 3, 1)
    ]
    rows = [
        {
            "doc_id": number,
            "doc": document,
            "target": "",
            "resps": [[TEXTS[place]]],
            "filtered_resps": [TEXTS[place]],
        }
        for number, (document, place) in enumerate(zip(documents, (2, 0, 3, 1)))
    ]
    assert bleu1(write("samples.jsonl", rows), references) == pytest.approx(1)
    assert f"ids by 'doc.{next(iter(nested))}' (not 'id')" in caplog.text
    same = [{**row, "target": row["filtered_resps"][0]} for row in rows]
    assert bleu1(
        write("same.jsonl", same), write("other.jsonl", same[::-1])
    ) == pytest.approx(1)


@pytest.mark.parametrize(
    "names", [("video_id", "clip_id"), ("image_id", "question_id"), ("cocoid", "imgid")]
)
def test_two_ids_of_subjects_that_pair_differently(write, names):
    first, second = names
    references = write("r.json", {str(k): [text] for k, text in enumerate(TEXTS)})
    rows = [
        {first: k, second: (k + 1) % 4, "caption": text} for k, text in enumerate(TEXTS)
    ]
    with pytest.raises(
        InputError,
        match=f"two columns of ids pair .*by '{first}' 4 of 4 .*by '{second}' 4 of 4 "
        ".*id=...",
    ):
        bleu1(write("c.json", rows), references)
    assert bleu1(write("c.json", rows), references, id=first) == pytest.approx(1)
    both = write(
        "r.jsonl", [{**row, "references": [row["caption"]]} for row in rows[::-1]]
    )
    assert bleu1(write("c.json", rows), both) == pytest.approx(1)


def test_ids_that_a_table_writes_as_decimals(write):
    places = [3, 0, 2, 1]
    for ids in ([1, 2, 3, 10], [391895, 7, 0, 5]):
        references = write(
            "r.json", {str(key): [text] for key, text in zip(ids, TEXTS)}
        )
        rows = "".join(f"{ids[place]}.0,{TEXTS[place]}\n" for place in places)
        assert bleu1(
            write("c.csv", f"image_id,caption\n{rows}"), references
        ) == pytest.approx(1)


@pytest.mark.parametrize("name", ["{}.jpg", "{}", "images/{}.jpg"])
def test_names_of_the_media_of_the_examples(write, name, caplog):
    names = [f"10071{k}x" for k in range(4)]
    rows = [
        {"image_id": name.format(names[place]), "caption": TEXTS[place]}
        for place in (1, 3, 0, 2)
    ]
    candidates = write("c.json", rows)
    images = [
        {
            "imgid": k,
            "filename": f"{names[k]}.jpg",
            "split": "test",
            "sentences": [{"raw": text}],
        }
        for k, text in enumerate(TEXTS)
    ]
    annotations = {
        "images": [{"id": k, "file_name": f"{names[k]}.jpg"} for k in range(4)],
        "annotations": [
            {"id": k, "image_id": k, "caption": text} for k, text in enumerate(TEXTS)
        ],
    }
    for content in ({"dataset": "flickr30k", "images": images}, annotations):
        assert bleu1(candidates, write("r.json", content)) == pytest.approx(1)
    assert "its ids are matched by the names of the media" in caplog.text


@pytest.mark.parametrize("sign", [":", ",", " |"])
def test_lines_that_begin_with_ids_are_no_captions(write, sign):
    references = write("r.json", {f"v{k}": [text] for k, text in enumerate(TEXTS)})
    lines = "".join(f"v{place}{sign} {TEXTS[place]}\n" for place in (2, 0, 3, 1))
    with pytest.raises(
        InputError, match="its lines begin with the ids of the data set"
    ):
        bleu1(write("c.txt", lines), references)
    assert bleu1(
        write("c.txt", lines.replace(f"{sign} ", "\t")), references
    ) == pytest.approx(1)


@pytest.mark.parametrize(
    ("number", "media"), [("id", "image"), ("index", "image_path"), ("id", "file_name")]
)
@pytest.mark.parametrize("folder", ["a", "b/c"])
def test_both_sides_number_their_records_in_their_own_order(
    write, number, media, folder
):
    rows = [
        {number: k, media: f"{folder}/v{place}.jpg", "caption": TEXTS[place]}
        for k, place in enumerate((2, 0, 3, 1))
    ]
    references = write(
        "r.jsonl",
        [
            {number: k, media: f"a/v{k}.jpg", "references": [text]}
            for k, text in enumerate(TEXTS)
        ],
    )
    assert bleu1(write("c.jsonl", rows), references) == pytest.approx(1)


@pytest.mark.parametrize("number", ["id", "question_id", "index"])
def test_names_of_files_that_contradict_the_numbers_of_records(write, number):
    references = write("r.json", {str(k): [text] for k, text in enumerate(TEXTS)})
    rows = [
        {number: k, "image": f"val/{place:06d}.jpg", "caption": TEXTS[place]}
        for k, place in enumerate((2, 0, 3, 1))
    ]
    with pytest.raises(
        InputError,
        match=f"two columns of ids pair .*by '{number}' 4 of 4 .*by 'image' 4 of 4",
    ):
        bleu1(write("c.json", rows), references)
    assert bleu1(write("c.json", rows), references, id="image") == pytest.approx(1)
    alike = [
        {
            **row,
            "image": f"val/{row[number]:06d}.jpg",
            "caption": TEXTS[int(str(row[number]))],
        }
        for row in rows
    ]
    assert bleu1(write("d.json", alike), references) == pytest.approx(1)


@pytest.mark.parametrize("end", [".png", ".jpg", ""])
def test_a_column_of_the_references_that_fits_by_name(write, end):
    rows = [
        {"id": k, "filename": f"x{k % 4}.png", "caption": TEXTS[k % 4]}
        for k in range(8)
    ]
    candidates = write(
        "c.json", {f"x{place}{end}": TEXTS[place] for place in (2, 0, 3, 1)}
    )
    assert bleu1(candidates, write("r.json", rows)) == pytest.approx(1)


@pytest.mark.parametrize(("before", "after"), [(" ", ""), ("", " "), ('="', '"')])
def test_ids_with_signs_of_a_spreadsheet(write, before, after):
    references = write("r.json", {f"0{k}": [text] for k, text in enumerate(TEXTS)})
    lines = "".join(
        f"{before}0{place}{after}\t{TEXTS[place]}\n" for place in (2, 0, 3, 1)
    )
    assert bleu1(write("c.tsv", f"id\tcaption\n{lines}"), references) == pytest.approx(
        1
    )


@pytest.mark.parametrize("end", ["", ".jpg"])
def test_pairs_of_an_id_and_a_caption_are_no_two_captions(write, end):
    references = write("r.json", {f"v{k}": [text] for k, text in enumerate(TEXTS)})
    with pytest.raises(
        InputError,
        match=r"lists are pairs of an id of the data set and a caption .* an object of "
        r"ids and captions",
    ):
        bleu1(
            write(
                "c.json", [[f"v{place}{end}", TEXTS[place]] for place in (2, 0, 3, 1)]
            ),
            references,
        )


@pytest.mark.parametrize(
    "names",
    [("image_id", "caption"), ("image_ids", "captions"), ("ids", "predictions")],
)
def test_lists_by_column(write, names):
    references = {str(7 * k): [text] for k, text in enumerate(TEXTS)}
    places = (2, 0, 3, 1)
    ids = [7 * place for place in places]
    texts = [TEXTS[place] for place in places]
    assert bleu1(
        write("c.json", dict(zip(names, (ids, texts)))), write("r.json", references)
    ) == pytest.approx(1)
    columns = {"id": [7 * k for k in range(4)], "references": list(references.values())}
    assert (
        bleu1({"id": ids, "caption": texts}, columns)
        == bleu1(
            {"id": ids, "caption": texts},
            [dict(zip(columns, row)) for row in zip(*columns.values())],
        )
        == pytest.approx(1)
    )


def test_lines_of_dictionaries_are_no_captions(write):
    references = write("r.json", {str(k): [text] for k, text in enumerate(TEXTS)})
    for quote in ("'", '"'):
        lines = "".join(
            f"{{{quote}image_id{quote}: {k}, 'caption': '{text}'}}\n"
            for k, text in enumerate(TEXTS)
        )
        with pytest.raises(
            InputError, match=r"no JSON; expected JSON, as json.dumps writes it"
        ):
            bleu1(write("c.txt", lines), references)
    assert (
        bleu1(
            write("d.txt", "{a man} rides a horse\n" + "\n".join(TEXTS[1:])), references
        )
        > 0.5
    )


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_empty_rows_and_columns_behind_a_table(write, sign):
    references = write("r.json", {str(k): [text] for k, text in enumerate(TEXTS)})
    rows = [
        ["id", "caption", "", ""],
        *([str(k), text, "", ""] for k, text in enumerate(TEXTS)),
        [""] * 4,
        [""] * 4,
    ]
    lines = [sign.join(row) for row in rows]
    assert bleu1(write("c.csv", "\n".join(lines)), references) == pytest.approx(1)
    with pytest.raises(InputError, match="a cell has no name of its column"):
        bleu1(
            write("c.csv", "\n".join([*lines[:-1], f"9{sign}a dog{sign}x{sign}"])),
            references,
        )
    with pytest.raises(InputError, match=":2: "):
        bleu1(write("c.csv", "\n".join([lines[0], lines[-1], *lines[1:]])), references)


@pytest.mark.parametrize("column", ["response", "completion", ""])
def test_answers_of_a_server_beside_an_id_of_the_program(write, column):
    references = write("r.json", {f"v{k}": [text] for k, text in enumerate(TEXTS)})
    rows = []
    for place in (2, 0, 3, 1):
        answer = {
            "id": "chatcmpl-1",
            "choices": [
                {
                    "index": 0,
                    "message": {"content": TEXTS[place]},
                    "finish_reason": "stop",
                }
            ],
        }
        rows.append(
            {"image_id": f"v{place}", **({column: answer} if column else answer)}
        )
    assert bleu1(write("c.jsonl", rows), references) == pytest.approx(1)


@pytest.mark.parametrize(
    ("data", "uri"), [("fileData", "fileUri"), ("file_data", "file_uri")]
)
def test_answers_of_vertex_have_the_file_that_was_sent(write, data, uri):
    references = write("r.json", {f"v{k}": [text] for k, text in enumerate(TEXTS)})
    rows = [
        {
            "request": {
                "contents": [
                    {
                        "role": "user",
                        "parts": [
                            {"text": "describe"},
                            {data: {uri: f"gs://bucket/v{place}.jpg"}},
                        ],
                    }
                ]
            },
            "response": {
                "candidates": [
                    {"content": {"parts": [{"text": TEXTS[place]}], "role": "model"}}
                ]
            },
        }
        for place in (2, 0, 3, 1)
    ]
    assert bleu1(write("c.jsonl", rows), references) == pytest.approx(1)


def test_a_number_beside_references_is_none(write):
    candidates = write("c.json", {"1": "a dog runs", "2": "a cat sits"})
    plain = write(
        "r.csv", "id,caption_1,caption_2\n1,a dog runs,dogs run\n2,a cat,cats sit\n"
    )
    for column, value in (
        ("caption_length", "27"),
        ("caption_model", "blip"),
        ("captions_source", "web"),
    ):
        further = write(
            "s.csv",
            f"id,caption_1,caption_2,{column}\n1,a dog runs,dogs run,{value}\n"
            f"2,a cat,cats sit,{value}\n",
        )
        assert bleu1(candidates, further) == bleu1(candidates, plain)


@pytest.mark.parametrize(
    ("first", "second"),
    [("reference", "reference2"), ("Caption", "Caption 2"), ("caption", "caption.1")],
)
def test_a_numbered_column_continues_one_without_a_number(write, first, second):
    candidates = write("c.json", {"1": "a dog runs", "2": "a cat sits"})
    plain = write("r.json", {"1": ["a dog", "dogs run"], "2": ["a cat", "cats sit"]})
    table = write("r.csv", f"id,{first},{second}\n1,a dog,dogs run\n2,a cat,cats sit\n")
    assert bleu1(candidates, table) == bleu1(candidates, plain)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("expected_output", "output"),
        ("gt_answers", "answer"),
        ("gt_caption", "gen_caption"),
        ("summary", "generated_summary"),
    ],
)
def test_both_sides_by_their_names(write, reference, candidate):
    rows = [
        {
            "id": k,
            candidate: "a cat",
            reference: text,
            "context": "an article of many words",
        }
        for k, text in enumerate(TEXTS)
    ]
    right = bleu1(["a cat"] * 4, TEXTS)
    both = write("both.jsonl", rows)
    assert bleu1(both, both) == bleu1(rows, rows) == right


def test_an_empty_cell_is_no_reference(write):
    candidates = write("c.json", {"1": "a dog runs", "2": "a cat sits"})
    ragged = write("r.csv", "id,ref1,ref2\n1,a dog runs,dogs run\n2,a cat,\n")
    assert bleu1(candidates, ragged) == bleu1(
        candidates, write("r.json", {"1": ["a dog runs", "dogs run"], "2": ["a cat"]})
    )


def test_paths_and_several_columns(write):
    rows = [
        {
            "id": k,
            "out": {"choices": [{"text": text}]},
            "first": text,
            "second": "a cat",
        }
        for k, text in enumerate(TEXTS)
    ]
    candidates = write("c.jsonl", rows)
    references = write("r.json", {str(k): [text] for k, text in enumerate(TEXTS)})
    assert bleu1(candidates, references, column="out.choices.0.text") == pytest.approx(
        1
    )
    assert bleu1(
        candidates, candidates, column="first", reference_column="out.choices.0.text"
    ) == pytest.approx(1)
    options = FileOptions(columns=("first", "second"))
    run = score_files([candidates], references, ["bleu1"], options=options)
    assert [(record.model, round(record.value, 2)) for record in run.records] == [
        ("first", 1.0),
        ("second", 0.06),
    ]


def test_records_that_repeat_the_list_of_their_image(write):
    rows = [
        {"image_id": "i", "caption_str": text, "reference_strs": ["a dog", "the dog"]}
        for text in ("a dog", "the dog")
    ]
    rows += [{"image_id": "j", "caption_str": "a cat", "reference_strs": ["a cat"]}]
    run = score_files(
        write("c.json", {"i": "the dog", "j": "a cat"}),
        write("r.json", {"data": rows}),
        ["bleu1"],
    )
    assert run.records[0].value == pytest.approx(1) and (run.records[0].sizes or {})[
        "references"
    ] == [1, 2]
    assert run.provenance.readings[0]["left_out"] == {
        "records that repeat the references of their id": 1
    }


def test_one_file_with_both_sides_and_no_ids(write):
    rows = [
        {"question": "describe", "predicted": text, "answer": text, "seconds": 0.5}
        for text in TEXTS
    ]
    both = write("generated.jsonl", rows)
    assert bleu1(both, both) == pytest.approx(1)
    with pytest.raises(InputError, match="id=None matches records"):
        bleu1(both, write("r.jsonl", rows))
    assert bleu1(both, write("r.jsonl", rows), id=None) == pytest.approx(1)


@pytest.mark.parametrize(
    ("mark", "excludes"),
    [
        ("is_rejected", True),
        ("is_precanned", True),
        ("valid", False),
        ("rejected", "true"),
    ],
)
def test_marked_references_are_left_out(write, mark, excludes):
    marked = [
        {
            mark if name == "MARK" else name: excludes if name == "MARK" else value
            for name, value in row.items()
        }
        for row in ANNOTATIONS
    ]
    clean = [row for row in ANNOTATIONS if "MARK" not in row]
    candidates = write(
        "c.json", {"1": "a can of beans", "2": "the photo is too blurred to say"}
    )
    right = bleu1(candidates, write("clean.json", clean))
    lists = {str(k): [row for row in marked if row["image_id"] == k] for k in (1, 2)}
    contents = [
        marked,
        {"images": [{"id": 1}, {"id": 2}], "annotations": marked},
        lists,
    ]
    for k, content in enumerate(contents):
        references = write(f"r{k}.json", content)
        assert bleu1(candidates, references) == right
        run = score_files(candidates, references, ["bleu1"])
        assert str(run.provenance.readings[0]["left_out"]).endswith(": 2}")


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("is_rejected", [False, True]),
        ("Is Precanned", ["false", "TRUE"]),
        ("valid", [1, 0]),
    ],
)
def test_marks_in_a_list_beside_the_references(write, name, marks):
    texts = [
        ["a can of beans", "the photo is too blurred"],
        ["a phone", "the photo is too blurred"],
    ]
    rows = [
        {"image_id": k, "captions": item, name: marks} for k, item in enumerate(texts)
    ]
    candidates = write(
        "c.json", {"0": "a can of beans", "1": "the photo is too blurred to say"}
    )
    right = bleu1(
        candidates,
        write("clean.json", {str(k): item[:1] for k, item in enumerate(texts)}),
    )
    run = score_files(candidates, write("r.jsonl", rows), ["bleu1"])
    assert run.records[0].value == right
    assert str(run.provenance.readings[0]["left_out"]).endswith(": 2}")
    values = [
        {"image_id": 0, "caption": "a can of beans"},
        {"image_id": 1, "caption": "the photo is too blurred to say"},
    ]
    assert bleu1(values, rows) == right


def test_an_image_without_other_references_is_left_out(write):
    rows = [
        {"image_id": 1, "caption": "a can"},
        {"image_id": 2, "caption": "blurred", "is_rejected": True},
    ]
    for content in (rows, {"images": [{"id": 1}, {"id": 2}], "annotations": rows}):
        references = write("r.json", content)
        with pytest.raises(
            InputError,
            match=r"predictions for 1 example that the data set does not contain: "
            r"'2' \(allow_unknown=True",
        ):
            bleu1(write("c.json", {"1": "a can", "2": "a phone"}), references)
        assert bleu1(write("c.json", {"1": "a can"}), references) == pytest.approx(1)


@pytest.mark.parametrize("line", ["", "  ", "\t"])
def test_an_empty_line_of_a_further_file_is_no_reference(write, line):
    candidates = write("hyp.txt", "a bus on the road\na cat\n")
    files = [
        write("r1.txt", "a red bus drives on the road\na small cat sleeps\n"),
        write("r2.txt", f"the bus is on a road\n{line}\n"),
    ]
    right = bleu1(
        {"0": "a bus on the road", "1": "a cat"},
        {
            "0": ["a red bus drives on the road", "the bus is on a road"],
            "1": ["a small cat sleeps"],
        },
    )
    assert bleu1(candidates, files) == right
    assert bleu1(candidates, files, allow_empty=True) == right
    assert bleu1(candidates, files[::-1]) == right
    with pytest.raises(InputError, match="has no reference in any file"):
        bleu1(candidates, [files[1], write("r3.txt", "a bus\n\n")])


@pytest.mark.parametrize("name", ["sentences", "captions"])
def test_texts_with_times_are_not_alternatives(write, name):
    references = write(
        "r.json",
        {
            "v_1": {
                "duration": 9.5,
                "timestamps": [[0, 4.2], [4, 9.5]],
                name: ["a skier stands on a hill", "the skier goes down"],
            },
            "v_2": {
                "duration": 7,
                "timestamps": [[0, 7]],
                name: ["a woman prepares food"],
            },
        },
    )
    candidates = write(
        "p.json", {"v_1": "a man stands on a hill he skis down", "v_2": "a woman cooks"}
    )
    with pytest.raises(
        InputError,
        match=r"'v_1': '\w+' holds 2 texts with times.*\(events='paragraph' joins "
        r".*events='separate' makes",
    ):
        bleu1(candidates, references)
    joined = {
        "v_1": ["a skier stands on a hill the skier goes down"],
        "v_2": ["a woman prepares food"],
    }
    assert bleu1(candidates, references, events="paragraph") == bleu1(
        candidates, write("j.json", joined)
    )
    assert bleu1(references, references, events="separate") == pytest.approx(1)


def test_rows_have_the_captions_of_their_role():
    rows = [
        {"caption": "a man riding a bike", "references": ["a man on a red bike"]},
        {"caption": "two cats", "references": ["a pair of cats"]},
    ]
    right = bleu1([row["caption"] for row in rows], [row["references"] for row in rows])
    assert (
        bleu1(rows, rows)
        == bleu1([row["caption"] for row in rows], rows)
        == right
        < 0.5
    )
    named = [
        {"prediction": row["caption"], "Ref 1": row["references"][0], "score": 1.0}
        for row in rows
    ]
    assert bleu1(named, named) == right
    with pytest.raises(InputError, match="no column of references; found 'score'"):
        bleu1(named, [{"score": 1.0}, {"score": 2.0}])


def test_rows_that_share_ids_are_matched_by_them():
    rows = [{"image_id": k, "caption": text} for k, text in enumerate(TEXTS)]
    assert bleu1(
        rows, [{**row, "references": [row["caption"]]} for row in rows[::-1]]
    ) == pytest.approx(1)
    with pytest.raises(HarnessError, match="no candidates"):
        bleu1(rows[:2], rows[::-1])


def test_series_are_matched_by_their_labels():
    pd = pytest.importorskip("pandas")
    for labels in ([7, 8, 9, 10], ["d", "c", "b", "a"], [0.5, 1.5, 2.5, 3.5]):
        frame = pd.DataFrame(
            {"caption": TEXTS, "references": [[text] for text in TEXTS]}, index=labels
        )
        assert bleu1(
            frame["caption"], frame["references"].sort_index(ascending=False)
        ) == pytest.approx(1)
        assert bleu1(frame, frame) == pytest.approx(1)
    with pytest.raises(
        InputError, match="the labels of candidates and references differ"
    ):
        bleu1(frame["caption"], frame["references"].reset_index(drop=True))


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_blank_texts_are_refused_as_in_files(blank):
    with pytest.raises(
        InputError,
        match=r"candidates: '1': empty caption .* \(allow_empty=True keeps it\)",
    ):
        bleu1(["a dog", blank], ["a dog", "a cat"])
    with pytest.raises(InputError, match=r"references: 'x': empty reference"):
        bleu1({"x": "a dog"}, {"x": ["a dog", blank]})
    assert bleu1(["a dog", blank], ["a dog", "a cat"], allow_empty=True) < 1


def test_rows_are_matched_by_columns_that_agree():
    references = [
        {"image_id": 5 * k, "captions": [text]} for k, text in enumerate(TEXTS)
    ]
    for name, form in (
        ("cocoid", "{}"),
        ("image", "val/{}.jpg"),
        ("image_id", "{:012d}"),
    ):
        rows = [
            {"id": number, name: form.format(5 * place), "caption": TEXTS[place]}
            for number, place in enumerate((3, 0, 2, 1))
        ]
        assert bleu1(rows, references) == pytest.approx(1)


def test_marked_references_of_rows_are_left_out(caplog):
    rows = [
        {"image_id": k, "caption": text, "is_rejected": False}
        for k, text in enumerate(TEXTS)
    ]
    rows += [
        {"image_id": k, "caption": "too blurred", "is_rejected": True} for k in range(4)
    ]
    candidates = [{"image_id": k, "caption": "too blurred"} for k in range(4)]
    assert bleu1(candidates, rows) == bleu1(["too blurred"] * 4, TEXTS)
    assert "references: left out: 4 marked is_rejected" in caplog.text
    nested = [
        {
            "image_id": k,
            "references": [{"raw": text}, {"raw": "too blurred", "rejected": 1}],
        }
        for k, text in enumerate(TEXTS)
    ]
    assert bleu1(candidates, nested) == bleu1(["too blurred"] * 4, TEXTS)
    with pytest.raises(InputError, match="references: example 1: expected a text"):
        bleu1(
            ["a dog", "a cat"],
            [
                {"caption": "a dog", "valid": True, "n": 1},
                {"caption": "a cat", "valid": False, "n": 2},
            ],
        )


def test_frames_are_matched_by_their_labels(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "prediction": TEXTS,
            "captions": [[text] for text in TEXTS],
            "image_id": [30, 10, 40, 20],
        }
    )
    mixed = frame.iloc[[2, 0, 3, 1]]
    assert bleu1(mixed[["prediction"]], frame[["captions"]]) == pytest.approx(1)
    assert bleu1(mixed["prediction"], frame[["captions"]]) == pytest.approx(1)
    assert bleu1(
        mixed.set_index("image_id")[["prediction"]], frame[["captions", "image_id"]]
    ) == pytest.approx(1)
    with pytest.raises(
        InputError, match="the labels of candidates and references differ"
    ):
        bleu1(mixed[["prediction"]], frame[["captions"]].iloc[:3])


def test_frames_with_absent_cells_and_arrays(tmp_path):
    pd = pytest.importorskip("pandas")
    candidates = pd.DataFrame(
        {"id": [1, 2], "prediction": ["a dog runs", "a cat sits"]}
    )
    right = bleu1(
        {"1": "a dog runs", "2": "a cat sits"},
        {"1": ["a dog", "dogs run"], "2": ["a cat"]},
    )
    assert (
        bleu1(
            candidates,
            pd.DataFrame(
                {
                    "id": [1, 2],
                    "ref1": ["a dog", "a cat"],
                    "ref2": ["dogs run", float("nan")],
                }
            ),
        )
        == right
    )
    pd.DataFrame(
        {"id": [1, 2], "captions": [["a dog", "dogs run"], ["a cat"]]}
    ).to_parquet(tmp_path / "r.parquet")
    assert bleu1(candidates, pd.read_parquet(tmp_path / "r.parquet")) == right


@pytest.mark.parametrize("sign", ["|", "#0 ", ":"])
def test_lines_that_begin_with_other_ids_are_no_captions(write, sign):
    references = write("r.json", {f"v{k}": [text] for k, text in enumerate(TEXTS)})
    lines = "".join(f"v{k}{sign}{text}\n" for k, text in enumerate(TEXTS))
    with pytest.raises(InputError, match="its lines begin with the ids of the data"):
        bleu1(write("c.txt", lines), references)


@pytest.mark.parametrize("options", [{"allow_unknown": True}, {"allow_missing": True}])
def test_records_by_position_are_as_many_as_examples(write, options):
    for candidates, references in ((TEXTS, TEXTS[1:]), (TEXTS[1:], TEXTS)):
        with pytest.raises(InputError, match="records without ids for . examples"):
            bleu1(write("c.json", candidates), write("r.json", references), **options)


def test_references_of_one_list_per_annotator_are_named(write):
    by_annotator = [TEXTS, TEXTS[::-1]]
    with pytest.raises(InputError, match="one list per example, not one per annotator"):
        bleu1(write("c.json", TEXTS), write("r.json", by_annotator))


@pytest.mark.parametrize("name", ["uid", "img", "img_path", "video_name", "idx"])
def test_further_usual_names_of_ids(write, name):
    rows = [{name: f"v{k}.jpg", "caption": text} for k, text in enumerate(TEXTS)]
    assert bleu1(write("c.json", rows[::-1]), write("r.json", rows)) == pytest.approx(1)


@pytest.mark.parametrize(
    "cell",
    [
        "[{{'caption': {0!r}}}]",
        '[{{"caption": "{0}"}}]',
        "({0!r}, 'x y')",
        "{{{0!r}}}",
    ],
)
def test_references_written_into_a_cell(write, cell):
    rows = "".join(f"{k}\t{cell.format(text)}\n" for k, text in enumerate(TEXTS))
    candidates = write("c.json", [{"id": k, "caption": t} for k, t in enumerate(TEXTS)])
    assert bleu1(candidates, write("r.tsv", f"id\tcaptions\n{rows}")) == pytest.approx(
        1
    )


@pytest.mark.parametrize("name", ["sample_id", "key", "name", "uid", "url"])
def test_a_shared_column_of_ids_contradicts_running_numbers(write, name):
    rows = [
        {"index": k, name: f"http://x/p{place}x", "caption": TEXTS[place]}
        for k, place in enumerate((2, 0, 3, 1))
    ]
    references = [
        {"index": k, name: f"http://x/p{k}x", "references": [text]}
        for k, text in enumerate(TEXTS)
    ]
    assert bleu1(write("c.json", rows), write("r.json", references)) == pytest.approx(1)


def test_numbers_that_do_not_run_are_ids(write):
    """Both columns may be ids of something: the first usual one is taken."""
    ids = [7, 3, 9, 4]
    rows = [
        {"id": ids[k], "key": f"k{(k + 1) % 4}", "caption": text}
        for k, text in enumerate(TEXTS)
    ]
    references = [
        {"id": ids[k], "key": f"k{k}", "caption": text} for k, text in enumerate(TEXTS)
    ]
    assert bleu1(write("c.json", rows), write("r.json", references)) == pytest.approx(1)


@pytest.mark.parametrize("end", [".json", ".jsonl", ".csv"])
@pytest.mark.parametrize("name", ["photo", "filepath", "Bild"])
def test_running_numbers_and_a_column_of_any_name_are_refused(write, end, name):
    def table(places):
        rows = [
            {"id": k, name: f"p{place}x", "caption": TEXTS[place]}
            for k, place in enumerate(places)
        ]
        if end != ".csv":
            return rows
        return "\n".join(
            [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        )

    candidates = write(f"c{end}", table((2, 0, 3, 1)))
    references = write(f"r{end}", table(range(4)))
    with pytest.raises(
        InputError,
        match=f"record 1 is example '0' by 'id', .* and '2' by '{name}' .*; choose "
        f"id='id', or id='{name}' with reference_id='{name}' of the references",
    ):
        bleu1(candidates, references)
    assert bleu1(candidates, references, id="id") < 0.9
    other = bleu1(candidates, references, id=name, reference_id=name)
    assert other == pytest.approx(1)
    same = write(f"d{end}", table(range(4)))
    assert bleu1(same, references) == pytest.approx(1)
