"""Character classes of the tokeniser."""

from __future__ import annotations

import re
import unicodedata

import pytest

from harness.plugins.tokenisers.ptb import characters

EVERYTHING = "".join(map(chr, range(0x10000)))
CLASSES = {
    name: set(re.findall(f"[{getattr(characters, name)}]", EVERYTHING)) for name in ("LETTERS", "MARKS", "DIGITS")
}
CLASSES["SYMBOLS"] = set(re.findall(f"[{characters.SYMBOLS}]", EVERYTHING))


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("LETTERS", "éßłÉжאあ漢\uac00\ufb01", "aZ1 '\u0301\u20bd²"),
        ("MARKS", "\u0301\u05b0\u0e31", "aé1"),
        ("DIGITS", "٣९\uff15", "5²½"),
        ("SYMBOLS", "¡§©°→★、！", "#$a€"),
    ],
)
def test_classes_contain_their_kind_of_character(name, inside, outside):
    assert set(inside) <= CLASSES[name]
    assert not set(outside) & CLASSES[name]


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_outside_ascii(name):
    assert CLASSES[name]
    assert not any(character.isascii() for character in CLASSES[name])


def test_letters_and_digits_agree_with_unicode():
    assert not CLASSES["LETTERS"] & CLASSES["DIGITS"]
    assert {unicodedata.category(c) for c in CLASSES["DIGITS"]} == {"Nd"}
    assert {unicodedata.category(c)[0] for c in CLASSES["LETTERS"]} <= {"L", "M", "N", "S"}
    others = {c for c in CLASSES["LETTERS"] if unicodedata.category(c)[0] != "L"}
    assert len(others) < len(CLASSES["LETTERS"]) / 100
