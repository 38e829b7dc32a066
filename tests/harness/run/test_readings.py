"""Files that can be read in several ways: the right numbers, a line that says how, or a refusal."""

from __future__ import annotations

import json

import pytest

import harness
from harness.api import score_files
from harness.errors import HarnessError, InputError
from harness.run.file_pair import FileOptions

TEXTS = ["a man rides a horse", "two dogs play in the snow", "a bowl of fruit on a table", "a boat on a lake"]


@pytest.fixture
def write(tmp_path):
    """Write a file of a value: JSON, JSON Lines of a list for ``.jsonl``, else text; return its path."""

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
    return harness.score(candidates, references, "bleu1", bootstrap=0, **options)["bleu1"].value


# --------------------------------------------------------------------------- ids
def shuffled_records(key: str, ids: list) -> list[dict[str, object]]:
    """Return records in another order than the ids, with their running numbers as ``id``."""
    return [{"id": k, key: ids[place], "caption": TEXTS[place]} for k, place in enumerate([2, 0, 3, 1], 1)]


@pytest.mark.parametrize(("key", "ids"), [("image_id", [1, 2, 3, 4]), ("video_id", ["1", "2", "3", "4"]), ("Image ID", [4, 3, 2, 1])])
def test_a_running_number_beside_the_id_of_the_image(write, key, ids, caplog):
    plain = write("plain.json", [{key: name, "caption": text} for name, text in zip(ids, TEXTS)])
    numbered = write("numbered.json", shuffled_records(key, ids))
    annotations = write("full.json", {"annotations": shuffled_records(key, ids)})
    for candidates in (numbered, annotations, plain):
        for references in (numbered, annotations, plain):
            assert bleu1(candidates, references) == pytest.approx(1)
    assert f"ids by '{key}' (not 'id')" in caplog.text


def test_the_number_of_the_record_is_the_id_where_the_other_file_has_it(write):
    references = write("r.json", [{"id": f"s{k}", "image_id": k // 2, "caption": text} for k, text in enumerate(TEXTS)])
    candidates = write("c.json", [{"id": f"s{k}", "caption": text} for k, text in enumerate(TEXTS)])
    assert bleu1(candidates, references) == pytest.approx(1)
    assert bleu1(candidates, candidates) == pytest.approx(1)
    annotated = [{"id": f"s{k}", "image_id": f"i{k}", "caption": text} for k, text in enumerate(TEXTS)]
    assert bleu1(write("a.json", annotated), candidates) == pytest.approx(1)


def test_captions_of_one_image_in_both_files_are_sets(write, caplog):
    rows = [{"id": k, "image_id": k % 2, "caption": text} for k, text in enumerate(TEXTS)]
    results = harness.score(write("c.json", rows[::-1]), write("r.json", rows), "bleu1")["bleu1"]
    assert results.n == 2 and "ids by 'image_id' (not 'id')" in caplog.text


def test_files_of_one_command_use_one_column(write):
    fields = [{"image_id": name, "question_id": other} for name, other in zip("12", "34")]
    first = write("a.json", [{**item, "caption": "a dog"} for item in fields])
    second = write("b.json", [{"image_id": other["question_id"], "question_id": other["image_id"], "caption": "a dog"} for other in fields])
    references = write("r.json", {"1": ["a dog"], "2": ["a cat"]})
    with pytest.raises(InputError, match="its records are matched by 'question_id', those of .*a.json by 'image_id'.*choose one"):
        score_files([first, second], references, ["bleu1"])


def test_a_column_of_another_name_that_has_the_ids(write, caplog):
    candidates = write("c.csv", "vid,seconds,pred\nx1,4,a dog\nx2,5,a cat\n")
    assert bleu1(candidates, write("r.json", {"x2": ["a cat"], "x1": ["a dog"]})) == pytest.approx(1)
    assert "'vid' has the ids of the examples" in caplog.text
    with pytest.raises(InputError, match=r"no column for id \(name it with id=.*; id=None matches"):
        bleu1(candidates, write("s.json", {"y2": ["a cat"], "y1": ["a dog"]}))


def test_padded_ids_and_names_of_files(write):
    references = write("r.json", {"1": ["a dog"], "2": ["a cat"], "10": ["a bird"]})
    padded = [{"id": name, "caption": text} for name, text in (("0002", "a cat"), ("0010", "a bird"), ("0001", "a dog"))]
    assert bleu1(write("c.jsonl", padded), references) == pytest.approx(1)
    named = [{"id": k, "file": f"val/{name}.jpg", "image": f"val/{name}.jpg", "caption": text} for k, (name, text) in enumerate(
        (("000002", "a cat"), ("000010", "a bird"), ("000001", "a dog")), 5)]  # fmt: skip
    assert bleu1(write("d.jsonl", named), references) == pytest.approx(1)


def test_ids_that_match_in_part_by_name_are_not_called_missing(write):
    references = write("r.json", {"1": ["a dog"], "2": ["a cat"], "3": ["a bird"]})
    rows = [{"id": name, "caption": "a dog"} for name in ("1", "a/2.jpg", "b/2.jpg", "a/3.jpg")]
    with pytest.raises(InputError, match=r"2 of 3 examples have no predictions.*; by file name or number 3 ids would match, but not all"):
        bleu1(write("c.json", rows), references)


def test_missing_predictions_of_other_splits_name_the_split(write):
    images = [
        {"cocoid": k, "imgid": k, "split": "test" if k > 1 else "train", "filename": f"{k}.jpg", "sentences": [{"raw": text}]}
        for k, text in enumerate(TEXTS)
    ]
    references = write("dataset_coco.json", {"dataset": "coco", "images": images})
    candidates = write("c.json", [{"image_id": k, "caption": TEXTS[k]} for k in (2, 3)])
    with pytest.raises(InputError, match=r"the file has the predictions of the split test, not of the split train \(split='test'\)"):
        bleu1(candidates, references)
    assert bleu1(candidates, references, split="test") == pytest.approx(1)
    table = write("t.jsonl", [{"id": k, "split": "val" if k > 1 else "train", "references": [text]} for k, text in enumerate(TEXTS)])
    with pytest.raises(InputError, match=r"\(split='val'\)"):
        bleu1(candidates, table)
    assert bleu1(candidates, table, split="val") == pytest.approx(1)


# --------------------------------------------------------------------------- columns
def test_a_number_beside_references_is_none(write):
    candidates = write("c.json", {"1": "a dog runs", "2": "a cat sits"})
    plain = write("r.csv", "id,caption_1,caption_2\n1,a dog runs,dogs run\n2,a cat,cats sit\n")
    for column, value in (("caption_length", "27"), ("caption_model", "blip"), ("captions_source", "web")):
        further = write("s.csv", f"id,caption_1,caption_2,{column}\n1,a dog runs,dogs run,{value}\n2,a cat,cats sit,{value}\n")
        assert bleu1(candidates, further) == bleu1(candidates, plain)


def test_an_empty_cell_is_no_reference(write):
    candidates = write("c.json", {"1": "a dog runs", "2": "a cat sits"})
    ragged = write("r.csv", "id,ref1,ref2\n1,a dog runs,dogs run\n2,a cat,\n")
    assert bleu1(candidates, ragged) == bleu1(candidates, write("r.json", {"1": ["a dog runs", "dogs run"], "2": ["a cat"]}))


def test_paths_and_several_columns(write):
    rows = [{"id": k, "out": {"choices": [{"text": text}]}, "first": text, "second": "a cat"} for k, text in enumerate(TEXTS)]
    candidates, references = write("c.jsonl", rows), write("r.json", {str(k): [text] for k, text in enumerate(TEXTS)})
    assert bleu1(candidates, references, column="out.choices.0.text") == pytest.approx(1)
    assert bleu1(candidates, candidates, column="first", reference_column="out.choices.0.text") == pytest.approx(1)
    options = FileOptions(columns=("first", "second"))
    run = score_files([candidates], references, ["bleu1"], options=options)
    assert [(record.model, round(record.value, 2)) for record in run.records] == [("first", 1.0), ("second", 0.06)]


def test_records_that_repeat_the_list_of_their_image(write):
    rows = [{"image_id": "i", "caption_str": text, "reference_strs": ["a dog", "the dog"]} for text in ("a dog", "the dog")]
    rows += [{"image_id": "j", "caption_str": "a cat", "reference_strs": ["a cat"]}]
    run = score_files(write("c.json", {"i": "the dog", "j": "a cat"}), write("r.json", {"data": rows}), ["bleu1"])
    assert run.records[0].value == pytest.approx(1) and (run.records[0].sizes or {})["references"] == [1, 2]
    assert run.provenance.readings[0]["left_out"] == {"records that repeat the references of their id": 1}


def test_one_file_with_both_sides_and_no_ids(write):
    rows = [{"question": "describe", "predicted": text, "answer": text, "seconds": 0.5} for text in TEXTS]
    both = write("generated.jsonl", rows)
    assert bleu1(both, both) == pytest.approx(1)
    with pytest.raises(InputError, match="id=None matches records"):
        bleu1(both, write("r.jsonl", rows))
    assert bleu1(both, write("r.jsonl", rows), id=None) == pytest.approx(1)


# --------------------------------------------------------------------------- what is left out
ANNOTATIONS = [
    {"image_id": 1, "caption": "a can of beans on a table"},
    {"image_id": 1, "caption": "the photo is too blurred", "MARK": "EXCLUDES"},
    {"image_id": 2, "caption": "a phone with a bright screen"},
    {"image_id": 2, "caption": "the photo is too blurred", "MARK": "EXCLUDES"},
]


@pytest.mark.parametrize(("mark", "excludes"), [("is_rejected", True), ("is_precanned", True), ("valid", False), ("rejected", "true")])
def test_marked_references_are_left_out(write, mark, excludes):
    marked = [
        {mark if name == "MARK" else name: excludes if name == "MARK" else value for name, value in row.items()} for row in ANNOTATIONS
    ]
    clean = [row for row in ANNOTATIONS if "MARK" not in row]
    candidates = write("c.json", {"1": "a can of beans", "2": "the photo is too blurred to say"})
    right = bleu1(candidates, write("clean.json", clean))
    lists = {str(k): [row for row in marked if row["image_id"] == k] for k in (1, 2)}
    contents = [marked, {"images": [{"id": 1}, {"id": 2}], "annotations": marked}, lists]
    for k, content in enumerate(contents):
        references = write(f"r{k}.json", content)
        assert bleu1(candidates, references) == right
        run = score_files(candidates, references, ["bleu1"])
        assert str(run.provenance.readings[0]["left_out"]).endswith(": 2}")


def test_an_image_without_other_references_is_left_out(write):
    rows = [{"image_id": 1, "caption": "a can"}, {"image_id": 2, "caption": "blurred", "is_rejected": True}]
    for content in (rows, {"images": [{"id": 1}, {"id": 2}], "annotations": rows}):
        references = write("r.json", content)
        with pytest.raises(InputError, match=r"predictions for 1 example that the data set does not contain: '2' \(allow_unknown=True"):
            bleu1(write("c.json", {"1": "a can", "2": "a phone"}), references)
        assert bleu1(write("c.json", {"1": "a can"}), references) == pytest.approx(1)


@pytest.mark.parametrize("line", ["", "  ", "\t"])
def test_an_empty_line_of_a_further_file_is_no_reference(write, line):
    candidates = write("hyp.txt", "a bus on the road\na cat\n")
    files = [write("r1.txt", "a red bus drives on the road\na small cat sleeps\n"), write("r2.txt", f"the bus is on a road\n{line}\n")]
    right = bleu1({"0": "a bus on the road", "1": "a cat"}, {
        "0": ["a red bus drives on the road", "the bus is on a road"], "1": ["a small cat sleeps"]})  # fmt: skip
    assert bleu1(candidates, files) == right
    assert bleu1(candidates, files, allow_empty=True) == right
    assert bleu1(candidates, files[::-1]) == right
    with pytest.raises(InputError, match="has no reference in any file"):
        bleu1(candidates, [files[1], write("r3.txt", "a bus\n\n")])


@pytest.mark.parametrize("name", ["sentences", "captions"])
def test_texts_with_times_are_not_alternatives(write, name):
    references = write("r.json", {
        "v_1": {"duration": 9.5, "timestamps": [[0, 4.2], [4, 9.5]], name: ["a skier stands on a hill", "the skier goes down"]},
        "v_2": {"duration": 7, "timestamps": [[0, 7]], name: ["a woman prepares food"]},
    })  # fmt: skip
    candidates = write("p.json", {"v_1": "a man stands on a hill he skis down", "v_2": "a woman cooks"})
    with pytest.raises(InputError, match=r"'v_1': '\w+' holds 2 texts with times.*\(events='paragraph' joins .*events='separate' makes"):
        bleu1(candidates, references)
    joined = {"v_1": ["a skier stands on a hill the skier goes down"], "v_2": ["a woman prepares food"]}
    assert bleu1(candidates, references, events="paragraph") == bleu1(candidates, write("j.json", joined))
    assert bleu1(references, references, events="separate") == pytest.approx(1)


# --------------------------------------------------------------------------- values of a program
def test_rows_have_the_captions_of_their_role():
    rows = [
        {"caption": "a man riding a bike", "references": ["a man on a red bike"]},
        {"caption": "two cats", "references": ["a pair of cats"]},
    ]
    right = bleu1([row["caption"] for row in rows], [row["references"] for row in rows])
    assert bleu1(rows, rows) == bleu1([row["caption"] for row in rows], rows) == right < 0.5
    named = [{"prediction": row["caption"], "Ref 1": row["references"][0], "score": 1.0} for row in rows]
    assert bleu1(named, named) == right
    with pytest.raises(InputError, match="no column of references; found 'score'"):
        bleu1(named, [{"score": 1.0}, {"score": 2.0}])


def test_rows_that_share_ids_are_matched_by_them():
    rows = [{"image_id": k, "caption": text} for k, text in enumerate(TEXTS)]
    assert bleu1(rows, [{**row, "references": [row["caption"]]} for row in rows[::-1]]) == pytest.approx(1)
    with pytest.raises(HarnessError, match="no candidates"):
        bleu1(rows[:2], rows[::-1])


def test_series_are_matched_by_their_labels():
    pd = pytest.importorskip("pandas")
    for labels in ([7, 8, 9, 10], ["d", "c", "b", "a"], [0.5, 1.5, 2.5, 3.5]):
        frame = pd.DataFrame({"caption": TEXTS, "references": [[text] for text in TEXTS]}, index=labels)
        assert bleu1(frame["caption"], frame["references"].sort_index(ascending=False)) == pytest.approx(1)
        assert bleu1(frame, frame) == pytest.approx(1)
    with pytest.raises(InputError, match="the labels of candidates and references differ"):
        bleu1(frame["caption"], frame["references"].reset_index(drop=True))


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_blank_texts_are_refused_as_in_files(blank):
    with pytest.raises(InputError, match=r"candidates: '1': empty caption .* \(allow_empty=True keeps it\)"):
        bleu1(["a dog", blank], ["a dog", "a cat"])
    with pytest.raises(InputError, match=r"references: 'x': empty reference"):
        bleu1({"x": "a dog"}, {"x": ["a dog", blank]})
    assert bleu1(["a dog", blank], ["a dog", "a cat"], allow_empty=True) < 1
