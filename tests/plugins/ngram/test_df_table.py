"""Document-frequency tables on disk."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caption_kernels.scorers.df_table import Table
from harness.errors import InputError
from harness.files.outputs import OUTPUTS
from harness_metrics.ngram import df_table

ENDINGS = ["df.json", "df.json.gz", "df.parquet", "df.npz"]
TABLE = Table(
    ["a", "dog", "a dog", "\u00e9t\u00e9 d\u2019or"], np.array([3, 2, 1, 1]), 4, "none"
)
words = (
    st.text("ab\u00e9\u2019 0", min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda t: 1 <= len(t.split()) <= 4)
)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=15, deadline=None)
@given(content=st.dictionaries(words, st.integers(0, 1 << 40), max_size=5))
def test_a_table_is_read_as_written(tmp_path_factory, ending, content):
    path = tmp_path_factory.mktemp("tables") / ending
    df_table.write(
        path,
        Table(
            list(content),
            np.array(list(content.values()), dtype=np.int64),
            1 << 40,
            "ptb",
        ),
    )
    table = df_table.read(path, "ptb")
    assert dict(zip(table.grams, table.counts.tolist())) == content
    assert (table.counts.dtype, table.documents, table.tokenizer) == (
        np.int64,
        1 << 40,
        "ptb",
    )
    assert [p.name for p in path.parent.iterdir() if p.name != OUTPUTS] == [ending]


@pytest.mark.parametrize("ending", ENDINGS)
def test_equal_tables_have_equal_hashes(tmp_path, ending):
    first = tmp_path / ending
    second = tmp_path / f"2-{ending}"
    for path in (first, second):
        df_table.write(path, TABLE)
    assert df_table.content_hash(first) == df_table.content_hash(second)
    assert len(df_table.content_hash(first)) == 8


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_truncated_table_is_reported(tmp_path, ending):
    path = tmp_path / ending
    df_table.write(path, TABLE)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=f"{ending}: not a document-frequency table"):
        df_table.read(path, "none")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"format": "other"}, "not a harness-df table"),
        ({"version": 2}, "version 1"),
        ({"documents": 0}, "inconsistent table: 0 documents"),
        ({"documents": 2}, "'a' occurs in 3 of 2 documents"),
        ({"df": {"a b c d e": 1}}, "expected one to four words"),
        ({"df": {"a": 1.5}}, "expected whole numbers"),
        ({"df": {"a": -1}}, "'a' occurs in -1 of 4"),
        ({"df": ["a"]}, "not a document-frequency table"),
        (
            {"tokenizer": "ptb"},
            "the table's tokenizer is 'ptb', but the metric's is 'none'",
        ),
    ],
)
@pytest.mark.parametrize("ending", ["df.json", "df.json.gz"])
def test_an_inconsistent_table_is_reported_in_one_line(
    tmp_path, change, message, ending
):
    path = tmp_path / ending
    content = {
        **TABLE.header(),
        "df": dict(zip(TABLE.grams, TABLE.counts.tolist())),
        **change,
    }
    text = json.dumps(content).encode()
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    with pytest.raises(InputError, match=message) as raised:
        df_table.read(path, "none")
    assert "\n" not in str(raised.value)


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(
        InputError,
        match=r"unknown ending .* expected \.json, \.json\.gz, \.npz, \.parquet",
    ):
        df_table.write(tmp_path / "df.pkl", TABLE)


def test_text_that_utf8_cannot_encode_is_refused_and_leaves_no_file(tmp_path):
    with pytest.raises(InputError, match=r"n-gram that UTF-8 cannot encode"):
        df_table.write(tmp_path / "df.npz", Table(["\ud800"], np.array([1]), 1, "none"))
    assert not list(tmp_path.iterdir())


def test_the_hint_follows_the_reason_that_a_file_cannot_be_read(tmp_path):
    with pytest.raises(
        InputError, match=r"table \(No such file or directory\); expected a path$"
    ):
        df_table.content_hash(tmp_path / "none.npz", "expected a path")


def test_pickled_arrays_are_not_read(tmp_path):
    path = tmp_path / "df.npz"
    np.savez(
        path,
        grams=np.array([{"a": 1}], dtype=object),
        header=np.frombuffer(b"{}", np.uint8),
        df=np.array([1]),
    )
    with pytest.raises(InputError, match="allow_pickle=False"):
        df_table.read(path, "none")
