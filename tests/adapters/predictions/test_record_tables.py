"""Tables of captions: detection of formats, several records of one id,
order of captions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_models.predictions.formats import detect
from harness_models.predictions.record_tables import read_table
from harness_models.predictions.table import Choice, Table


def write(folder: Path, content: Any) -> Path:
    path = folder / "a.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.text("ab ", min_size=1).filter(str.strip)),
        min_size=1,
    )
)
def test_coco_results_keep_the_order_of_the_file(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("coco") / "a.json"
    path.write_text(
        json.dumps([{"image_id": key, "caption": text} for key, text in pairs])
    )
    table = read_table(path, "auto", Choice())
    assert table.captions == {
        str(key): tuple(text for other, text in pairs if other == key)
        for key in {key for key, _ in pairs}
    }


@pytest.mark.parametrize(
    ("content", "form"),
    [
        ([], "jsonl"),
        (["a", "b"], "list"),
        ({"1": "a", "2": "b"}, "mapping"),
        ({"predictions": [{"image_id": 1, "caption": "a"}]}, "coco"),
        ([{"image_id": 1, "caption": "a"}], "coco"),
        ([{"image_id": 1, "candidates": ["a"]}], "jsonl"),
        ([{"candidates": ["a"]}], "vdtk"),
        ({"annotations": []}, "coco"),
        ({"1": ["a"], "2": []}, "mapping"),
        ({"id": 1, "caption": "a"}, "jsonl"),
        ({}, "jsonl"),
        ('{"1": ["a"],\n "2": ["b"]}', "mapping"),
        ('{"id": 1, "caption": "a"}\n{"id": 2, "caption": "b"}', "jsonl"),
    ],
)
def test_the_format_is_detected_from_the_content(
    tmp_path: Path, content: Any, form: str
):
    assert detect(write(tmp_path, content)) == form


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a.json: the file is empty"),
        ("[]", "a.json: the file holds no predictions"),
        (
            '{"annotations": 3}',
            "a.json: annotations: found the number 3; expected a list of objects",
        ),
        (
            '[{"image_id": 1, "caption": "a"}, 3]',
            "a.json: record 2: found the number 3; expected an object",
        ),
        ('{"1": ["a", 2]}', "a.json: '1': the caption is the number 2; expected text"),
    ],
)
def test_the_message_gives_the_location(tmp_path: Path, content: str, message: str):
    with pytest.raises(InputError) as caught:
        read_table(write(tmp_path, content), "auto", Choice())
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_a_mapping_must_be_an_object(tmp_path: Path):
    with pytest.raises(
        InputError,
        match="found a list; expected an object of ids with lists of captions",
    ):
        read_table(write(tmp_path, [1]), "mapping", Choice())


def test_records_with_one_caption_form_a_set():
    table = Table(Path("f"))
    table.add("1", ("a",), single=True, location="f:1")
    table.add("1", ("b",), single=True, location="f:2")
    assert table.captions == {"1": ("a", "b")}
    with pytest.raises(InputError, match="f:3: the id '1' occurs twice"):
        table.add("1", ("c", "d"), single=False, location="f:3")


def test_a_list_of_captions_is_complete():
    table = Table(Path("f"))
    table.add("1", ("a", "b"), single=False, location="f:1")
    with pytest.raises(InputError, match="f:2: the id '1' occurs twice"):
        table.add("1", ("c",), single=True, location="f:2")


def test_null_is_replaced_by_a_later_caption():
    table = Table(Path("f"))
    table.add("1", None, single=True, location="f:1")
    assert list(table.null) == ["1"] and not table.captions
    table.add("1", ("a",), single=True, location="f:2")
    assert not table.null and table.captions == {"1": ("a",)}
