"""Predictions from files: selection of captions,
ids that are missing or unknown, invalid files.
"""

from __future__ import annotations

import json

import pytest

from harness.contracts import (
    Adapter,
    Decoding,
    Event,
    EventSet,
    Example,
    Failure,
    ForgetsTexts,
    Prepares,
    TaskView,
)
from harness.errors import InputError
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS
from harness_models.predictions.adapter import Predictions

COCO = [
    {"image_id": 2, "caption": "two"},
    {"image_id": 1, "caption": "one"},
    {"image_id": 1, "caption": "one again"},
]
LISTS = [
    {"image_id": 1, "candidates": ["one", "one again"]},
    {"image_id": 2, "candidates": ["two"]},
]
EXPECTED = [("one", "one again"), ("two",)]
SYSTEMS = [
    {"id": 1, "candidates": {"a": "a1", "b": ["b1", "b2"], "c": None}},
    {"id": 2, "candidates": {"a": {"caption": "a2"}, "b": "b3", "c": "c2"}},
]
WHERE_IMAGE = [
    f"{kind}_{run}" for kind in ("init", "pre", "par", "merge") for run in (1, 2, 3)
]


def example(key: str) -> Example:
    return Example(key, ("a reference",))


EXAMPLES = [example("1"), example("2")]


def captions(examples=EXAMPLES, decoding=None, **params):
    adapter = Predictions(**params)
    decoding = decoding or Decoding()
    adapter.prepare(TaskView(examples, decoding))
    return list(adapter.generate(examples, decoding, [0] * len(examples)))


def error_of(examples=EXAMPLES, **params) -> str:
    with pytest.raises(InputError) as caught:
        captions(examples, **params)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_contracts(save):
    adapter = Predictions(path=save(COCO))
    assert isinstance(adapter, Adapter)
    assert isinstance(adapter, Prepares)


def test_an_object_over_several_lines(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"annotations": COCO}, indent=2))
    assert captions(path=str(path)) == EXPECTED


def test_columns_by_name(save):
    path = save([{"key": 1, "said": "one"}, {"key": 2, "said": "two"}])
    assert captions(path=path, id="key", candidates="said") == [("one",), ("two",)]


def test_captions_of_selected_systems(save):
    path = save(SYSTEMS, "s.jsonl")
    assert captions(path=path, system="a") == [("a1",), ("a2",)]
    assert captions(path=path, system=["b", "a"]) == [("b1", "b2", "a1"), ("b3", "a2")]
    assert captions(path=path, system=["a", "c"]) == [("a1",), ("a2", "c2")]
    assert captions(path=path, system="c", allow_missing=True) == [(), ("c2",)]


def test_several_files_are_one_set_in_order(save):
    one = save(COCO, "one.json")
    two = save([{"image_id": i, "caption": f"more {i}"} for i in (1, 2)], "two.json")
    assert captions(path=[one, two]) == [
        ("one", "one again", "more 1"),
        ("two", "more 2"),
    ]
    assert captions(path=[two, one], n=1) == [("more 1",), ("more 2",)]


def test_the_number_of_candidates_is_limited(save):
    path = save([{"id": i, "candidates": ["x", "y", "z"]} for i in (1, 2)])
    assert captions(path=path, n=2) == [("x", "y")] * 2
    assert captions(path=path, decoding=Decoding(candidates=1)) == [("x",)] * 2
    assert captions(path=path, n=1, decoding=Decoding(candidates=2)) == [("x",)] * 2


def test_unicode_is_unchanged(save):
    text = "🐕‍🦺 cafe\u0301 שלום"
    assert captions([example("1")], path=save([{"image_id": 1, "caption": text}])) == [
        (text,)
    ]


def test_examples_without_predictions_are_refused(save):
    examples = [example(str(i)) for i in range(1, 8)]
    path = save(COCO)
    assert error_of(examples, path=path) == (
        f"{path}: 5 of 7 examples have no predictions: '3', '4', '5', ... "
        "(allow_missing: true scores the others)"
    )
    assert captions(examples, path=path, allow_missing=True)[2:] == [()] * 5


def test_null_counts_as_missing(save):
    path = save(
        [{"image_id": 1, "candidates": ["x"]}, {"image_id": 2, "candidates": None}]
    )
    assert error_of(path=path) == (
        f"{path}: 1 of 2 examples have no predictions, 1 of them null: "
        "'2' (allow_missing: true scores the others)"
    )


def test_unknown_ids_are_refused(save):
    path = save([*COCO, {"image_id": 9, "caption": "nine"}])
    assert error_of(path=path) == (
        f"{path}: predictions for 1 example that the data set does not contain: "
        "'9' (allow_unknown: true ignores them)"
    )
    assert captions(path=path, allow_unknown=True) == EXPECTED


def test_unknown_ids_are_accepted_for_a_partial_task(save):
    adapter = Predictions(path=save(COCO))
    adapter.prepare(TaskView(EXAMPLES[:1], Decoding(), partial=True))
    assert list(adapter.generate(EXAMPLES[:1], Decoding(), [0])) == EXPECTED[:1]


def test_a_file_without_an_id_of_the_task_is_refused(save):
    path = save([{"image_id": "a.jpg", "caption": "x"}])
    assert error_of(path=path, allow_unknown=True, allow_missing=True) == (
        f"{path}: its 1 id is not in the data set: it has 'a.jpg', the data set '1', "
        "'2' (choose the column with id: ...)"
    )


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (
            ["COCO_val2014_000000000002.jpg", "COCO_val2014_000000000001.jpg"],
            ["1", "2"],
        ),
        (["val/000000000002.jpg", "val/000000000001.jpg"], ["1", "2"]),
        (
            ["2", "1"],
            ["COCO_val2014_000000000001.jpg", "COCO_val2014_000000000002.jpg"],
        ),
        (["dog-b.png", "dog-a.png"], ["dog-a", "dog-b"]),
    ],
)
def test_ids_are_matched_by_file_names(save, ids, names):
    path = save(
        [{"image_id": name, "caption": f"a dog {k}"} for k, name in enumerate(ids)]
    )
    examples = [example(name) for name in names]
    adapter = Predictions(path=str(path))
    adapter.prepare(TaskView(examples, Decoding()))
    assert list(adapter.generate(examples, Decoding(), [0, 0])) == [
        ("a dog 1",),
        ("a dog 0",),
    ]
    assert (
        f"its ids are matched by file name: '{ids[0]}' is '{names[1]}'"
        in adapter.readings()[0].line()
    )


@pytest.mark.parametrize(
    "ids", [["a1.jpg", "b1.jpg"], ["x-7.jpg", "x-8.jpg"], ["1.jpg", "7.jpg"]]
)
def test_file_names_that_fit_twice_or_not_all_are_refused(save, ids):
    path = save([{"image_id": name, "caption": "x"} for name in ids])
    assert "2 ids are not in the data set" in error_of(path=path)


def test_missing_in_one_of_several_files_names_the_file(save):
    one = save(COCO, "one.json")
    two = save(COCO[:1], "two.json")
    assert error_of(path=[one, two]).startswith(
        f"{two}: 1 of 2 examples have no predictions: '1'"
    )
    assert captions(path=[one, two], allow_missing=True) == [
        ("one", "one again"),
        ("two", "two"),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            [{"image_id": 1, "caption": ""}],
            "record 1: empty caption '' (allow_empty: true keeps it)",
        ),
        (
            [{"image_id": 1, "caption": 7}],
            "record 1: the caption is the number 7; expected text",
        ),
        (
            [{"image_id": 1, "caption": "a\0b"}],
            "record 1: the caption holds the character NUL: 'a\\x00b'",
        ),
        (
            [{"image_id": 1, "caption": "a"}, {"caption": "b"}],
            "record 2: 'image_id' is null; expected an id",
        ),
        (
            [{"image_id": 1, "caption": "a"}, {"image_id": 1}],
            "record 2: the record has no 'caption'",
        ),
        (
            [{"image_id": 1, "candidates": ["a", None]}],
            "record 1: the caption is null; expected text",
        ),
        (
            [
                {"image_id": 1, "candidates": ["a"]},
                {"image_id": 1, "candidates": ["b"]},
            ],
            "record 2: the id '1' occurs twice",
        ),
        (
            [{"image_id": 1, "said": "a"}],
            "record 1: no column for candidates (name it with candidates: ...)",
        ),
        (
            [{"said": "a"}],
            "record 1: no column for candidates (name it with candidates: ...); "
            "found 'said'",
        ),
        (
            [{"caption": "a"}],
            "record 1: no column for id (name it with id: ...; id: "
            "null matches records and examples by position)",
        ),
        (
            [{"image_id": 1, "candidates": {"x": "a", "y": "b"}}],
            "record 1: 'candidates' holds 2 systems; choose with system: NAME; "
            "found 'x', 'y'",
        ),
        (["a", {}], "record 1: found text; expected an object"),
        (
            ["a"],
            "holds 1 record without ids for 2 examples; "
            "records are matched by position, so expected one per example",
        ),
    ],
)
def test_invalid_records_are_refused(save, value, expected):
    path = save(value)
    assert error_of(path=path).startswith(f"{path}: {expected}")


def test_invalid_files_are_refused(save, tmp_path):
    path = tmp_path / "x.json"
    assert error_of(path=str(path)) == f"{path}: no such file of predictions"
    assert (
        error_of(path=[])
        == "path is an empty list; expected one or several files of predictions"
    )

    path.write_text("")
    assert error_of(path=str(path)) == f"{path}: the file is empty"
    path.write_text("[]")
    assert error_of(path=str(path)) == f"{path}: the file holds no predictions"
    path.write_text('[{"image_id": 1, "caption": "a d')
    assert error_of(path=str(path)) == (
        f"{path}: not JSON at byte 28: Unterminated string starting at (the file "
        "breaks off after 32 bytes)"
    )

    path.write_text('[{"image_id": 1, "caption": "a", "score": NaN}]')
    assert (
        error_of(path=str(path))
        == f"{path}: record 1: 'score': found NaN; JSON numbers are finite"
    )
    path.write_text('{"image_id": 1, "caption": "a"}\n{"image_id": 2, "capt')
    assert error_of(path=str(path)).startswith(
        f"{path}:2: not JSON at byte 48: Unterminated string"
    )

    path.write_text("[1]")
    assert error_of(path=str(path), format="parquet") == f"{path}: not a Parquet file"
    message = error_of(path=str(path), format="cocoo")
    assert message.startswith(
        "unknown format 'cocoo'; did you mean 'coco'?; formats are auto, coco, "
        "jsonl, parquet, vdtk, lm-eval, "
    )


def test_unknown_systems_and_columns_are_refused(save):
    path = save(SYSTEMS, "s.jsonl")
    assert (
        error_of(path=path, system="aa")
        == f"{path}:1: no system 'aa'; did you mean 'a'?; found 'a', 'b', 'c'"
    )
    assert error_of(path=path, candidates="candidate") == (
        f"{path}:1: no column 'candidate'; did you mean 'candidates'?; found 'id', "
        "'candidates'"
    )
    path = save(LISTS)
    assert error_of(path=path, system="a") == (
        f"{path}: record 1: 'candidates' is a list; "
        "expected an object of systems (because of system: ...)"
    )


def test_empty_candidates_can_be_allowed(save):
    path = save([{"image_id": 1, "caption": ""}])
    assert captions([example("1")], path=path, allow_empty=True) == [("",)]


def test_unknown_parameters_are_type_errors(save):
    with pytest.raises(TypeError):
        Predictions(path=save(COCO), colour="red")  # type: ignore[call-arg]


def test_fingerprint_follows_content_and_parameters(save):
    path = save(COCO)
    first = Predictions(path=path).fingerprint()
    assert first == Predictions(path=path).fingerprint()
    assert first != Predictions(path=path, n=1).fingerprint()
    save(COCO[:2])
    assert first != Predictions(path=path).fingerprint()


def test_files_of_real_captioners(golden):
    from harness_tasks.readers.tables import TableReader

    folder = golden / "data/coco_karpathy_test"
    examples = list(TableReader(path=str(folder / "references.jsonl.gz")))

    twelve = captions(
        examples,
        path=str(folder / "candidates_where_image.jsonl.gz"),
        system=WHERE_IMAGE,
    )
    assert {len(item) for item in twelve} == {12}

    first = examples[:100]
    baseline = [f"nucleus_{i}" for i in (1, 2, 3)]
    assert {
        len(x)
        for x in captions(
            first, path=str(folder / "candidates_magic.jsonl.gz"), system=baseline
        )
    } == {3}
    magic = {"path": str(folder / "candidates_magic.jsonl.gz"), "system": "magic"}
    assert "2 of 100 examples have no predictions, 2 of them null" in error_of(
        first, **magic
    )
    assert sum(not item for item in captions(first, allow_missing=True, **magic)) == 2


def test_a_null_id_means_the_same_for_data_sets_and_predictions(save):
    from harness_tasks.readers.tables import TableReader

    path = save(
        [
            {"id": "x", "references": ["a", "b"], "said": "one"},
            {"id": "y", "references": ["c"], "said": "two"},
        ]
    )

    examples = list(TableReader(path=path, columns={"id": None}))
    assert [item.id for item in examples] == ["0", "1"]
    both = {"candidates": "said"}
    for params in ({"id": None, **both}, {"columns": {"id": None, **both}}):
        assert captions(examples, path=path, **params) == [("one",), ("two",)]
    assert captions(path=path, columns={"id": None, **both}) == [("one",), ("two",)]

    assert (
        Predictions(path=path, id=None).fingerprint()
        != Predictions(path=path).fingerprint()
    )
    assert (
        Predictions(path=path, columns={"id": "id"}).fingerprint()
        == Predictions(path=path, id="id").fingerprint()
    )

    with pytest.raises(
        InputError, match="columns has no 'caption'; expected some of id, candidates"
    ):
        Predictions(path=path, columns={"caption": "said"})


def test_records_without_ids_follow_the_order_of_a_part_of_the_data_set(tmp_path):
    path = tmp_path / "p.txt"
    path.write_text("one\ntwo\nthree\n")
    adapter = Predictions(path=str(path))
    examples = [example("7"), example("0")]
    adapter.prepare(TaskView(examples, Decoding(), partial=True))
    assert list(adapter.generate(examples, Decoding(), [0, 0])) == [("one",), ("two",)]
    assert error_of(path=str(path), allow_unknown=True).startswith(
        f"{path}: holds 3 records without ids for 2 examples"
    )


@pytest.mark.parametrize(
    "name", [name for name in CANDIDATE_COLUMNS if name != "systems"]
)
def test_every_usual_column_of_captions_is_read(save, name):
    assert captions(
        path=save([{"id": "1", name: "one"}, {"id": "2", name: ["two"]}])
    ) == [("one",), ("two",)]


@pytest.mark.parametrize("name", FILE_ID_COLUMNS)
def test_every_usual_column_of_ids_is_read(save, name):
    assert captions(
        path=save([{name: "1", "prediction": "one"}, {name: 2, "prediction": "two"}])
    ) == [("one",), ("two",)]


def test_a_column_of_candidates_comes_before_one_of_captions(save):
    row = {"id": "1", "caption": "a reference", "prediction": "one"}
    assert captions([example("1")], path=save([row])) == [("one",)]


def test_captions_that_the_run_has_stored_are_dropped_and_read_again(save):
    adapter = Predictions(path=save([{"caption": "one"}, {"caption": "two"}]), id=None)
    decoding = Decoding()
    assert isinstance(adapter, ForgetsTexts)
    # the ids of the examples are those of the task, also the second time
    for _ in range(2):
        adapter.prepare(TaskView(EXAMPLES, decoding))
        assert list(adapter.generate(EXAMPLES, decoding, [0, 0])) == [
            ("one",),
            ("two",),
        ]
        adapter.forget_texts()
        assert adapter._tables is None


@pytest.mark.parametrize(
    ("responses", "filtered", "note"),
    [
        (
            [["a dog", "the dog", "a dog now"]] * 2,
            1,
            "3 responses per document in resps; filtered_resps has 1, "
            "and these are scored",
        ),
        (
            [["a", "b"], ["c", "d", "e", "f"]],
            1,
            "2 to 4 responses per document in resps; filtered_resps has 1, "
            "and these are scored",
        ),
        (
            [["a", "b", "c"], ["d", "e", "f"]],
            2,
            "3 responses per document in resps; filtered_resps has 2, "
            "and these are scored",
        ),
    ],
)
def test_responses_of_lm_eval_that_are_not_scored_are_noted(
    save, caplog, responses, filtered, note
):
    rows = [
        {
            "doc_id": k,
            "target": "a dog",
            "resps": [texts],
            "filtered_resps": texts[:filtered],
        }
        for k, texts in enumerate(responses, 1)
    ]
    path = save(rows, "samples.jsonl")
    assert captions(path=path) == [tuple(texts[:filtered]) for texts in responses]
    assert (
        f"{path}: {note} (all of them: --column resps, or candidates: resps in a spec)"
        in caplog.text
    )
    caplog.clear()
    assert captions(path=path, candidates="resps") == [
        tuple(texts) for texts in responses
    ]
    assert not caplog.text


def test_responses_of_lm_eval_that_are_all_scored_need_no_note(save, caplog):
    rows = [
        {
            "doc_id": k,
            "target": "a dog",
            "resps": [["a", "b"]],
            "filtered_resps": ["x", "y"],
        }
        for k in (1, 2)
    ]
    assert captions(path=save(rows, "samples.jsonl")) == [("x", "y")] * 2
    assert not caplog.text


def timed_examples():
    """Two videos of 200 seconds with a reference set each."""
    reference = EventSet((Event("a", (0.0, 9.0)),), 200.0).to_text()
    return [Example(key, (reference,)) for key in ("v1", "v2")]


def test_answers_of_models_are_sets_and_what_is_none_is_a_failure(save):
    path = save(
        {"v1": "From 10 to 20, a dog runs. From 20 to 30, it sits.", "v2": "Sorry, no."}
    )
    adapter = Predictions(path=path, events="sets", time_unit="hundredths")
    examples = timed_examples()
    adapter.prepare(TaskView(examples, Decoding()))
    first, second = adapter.generate(examples, Decoding(), [0, 0])
    assert isinstance(first, tuple)
    assert [event.place for event in EventSet.from_text(first[0]).events] == [
        (20.0, 40.0),
        (40.0, 60.0),
    ]
    assert isinstance(second, Failure) and "found 'Sorry, no.'" in second.reason
    (reading,) = adapter.readings()
    assert "1 answer is no events and failed: 'v2'" in reading.line()


def test_a_file_without_any_events_is_refused(save):
    path = save({"v1": "a dog", "v2": "a cat"})
    message = error_of(timed_examples(), path=path, events="sets")
    assert "'v1': no events can be read from the answer: it holds no times" in message


def test_times_with_two_units_are_failures_with_both_written_out(save):
    path = save({"v1": "From 10 to 20, a dog runs.", "v2": "1 - 2 s: a cat."})
    first, second = captions(timed_examples(), path=path, events="sets")
    assert isinstance(first, Failure) and isinstance(second, tuple)
    assert "10 s to 20 s, or 20 s to 40 s of 200 s" in first.reason
    assert "time_unit: seconds, hundredths or frames" in first.reason


def test_the_unit_of_times_needs_events(save):
    message = error_of(path=save(COCO), time_unit="seconds")
    assert "expected events: sets beside it" in message


def test_images_of_a_parquet_file_are_ids_by_their_paths(save):
    rows = [
        {"image": {"bytes": b"\xff\xd8", "path": f"{key}.jpg"}, "caption": f"a {key}"}
        for key in (2, 1)
    ]
    assert captions(path=save(rows, "p.parquet")) == [("a 1",), ("a 2",)]


@pytest.mark.parametrize("name", ["photo", "uid", "file_name", "media_path"])
def test_running_numbers_that_another_column_contradicts_are_refused(save, name):
    rows = [
        {"id": k, name: f"p{place}x.jpg", "caption": f"a {place}"}
        for k, place in enumerate((2, 0, 1))
    ]
    path = save(rows)
    is_media = name == "media_path"
    examples = [
        Example(
            str(k),
            ("a reference",),
            f"images/p{k}x.jpg" if is_media else None,
            meta={} if is_media else {name: f"p{k}x.jpg"},
        )
        for k in range(3)
    ]
    assert (
        f"record 1 is example '0' by 'id', a running number of both sides, and '2' by "
        f"'{name}' ('{'images/' if is_media else ''}p2x.jpg'); choose id: 'id', or id: "
        f"'{name}' with columns: {{id: '{name}'}} of the references"
        f"{', or their name of that column' * is_media}"
    ) in error_of(examples, path=path)
    assert captions(examples, path=path, id="id") == [("a 2",), ("a 0",), ("a 1",)]


def test_ids_that_may_count_the_records_have_both_readings(save):
    """Three candidates of each of two photos, numbered in their order: the numbers pair
    the first two records, and ignoring the others gives another score.
    """
    rows = [{"id": k, "photo": "ab"[k // 3], "caption": f"c {k}"} for k in range(6)]
    path = save(rows)
    message = error_of([example(str(k)) for k in range(2)], path=path)
    assert "if 'id' numbers the examples; if it counts the records" in message
    assert "id: 'COLUMN' with columns: {id: 'COLUMN'}" in message
