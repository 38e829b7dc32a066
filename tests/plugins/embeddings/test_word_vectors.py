"""Tables of word vectors: text files, arrays, malformed rows, fingerprints."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from harness.errors import InputError
from harness_metrics.embeddings.word_vectors import WordVectors

TEXT = "dog 1 0 2\ncat 0 1 0.5\n. . 9 9 9\nred cat 5 5 5\n"


@pytest.mark.parametrize("header", ["", "4 3\n"])
@pytest.mark.parametrize("zipped", [False, True])
def test_text_files_with_and_without_header(tmp_path, header, zipped):
    file = tmp_path / "v.vec"
    data = (header + TEXT).encode()
    file.write_bytes(gzip.compress(data) if zipped else data)
    vectors = WordVectors(str(file)).lookup(["dog", "cat", "zebra", "red cat"])
    assert sorted(vectors) == ["cat", "dog", "red cat"]
    assert vectors["cat"].tolist() == [0.0, 1.0, 0.5]
    assert vectors["cat"].dtype == np.float32


@pytest.fixture
def array(tmp_path):
    np.save(tmp_path / "v.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    return tmp_path / "v.npy"


def test_an_array_with_a_list_of_words(array):
    (array.parent / "words.txt").write_text("dog\ncat\n")
    assert WordVectors(str(array)).lookup(["cat"])["cat"].tolist() == [3, 4, 5]
    (array.parent / "words.txt").write_text("dog\n")
    with pytest.raises(InputError, match=r"shape \(2, 3\) for 1 words"):
        WordVectors(str(array)).lookup(["cat"])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"word": ["cat", "dog"], "row": [1, 0]}, [3, 4, 5]),
        ({"word": ["cat", "dog"]}, [0, 1, 2]),
        ({"word": ["cat", "dog"], "count": [7, 3]}, [0, 1, 2]),
    ],
)
def test_an_array_with_an_index_in_parquet(array, columns, expected):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), array.parent / "v_index.parquet")
    assert WordVectors(str(array)).lookup(["cat"])["cat"].tolist() == expected


def test_an_array_without_words_is_an_input_error(array):
    with pytest.raises(
        InputError, match=r"has no words\.txt or index\.parquet beside the array"
    ):
        WordVectors(str(array)).lookup(["cat"])
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"row": [0, 1]}), array.parent / "v_index.parquet")
    with pytest.raises(InputError, match="has no column of words"):
        WordVectors(str(array)).lookup(["cat"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("dog 1 2\ncat 1\n", r":2: has 1 numbers; expected 2"),
        ("dog 1 x\n", r":1: the vector of 'dog' contains a value that is not a number"),
        ("dog nan 1\n", r":1: the vector of 'dog' is not finite"),
        ("dog\n", r":1: expected a word and its numbers"),
    ],
)
def test_a_malformed_row_is_an_input_error_with_its_line(tmp_path, content, message):
    (tmp_path / "v.txt").write_text(content)
    with pytest.raises(InputError, match=message):
        WordVectors(str(tmp_path / "v.txt")).lookup(["dog", "cat"])


def test_a_missing_file_is_an_input_error():
    with pytest.raises(InputError, match=r"nowhere\.vec: no such file of word vectors"):
        WordVectors("nowhere.vec")


def test_the_fingerprint_holds_name_size_and_a_hash_of_the_content(tmp_path):
    file = tmp_path / "v.vec"
    file.write_text(TEXT)
    name, size, digest = WordVectors(str(file)).fingerprint().split(":")
    assert (name, size, len(digest)) == ("v.vec", str(len(TEXT)), 12)
    file.write_text(TEXT.replace("9 9 9", "9 9 8"))
    assert WordVectors(str(file)).fingerprint().split(":")[2] != digest
