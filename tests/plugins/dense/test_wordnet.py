"""Synonyms by small files of WordNet."""

from __future__ import annotations

import shutil
import zipfile

import pytest

from harness.errors import HarnessError, MissingExtra
from harness_metrics.dense import wordnet
from harness_metrics.dense.wordnet import FILES, installed_wordnet


def test_synonyms_are_single_words_of_all_senses_and_parts_of_speech(small_wordnet):
    synonyms = installed_wordnet().synonyms
    assert synonyms("couch") == {"sofa", "couch", "lounge", "frame"}
    assert synonyms("dog") == {"dog"}  # two words are none
    assert synonyms("big") == {"big", "large"}  # without the mark of an adjective
    assert synonyms("zebra") == {"zebra"}
    assert synonyms("china") == {"china", "China", "Cathay"}


def test_other_forms_of_a_word_have_the_synonyms_of_its_entries(small_wordnet):
    synonyms = installed_wordnet().synonyms
    assert synonyms("ran") == {"ran", "run", "scat"}
    assert synonyms("Runs") == {"Runs", "run", "scat"}
    # a noun for the plural, a verb for its form, and no adjective
    assert synonyms("sofas") == {"sofas", "sofa", "couch", "lounge"}
    assert synonyms("couched") == {"couched", "couch", "frame"}
    assert synonyms("bigger") == {"bigger"}  # "bigg" and "bigge" are no words
    assert synonyms("larges") == {"larges"}
    assert synonyms("mice") == {"mice"}  # irregular, of a word that is no entry


def test_the_archive_of_nltk_is_read(small_wordnet, tmp_path, monkeypatch):
    signature = installed_wordnet().signature
    corpora = tmp_path / "nltk" / "corpora"
    corpora.mkdir(parents=True)
    with zipfile.ZipFile(corpora / "wordnet.zip", "w") as archive:
        for name in FILES:
            archive.write(small_wordnet / name, f"wordnet/{name}")
    shutil.rmtree(small_wordnet)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    installed_wordnet.cache_clear()
    assert installed_wordnet().signature == signature
    assert signature.startswith("wordnet-3.0-")
    assert installed_wordnet().synonyms("fast") == {"fast", "quickly"}


def test_a_damaged_archive_is_named(tmp_path, monkeypatch):
    (tmp_path / "wordnet.zip").write_bytes(b"no archive")
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path / "wordnet"))
    installed_wordnet.cache_clear()
    with pytest.raises(HarnessError, match="of another form"):
        installed_wordnet()


def test_without_files_it_is_said_where_they_come_from(monkeypatch, tmp_path):
    monkeypatch.setattr(wordnet, "PLACES", (str(tmp_path),))
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    installed_wordnet.cache_clear()
    with pytest.raises(MissingExtra, match="apt install wordnet-base"):
        installed_wordnet()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("index.noun", "sofa n 1 one 1 0 00000040\n", "of another form"),
        ("data.noun", "nothing\n", "names no version"),
        ("noun.exc", "alone\n", None),
    ],
)
def test_files_of_another_form_are_named(small_wordnet, name, content, message):
    (small_wordnet / name).write_text(content)
    if message is None:
        assert installed_wordnet().synonyms("alone") == {"alone"}
        return
    with pytest.raises(HarnessError, match=message):
        installed_wordnet()
