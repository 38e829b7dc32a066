"""METEOR's lexicon: look-ups of both engines, damaged buffers, the file and its sources."""

from __future__ import annotations

import gzip
import json
import logging
import mmap
import os
import random
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import caption_kernels
from caption_kernels import lexicon as files
from caption_kernels import meteor, reference
from caption_kernels.lexicon_format import finished, verify
from caption_kernels.lexicon_lists import read_lists

compiled = pytest.importorskip("caption_kernels._compiled")
ENGINES = [compiled, reference]
LISTS = {
    "function_words": "a\nthe\n.\n",
    "prefixes": "# titles\n\nMr\nNo #NUMERIC_ONLY#\nvs\nvs #NUMERIC_ONLY#\nca #NUMERIC_ONLY#\nca\n",
    "exceptions": "go\nwent gone\nbe\nwent\n",
    "synsets": "go\n7 100\ndog\n30\nhound\n31 30 31\nbe\n8\nlady\n9\nlove\n5\nlove\n6\n日本\n4\nnone\n\n",
}
PARAPHRASES = [
    ("a dog", "the dog"),
    ("a dog", "dog"),
    ("dog", "hound"),
    ("a dog", "an animal that barks"),
    ("the  dog", "a\tdog"),
    ("a dog", ""),
    ("unquestionably", "beyond doubt and reservation"),
]
WORDS = ["a", "the", "dog", "dogs", "went", "go", "be", "lady", "ladies", "love", "loved", "hound", "is", "日本", "日本s", "🐶s", "glass",
         "handfuls", "nones", "none", "Mr", "No", "x" * 99, ""]  # fmt: skip
word = st.sampled_from(
    ["a", "b", "c", "über", "d'", "…", "sevenly", "eightlet", "ninelette", "sixteen-letters-", "seventeen-letters"]
)
entries = st.lists(
    st.tuples(*[st.lists(word, min_size=1, max_size=4).map(tuple)] * 2, st.integers(1, 3)), min_size=1, max_size=30
).map(lambda runs: [(one, other) for one, other, times in runs for _ in range(times)])


def table_of(pairs, end="\n"):
    return ("\n".join(line for one, other in pairs for line in ("0.5", one, other)) + end).encode()


def lists_of(**lists):
    return read_lists(**{name: (LISTS | lists)[name].encode() for name in LISTS})


def built(engine, table, block=1 << 20, **lists):
    reader = engine.ParaphraseReader()
    for start in range(0, len(table), block):
        reader.feed(table[start : start + block])
    return finished(reader, lists_of(**lists))


@pytest.fixture(scope="module")
def buffer():
    return bytes(built(compiled, table_of(PARAPHRASES)))


@pytest.fixture(scope="module", params=ENGINES, ids=["compiled", "readable"])
def lexicon(request):
    """A lexicon that each engine built; the readable one has look-ups."""
    return reference.Lexicon(built(request.param, table_of(PARAPHRASES)))


def node_of(lexicon, phrase):
    """Return the node of a phrase, a sequence of words, or -1."""
    node = 0
    for word in phrase:
        node = lexicon.paraphrase_child(node, lexicon.number(word))
    return node


# ---------------------------------------------------------------------- look-ups
def test_word_lists(lexicon):
    assert [w for w in ("a", "the", ".", "dog", "A", "") if lexicon.is_function_word(w)] == ["a", "the", "."]
    words = ["Mr", "No", "titles", "#", "mr", "vs", "ca", "\ud800"]
    assert [lexicon.prefix_kind(w) for w in words] == [1, 2, 0, 0, 0, 2, 1, 0]  # the last line of a word counts


@pytest.mark.parametrize(
    ("form", "bases"),
    [
        ("went", ["go", "be"]),  # the exception list alone
        ("dogs", ["dog"]),
        ("ladies", ["lady"]),
        ("loved", ["love"]),
        ("is", []),  # two letters
        ("日本s", ["日本"]),
        ("🐶s", []),
        ("glass", []),  # -ss
        ("handfuls", []),
        ("nones", []),  # a listed word without sets ends the search
        ("table", []),
        ("", []),
    ],
)
def test_synonym_sets_are_those_of_the_base_forms(lexicon, form, bases):
    assert lexicon.synsets(form) == sorted({s for base in bases for s in lexicon.synsets(base)})


def test_synonym_sets_are_numbered_by_rank(lexicon):
    words = ["go", "dog", "hound", "be", "lady", "love", "none"]
    assert [lexicon.synsets(w) for w in words] == [[2, 7], [5], [5, 6], [3], [4], [1], []]
    assert lexicon.n_synsets == 8


def test_paraphrases_are_in_the_order_of_the_table(lexicon):
    nodes = [node_of(lexicon, other.split()) for one, other in PARAPHRASES if one == "a dog"]
    assert lexicon.paraphrase_targets(node_of(lexicon, ["a", "dog"])) == nodes
    assert nodes[-1] == 0  # the phrase without words
    assert lexicon.paraphrase_targets(node_of(lexicon, ["the", "dog"])) == [node_of(lexicon, ["a", "dog"])]
    assert lexicon.paraphrase_targets(node_of(lexicon, ["a"])) == []
    assert node_of(lexicon, ["go"]) == -1  # a word of another list


def aligned(lexicon, engine):
    """Return the statistics of all pairs of texts that need all of a lexicon."""
    texts = engine.MeteorTexts(lexicon)
    ids = texts.intern(WORDS + [" ".join(side.split()) for pair in PARAPHRASES for side in pair])
    return meteor.align_pairs(texts, ids[None], np.ones((len(ids),) * 2, dtype=bool), with_statistics=True)


def test_both_engines_read_a_lexicon_alike(buffer):
    ours, theirs = (aligned(engine.Lexicon(buffer), engine) for engine in ENGINES)
    assert np.array_equal(ours.statistics, theirs.statistics)
    assert np.array_equal(ours.scores, theirs.scores)


def test_numbers_beyond_the_tables_have_no_answer(lexicon):
    for number in (-1, -(2**31), 10**6, 2**31 - 1):
        assert lexicon.paraphrase_child(0, number) == -1
        assert lexicon.paraphrase_child(number, 0) == -1
        assert lexicon.paraphrase_targets(number) == []


@settings(max_examples=60, deadline=None)
@given(entries, st.sampled_from([1, 7, 64, 1 << 20]), st.sampled_from([" ", "\t ", "\f", "\r "]), st.booleans())
def test_trie_holds_all_entries(pairs, block, blank, ends):
    table = table_of(((blank.join(one), blank.join(other)) for one, other in pairs), "\n" if ends else "")
    for engine in ENGINES:
        data = built(engine, table, block)
        verify(data)
        lexicon = reference.Lexicon(data)
        for one in {side for pair in pairs for side in pair}:
            node = node_of(lexicon, one)
            assert node > 0
            assert lexicon.paraphrase_targets(node) == [node_of(lexicon, b) for a, b in pairs if a == one]


def test_tables_grow_with_many_entries():
    pairs = [(f"w{i} v{i % 7} x{i % 11}", f"u{i} t{i % 5}") for i in range(60_000)]
    lexicon = reference.Lexicon(built(compiled, table_of(pairs), 5000))
    for one, other in pairs[::97]:
        assert lexicon.paraphrase_targets(node_of(lexicon, one.split())) == [node_of(lexicon, other.split())]
    assert node_of(lexicon, ["w1", "v2"]) == -1


def test_both_engines_build_the_same_lexicon():
    pairs = [(f"w{i} v{i % 7}", f"u{i}") for i in range(300)]
    lexicons = [reference.Lexicon(built(engine, table_of(pairs))) for engine in ENGINES]
    for one, other in pairs:
        for phrase in (one.split(), other.split(), [*one.split(), "x"]):
            assert len({node_of(lexicon, phrase) > 0 for lexicon in lexicons}) == 1
    for word in [*WORDS, "\ud800", "w1"]:
        assert len({(lexicon.number(word) >= 0, *lexicon.synsets(word)) for lexicon in lexicons}) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_bytes_do_not_depend_on_the_blocks(engine):
    table = table_of([(f"w{i} v{i % 7}", f"u{i}") for i in range(900)])
    whole = bytes(built(engine, table))
    assert all(bytes(built(engine, table, block)) == whole for block in (1, 1000, 4096))


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("table", "lists"),
    [
        (b"", {}),
        (b"0.5\na\nb\n0.5\na\n", {}),
        (b"0.5\na\nb\n", {"synsets": "dog\n"}),
        (b"0.5\na\nb\n", {"synsets": "dog\nx7\n"}),
        (b"0.5\na\nb\n", {"synsets": f"dog\n{'9' * 19}\n"}),
        (b"0.5\na\nb\n", {"synsets": "dog\n-7\n"}),
        (b"0.5\na\nb\n", {"exceptions": ""}),
    ],
)
def test_incomplete_tables_and_lists_are_refused(engine, table, lists):
    with pytest.raises(ValueError, match=None if lists else "METEOR's lexicon: the data are damaged"):
        built(engine, table, **lists)


@pytest.mark.parametrize("engine", ENGINES)
def test_table_ends_once(engine):
    table = engine.ParaphraseReader()
    table.feed(b"0.5\na\nb\n")
    table.finish(["a"])
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        table.feed(b"x")
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        table.finish([])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("wrong", ["text", None, 3])
def test_other_types_are_refused(engine, wrong, lexicon):
    with pytest.raises(TypeError):
        engine.ParaphraseReader().feed(wrong)
    with pytest.raises(TypeError):
        engine.Lexicon(wrong)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [0, 7, 8, 100, -8, -1])
def test_buffer_that_is_cut_cannot_be_opened(engine, buffer, size):
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        engine.Lexicon(buffer[:size])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("place", [0, 7, 8, 12, 16])
def test_buffer_with_another_header_cannot_be_opened(engine, buffer, place):
    changed = bytearray(buffer)
    changed[place] ^= 1
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        engine.Lexicon(changed)


def test_every_changed_byte_is_noticed(buffer):
    for place in range(0, len(buffer), 1 if len(buffer) < 10**5 else 97):
        changed = bytearray(buffer)
        changed[place] ^= 1 << place % 8
        with pytest.raises(ValueError, match="METEOR's lexicon"):
            verify(changed)


def used(lexicon):
    """Look everything up; the answers may be wrong."""
    compiled.normalise(["Mr. a dog... No. 5"], lexicon)
    with suppress(ValueError, IndexError):
        aligned(lexicon, compiled)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_buffer_gives_wrong_answers_but_nothing_worse(buffer, seed):
    rng = random.Random(seed)
    header = 300
    opened = 0
    for _ in range(300):
        changed = bytearray(buffer)
        for _ in range(rng.choice([1, 3, 50])):
            place = rng.randrange(header if rng.random() < 0.3 else len(buffer))
            changed[place] = rng.choice([0, 1, 127, 128, 255])
        try:
            lexicon = compiled.Lexicon(changed)
        except ValueError:
            continue
        opened += 1
        used(lexicon)
    assert opened > 50


@pytest.mark.parametrize("value", [0, 255, 127])
def test_buffer_of_one_value_behind_its_header_gives_wrong_answers(buffer, value):
    changed = buffer[:300] + bytes([value]) * (len(buffer) - 300)
    used(compiled.Lexicon(changed))


def test_buffer_at_an_odd_address_is_refused(buffer):
    shifted = memoryview(bytearray(b"x" + buffer))[1:]
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        compiled.Lexicon(shifted)


def test_lexicon_keeps_its_buffer(buffer, tmp_path):
    path = tmp_path / "lexicon"
    path.write_bytes(buffer)
    with open(path, "rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    lexicon = compiled.Lexicon(mapped)
    with pytest.raises(BufferError):
        mapped.close()
    del mapped
    used(lexicon)
    used(compiled.Lexicon(np.frombuffer(buffer, dtype=np.uint8)))


def test_threads_may_share_reader_and_lexicon():
    reader = compiled.ParaphraseReader()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: reader.feed(table_of([(f"w{k}", f"v{k}")] * 50)), range(40)))
        data = finished(reader, lists_of())
        list(pool.map(lambda _: used(compiled.Lexicon(data)), range(8)))
    lexicon = reference.Lexicon(data)
    assert all(len(lexicon.paraphrase_targets(node_of(lexicon, [f"w{k}"]))) == 50 for k in range(40))


# ---------------------------------------------------------------------- the file
@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("HARNESS_CACHE", str(folder))
    files._digest.cache_clear()
    return folder


@pytest.fixture
def sources(tmp_path, root):
    """A jar and a paraphrase table with a few entries; the cache is a folder of the test."""
    folder = tmp_path / "sources"
    folder.mkdir()
    with zipfile.ZipFile(folder / "meteor-1.5.jar", "w") as jar:
        for name, text in zip(files._LISTS, LISTS.values(), strict=True):
            jar.writestr(name, text)
    with gzip.open(folder / "paraphrase-en.gz", "wb") as table:
        table.write(table_of(PARAPHRASES))
    return files.Sources(folder / "meteor-1.5.jar", folder / "paraphrase-en.gz")


def content(lexicon):
    """Return answers of a lexicon as plain objects."""
    return aligned(lexicon, caption_kernels).statistics.tolist()


def cached(root: Path) -> Path:
    [path] = (root / "meteor").glob("*.lexicon")
    return path


def notes(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_second_start_opens_the_file_of_the_first(sources, root, monkeypatch, caplog):
    first = content(files.load_lexicon(sources))
    monkeypatch.setattr(files, "build", lambda *_: pytest.fail("built twice"))
    assert content(files.load_lexicon(sources)) == first
    assert not notes(caplog)
    assert cached(root).name.startswith(f"{files.VERSION}-")
    assert cached(root).read_bytes()[8] == files.VERSION


@pytest.mark.parametrize("damage", ["cut", "empty", "version", "torn"])
def test_damaged_file_is_built_again_with_one_note(sources, root, caplog, damage):
    expected = content(files.load_lexicon(sources))
    path = cached(root)
    whole = path.read_bytes()
    torn = {"cut": whole[:-8], "empty": b"", "version": whole[:8] + b"\x07" + whole[9:], "torn": bytes(len(whole))}[
        damage
    ]
    path.unlink()  # the first lexicon maps it
    path.write_bytes(torn)
    assert content(files.load_lexicon(sources)) == expected
    [note] = notes(caplog)
    assert "is damaged" in note
    assert path.read_bytes() == whole
    assert [item.name for item in (root / "meteor").iterdir() if item.name.startswith(".")] == []


def test_failed_build_leaves_no_file(sources, root, monkeypatch):
    monkeypatch.setattr(files, "build", lambda sources: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        files.load_lexicon(sources)
    assert not [*(root / "meteor").glob("*.lexicon"), *(root / "meteor").glob(".*")]


def test_file_that_cannot_be_verified_is_not_kept(sources, root, monkeypatch, caplog):
    def fail(data):
        raise ValueError("changed")

    monkeypatch.setattr(files, "verify", fail)
    assert content(files.load_lexicon(sources))
    [note] = notes(caplog)
    assert "cannot be read back (changed)" in note
    assert not [*(root / "meteor").glob("*.lexicon"), *(root / "meteor").glob(".*.lexicon*")]


def test_without_a_folder_to_write_to_the_lexicon_is_held_in_memory_with_one_note(
    sources, tmp_path, monkeypatch, caplog
):
    expected = content(files.load_lexicon(sources))
    (tmp_path / "file").touch()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    assert content(files.load_lexicon(sources)) == expected
    [note] = notes(caplog)
    assert "set HARNESS_CACHE to a folder with 100 MB free" in note


def test_without_a_home_folder_the_lexicon_is_held_in_memory_with_one_note(sources, monkeypatch, caplog):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("HARNESS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    files._digest.cache_clear()
    assert content(files.load_lexicon(sources))
    [note] = notes(caplog)
    assert "home directory" in note


def test_full_disk_builds_once(sources, root, monkeypatch, caplog):
    calls = []

    def refuse(*_):
        raise OSError(28, "No space left on device")

    build = files.build
    monkeypatch.setattr(files, "build", lambda given: calls.append(given) or build(given))
    monkeypatch.setattr(os, "fsync", refuse)
    assert content(files.load_lexicon(sources))
    assert calls == [sources]
    [note] = notes(caplog)
    assert "No space left" in note
    assert not [*(root / "meteor").glob("*.lexicon"), *(root / "meteor").glob(".*.lexicon*")]


def test_folder_depends_on_the_environment(monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", "~/x")
    assert files._folder() == Path.home() / "x/meteor"
    monkeypatch.delenv("HARNESS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert files._folder() == Path("/x/harness/meteor")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert files._folder() == Path.home() / ".cache/harness/meteor"


def test_line_about_the_work_is_written_when_it_is_done(sources):
    entered = []

    class Line:
        def __enter__(self):
            entered.append(1)

        def __exit__(self, *_):
            entered.append(2)

    files.load_lexicon(sources, building=Line())
    assert entered == [1, 2]
    files.load_lexicon(sources, building=Line())
    assert entered == [1, 2]


CHILD = """
import json, sys
from pathlib import Path
if sys.argv[3] == "unlocked":  # as on a file system without locks
    sys.modules["fcntl"] = None
import caption_kernels
from caption_kernels import lexicon as files
build = files.build
files.build = lambda sources: print("built") or build(sources)
lexicon = files.load_lexicon(files.Sources(Path(sys.argv[1]), Path(sys.argv[2])))
print(json.dumps(caption_kernels.normalise(["Mr. a dog..."], lexicon)))
"""


@pytest.mark.parametrize("locks", ["locked", "unlocked"])
def test_processes_that_start_together_build_one_file(sources, root, locks):
    command = [sys.executable, "-c", CHILD, *map(str, sources), locks]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = [child.communicate()[0].splitlines() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert len({answer[-1] for answer in answers}) == 1
    assert json.loads(answers[0][-1])[0]
    if locks == "locked":
        assert sum(answer.count("built") for answer in answers) == 1
    assert cached(root).is_file()
    assert not [item for item in (root / "meteor").iterdir() if item.name.startswith(".")]


# ---------------------------------------------------------------------- the sources
def test_other_content_has_another_key(sources):
    before = files.content_key(sources)
    sources.paraphrases.write_bytes(sources.paraphrases.read_bytes() + b" ")
    assert files.content_key(sources) != before


def records(root: Path) -> list[Path]:
    return sorted((root / "meteor").glob("*.sha256"))


def test_hash_of_each_file_is_recorded_once(sources, root, monkeypatch):
    before = files.content_key(sources)
    files._digest.cache_clear()
    monkeypatch.setattr(files.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert files.content_key(sources) == before
    assert len(records(root)) == 2


def test_other_content_of_equal_size_and_modification_time_is_detected(sources):
    path = sources.paraphrases
    before, status, data = files.content_key(sources), path.stat(), path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    assert files.content_key(sources) != before


@pytest.mark.parametrize("damage", ["", "zz", "\u00e9", "00" * 32, "00" * 32 + " 1 2 3 4"])
def test_damaged_record_is_replaced(sources, root, damage):
    key = files.content_key(sources)
    whole = {path: path.read_bytes() for path in records(root)}
    for path in whole:
        path.write_text(damage, encoding="utf-8")
    files._digest.cache_clear()
    assert files.content_key(sources) == key
    assert {path: path.read_bytes() for path in records(root)} == whole


def test_record_that_cannot_be_renamed_leaves_no_file(sources, root, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    assert len(files.content_key(sources)) == 20
    assert not [path for path in (root / "meteor").iterdir() if path.is_file()]


@pytest.mark.parametrize("cut", [5, -12, -3])
def test_damaged_table_is_named(sources, cut):
    path = sources.paraphrases
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(files.DamagedSources, match=r"paraphrase-en\.gz cannot be read .*reinstall"):
        files.load_lexicon(sources)


def test_table_that_is_incomplete_is_named(sources):
    with gzip.open(sources.paraphrases, "wb") as stream:
        stream.write(b"0.5\na\nb\n0.5\na\n")
    with pytest.raises(files.DamagedSources, match=r"paraphrase-en\.gz cannot be read .*damaged"):
        files.load_lexicon(sources)


def test_table_of_several_members_is_read_whole(sources):
    expected = content(caption_kernels.Lexicon(files.build(sources)))
    table = table_of(PARAPHRASES)
    parts = [gzip.compress(table[:10]), gzip.compress(table[10:11]), bytes(5), gzip.compress(table[11:]), bytes(512)]
    sources.paraphrases.write_bytes(b"".join(parts))
    assert content(caption_kernels.Lexicon(files.build(sources))) == expected


def test_file_that_is_not_a_jar_is_named(sources):
    wrong = files.Sources(sources.paraphrases, sources.paraphrases)
    with pytest.raises(files.DamagedSources, match=r"paraphrase-en\.gz cannot be read as METEOR's data"):
        files.load_lexicon(wrong)


def test_jar_without_the_english_data_is_named(sources, tmp_path):
    path = tmp_path / "other.jar"
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("function/english.words", "a\n")
    with pytest.raises(files.DamagedSources, match=r"other\.jar .*english\.prefixes"):
        files.build(files.Sources(path, sources.paraphrases))


def test_file_that_is_gone_is_named(sources):
    sources.jar.unlink()
    with pytest.raises(files.DamagedSources, match=r"meteor-1\.5\.jar cannot be read .*No such file"):
        files.load_lexicon(sources)


def test_pycocoevalcap_without_its_data_is_named(tmp_path, monkeypatch):
    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: Spec)
    with pytest.raises(
        files.MissingSources, match=r"METEOR needs .*meteor-1\.5\.jar, which the installed pycocoevalcap lacks"
    ):
        files.find_sources()
    (tmp_path / "meteor").mkdir()
    (tmp_path / "meteor/meteor-1.5.jar").touch()
    with pytest.raises(files.MissingSources, match=r"paraphrase-en\.gz"):
        files.find_sources()
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(files.MissingSources, match="pycocoevalcap"):
        files.find_sources()
