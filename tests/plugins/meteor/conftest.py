"""Fixtures of METEOR's tests: a lexicon small enough to be built in every test, and kernels that run without compilation."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from harness.plugins.meteor.lexicon.sources import Sources

PARAPHRASES = [
    ("a dog", "the dog"),
    ("a dog", "dog"),
    ("dog", "hound"),
    ("a dog", "an animal that barks"),
    ("the dog", "a dog"),
]


@pytest.fixture
def interpreted(monkeypatch) -> Callable[[ModuleType], None]:
    """Return a function that replaces the compiled functions of a module by their Python code.

    Functions that only compiled code calls cannot be called from Python; without compilation a test can call each of them.
    """

    def replace(module: ModuleType) -> None:
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)

    return replace


@pytest.fixture
def tiny_sources(tmp_path: Path, monkeypatch) -> Sources:
    """Return a jar and a paraphrase table with a few entries; the cache is a folder of the test."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "sources"
    folder.mkdir()
    with zipfile.ZipFile(folder / "meteor-1.5.jar", "w") as jar:
        jar.writestr("function/english.words", "a\nthe\n.\n")
        jar.writestr("nonbreaking/english.prefixes", "# titles\nMr\nNo #NUMERIC_ONLY#\n")
        jar.writestr("synonym/english.exceptions", "go\nwent gone\nbe\nwent\n")
        jar.writestr("synonym/english.synsets", "go\n7 100\ndog\n30\nhound\n30 31\nbe\n8\nlady\n9\nlove\n5\n")
    with gzip.open(folder / "paraphrase-en.gz", "wb") as table:
        for one, other in PARAPHRASES:
            table.write(f"0.5\n{one}\n{other}\n".encode())
    return Sources(folder / "meteor-1.5.jar", folder / "paraphrase-en.gz")
