"""``DataFrame.to_json`` of each orientation, and columns as lists."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.errors import InputError
from harness.files.forms.data_frames import PANDAS
from tests.support.form_content import BOTH, captions, sample_of

FRAME = pd.DataFrame({"image_id": [1, 2], "caption": ["a dog", "a cat"]})


@pytest.mark.parametrize("orientation", ["columns", "index", "split", "table"])
def test_orientations_that_pandas_writes(tmp_path, orientation):
    sample = sample_of(tmp_path, FRAME.to_json(orient=orientation))
    assert PANDAS.recognise(sample)
    assert captions(PANDAS.read(sample)) == BOTH


def test_labels_are_ids_where_no_column_has_some(tmp_path):
    frame = FRAME[["caption"]].assign(length=[2, 2])
    form = PANDAS.read(sample_of(tmp_path, frame.to_json()))
    assert captions(form) == {"0": "a dog", "1": "a cat"}


def test_columns_are_joined_by_label_not_by_place(tmp_path):
    document = {
        "image_id": {"a": 1, "b": 2},
        "caption": {"b": "a cat", "a": "a dog"},
    }
    assert captions(PANDAS.read(sample_of(tmp_path, document))) == BOTH


def test_lists_of_columns(tmp_path):
    document = {"image_ids": [1, 2], "captions": ["a dog", "a cat"]}
    sample = sample_of(tmp_path, document)
    assert PANDAS.recognise(sample)
    assert captions(PANDAS.read(sample)) == BOTH


def test_rows_without_names_are_refused_with_the_way_out(tmp_path):
    sample = sample_of(tmp_path, FRAME.to_json(orient="values"))
    assert PANDAS.recognise(sample)
    with pytest.raises(InputError, match="orient='values'.*write it with orient='rec"):
        PANDAS.read(sample)


def test_a_row_of_another_length_is_named(tmp_path):
    document = {"columns": ["image_id", "caption"], "data": [[1, "a dog"], [2]]}
    with pytest.raises(InputError, match="row 2: the row has 1 values; expected 2"):
        list(PANDAS.read(sample_of(tmp_path, document)).rows)


def test_an_object_of_ids_is_no_frame(tmp_path):
    assert not PANDAS.recognise(sample_of(tmp_path, {"1": "a dog", "2": "a cat"}))
    with pytest.raises(InputError, match="is no table of DataFrame.to_json"):
        PANDAS.read(sample_of(tmp_path, {"1": "a dog"}))
