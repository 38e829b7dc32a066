"""The reader of plain text corpora."""

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_tasks.readers.lines import Lines


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(
        "A dog runs.\n\na cat sits\nA dog runs.\na bird\n", encoding="utf-8"
    )
    return str(path)


def texts(reader):
    return [example.references for example in reader]


def test_one_example_per_line_without_blank_lines(corpus):
    assert texts(Lines(path=corpus)) == [
        ("A dog runs.",),
        ("a cat sits",),
        ("A dog runs.",),
        ("a bird",),
    ]
    assert [example.id for example in Lines(path=corpus)] == ["1", "2", "3", "4"]


def test_blank_lines_can_be_errors(corpus):
    with pytest.raises(InputError, match=r"corpus.txt:2: blank line"):
        list(Lines(path=corpus, blank="error"))


def test_blocks(corpus):
    assert texts(Lines(path=corpus, block=2)) == [
        ("A dog runs.", "a cat sits"),
        ("A dog runs.", "a bird"),
    ]
    with pytest.raises(InputError, match="4 lines do not fill blocks of 3"):
        list(Lines(path=corpus, block=3))


def test_gzip_and_several_files(corpus, tmp_path):
    zipped = tmp_path / "more.gz"
    zipped.write_bytes(gzip.compress(b"one more\n"))
    assert texts(Lines(path=[corpus, str(zipped)]))[-1] == ("one more",)


def test_parts_of_a_shuffled_corpus_cover_it_once(corpus):
    parts = [
        Lines(path=corpus, shuffle=3, offset=start, limit=2).lines() for start in (0, 2)
    ]
    assert sorted(parts[0] + parts[1]) == sorted(Lines(path=corpus).lines())
    assert Lines(path=corpus, shuffle=3).lines() == parts[0] + parts[1]


def test_filters_count_over_the_whole_corpus(corpus):
    assert Lines(path=corpus, distinct=True).lines() == [
        "A dog runs.",
        "a cat sits",
        "a bird",
    ]
    assert Lines(path=corpus, max_words=2).lines() == ["a bird"]
    assert Lines(path=corpus, min_count=2, offset=1).lines() == ["A dog runs."]


def test_references_of_another_reader_are_lines(tmp_path):
    path = tmp_path / "captions.jsonl"
    path.write_text(
        '{"id": 1, "references": ["a", "b"]}\n{"id": 2, "references": ["c"]}\n'
    )
    reader = Lines(of={"reader": "jsonl", "path": str(path)})
    assert texts(reader) == [("a",), ("b",), ("c",)]
    assert (
        reader.fingerprint()
        != Lines(of={"reader": "jsonl", "path": str(path)}, offset=1).fingerprint()
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "lines: the corpus is missing"),
        ({"of": {"path": "x"}}, "expected a reader with its parameters"),
        ({"blank": "keep"}, "blank is 'keep'"),
        ({"offset": -1}, "offset is -1"),
        ({"limit": 0}, "limit is 0"),
    ],
)
def test_invalid_parameters(corpus, params, message):
    with pytest.raises(InputError, match=message):
        Lines(
            **({"path": corpus, **params} if params and "of" not in params else params)
        )


def test_parts_beyond_the_end(corpus):
    with pytest.raises(
        InputError, match="offset is 9, but 4 of 4 lines are left after filtering"
    ):
        list(Lines(path=corpus, offset=9))
    with pytest.raises(
        InputError, match="limit is 3 and offset 2, but 4 of 4 lines are left"
    ):
        list(Lines(path=corpus, offset=2, limit=3))


def test_not_utf8(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"latin.txt:2: not UTF-8 at byte 3"):
        list(Lines(path=str(path)))


def test_errors_of_the_other_reader_are_errors_of_the_parameter_of(tmp_path, corpus):
    missing = str(tmp_path / "captions.json")
    with pytest.raises(InputError, match="no such file of COCO annotations") as caught:
        Lines(path=corpus, of={"reader": "coco", "path": missing})
    assert (caught.value.parameter, caught.value.value, caught.value.where) == (
        "of",
        missing,
        missing,
    )


def test_errors_of_the_part_name_the_parameter(corpus):
    for parameter, reader in (
        ("offset", Lines(path=corpus, offset=9)),
        ("limit", Lines(path=corpus, limit=9)),
    ):
        with pytest.raises(InputError) as caught:
            reader.lines()
        assert (caught.value.parameter, caught.value.value) == (parameter, 9)


@given(st.integers(0, 99), st.integers(1, 4))
def test_parts_of_one_pool_are_disjoint(seed, size):
    lines = [f"line {number}" for number in range(12)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.txt"
        path.write_text("\n".join(lines))
        parts = [
            Lines(path=str(path), shuffle=seed, offset=k * size, limit=size).lines()
            for k in range(3)
        ]
    union = [line for part in parts for line in part]
    assert len(set(union)) == 3 * size and set(union) <= set(lines)
