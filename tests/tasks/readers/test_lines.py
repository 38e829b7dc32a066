"""The reader of plain text corpora."""

import gzip

import pytest

from harness.errors import InputError
from harness.tasks.readers.lines import Lines


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("A dog runs.\n\na cat sits\nA dog runs.\na bird\n", encoding="utf-8")
    return str(path)


def texts(reader):
    return [example.references for example in reader]


def test_one_example_a_line_blank_lines_skipped(corpus):
    assert texts(Lines(path=corpus)) == [("A dog runs.",), ("a cat sits",), ("A dog runs.",), ("a bird",)]
    assert [example.id for example in Lines(path=corpus)] == ["1", "2", "3", "4"]


def test_blank_lines_can_be_errors(corpus):
    with pytest.raises(InputError, match=r"corpus.txt:2: blank line"):
        list(Lines(path=corpus, blank="error"))


def test_blocks(corpus):
    assert texts(Lines(path=corpus, block=2)) == [("A dog runs.", "a cat sits"), ("A dog runs.", "a bird")]
    with pytest.raises(InputError, match="4 lines do not fill blocks of 3"):
        list(Lines(path=corpus, block=3))


def test_gzip_and_several_files(corpus, tmp_path):
    zipped = tmp_path / "more.gz"
    zipped.write_bytes(gzip.compress(b"one more\n"))
    assert texts(Lines(path=[corpus, str(zipped)]))[-1] == ("one more",)


def test_parts_of_a_shuffled_corpus_cover_it_once(corpus):
    parts = [Lines(path=corpus, shuffle=3, offset=start, limit=2).lines() for start in (0, 2)]
    assert sorted(parts[0] + parts[1]) == sorted(Lines(path=corpus).lines())
    assert Lines(path=corpus, shuffle=3).lines() == parts[0] + parts[1]


def test_filters_count_over_the_whole_corpus(corpus):
    assert Lines(path=corpus, distinct=True).lines() == ["A dog runs.", "a cat sits", "a bird"]
    assert Lines(path=corpus, max_words=2).lines() == ["a bird"]
    assert Lines(path=corpus, min_count=2, offset=1).lines() == ["A dog runs."]


def test_references_of_another_reader_as_lines(tmp_path):
    path = tmp_path / "captions.jsonl"
    path.write_text('{"id": 1, "references": ["a", "b"]}\n{"id": 2, "references": ["c"]}\n')
    reader = Lines(of={"reader": "jsonl", "path": str(path)})
    assert texts(reader) == [("a",), ("b",), ("c",)]
    assert reader.fingerprint() != Lines(of={"reader": "jsonl", "path": str(path)}, offset=1).fingerprint()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "give the corpus as path"),
        ({"of": {"path": "x"}}, "expected a reader with its parameters"),
        ({"blank": "keep"}, "blank is 'keep'"),
        ({"offset": -1}, "offset is -1"),
        ({"limit": 0}, "limit is 0"),
    ],
)
def test_mistakes(corpus, params, message):
    with pytest.raises(InputError, match=message):
        Lines(**({"path": corpus, **params} if params and "of" not in params else params))


def test_parts_beyond_the_end(corpus):
    with pytest.raises(InputError, match="offset 9 is beyond the 4 lines"):
        list(Lines(path=corpus, offset=9))
    with pytest.raises(InputError, match="3 lines from 2 on are asked for; 4 are there"):
        list(Lines(path=corpus, offset=2, limit=3))


def test_not_utf8(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"latin.txt:2: not UTF-8 at byte 3"):
        list(Lines(path=str(path)))
