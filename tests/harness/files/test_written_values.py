"""Values that a program wrote into a cell as text."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.captions import captions
from harness.files.written_values import parse_written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("['a dog', \"it's\"]", ["a dog", "it's"]),
        ('["a dog", "the \\"dog\\""]', ["a dog", 'the "dog"']),
        (" ['a dog'] ", ["a dog"]),
        ("('a dog', 'the dog')", ["a dog", "the dog"]),
        ("('a dog',)", ["a dog"]),
        ("{'b', 'a'}", ["b", "a"]),
        ("[{'caption': 'a dog'}, {'raw': 'the dog'}]", ["a dog", "the dog"]),
        ('[{"caption": "a dog", "score": null}]', ["a dog"]),
        ("{'caption': 'a dog', 'id': 3}", ["a dog"]),
    ],
)
def test_captions_of_a_written_value(text, expected):
    assert list(captions(text, "here")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a dog",
        "[a dog]",
        "(a dog)",
        '("a dog")',
        "{a dog}",
        "[]",
        "[[CLS] a dog]",
        "'a' and 'b'",
        "b'a",
        "array of dogs (two)",
        "['quoted'] words",
        "",
        "   ",
    ],
)
def test_other_texts_are_none(text):
    assert parse_written(text, "here") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("['a dog' 'the dog']", "is no list of texts"),
        ("['a dog', nan]", "is no list of texts"),
        ("[None]", "is no list of texts"),
        ("[['a dog'], ['the dog']]", "is no list of texts"),
        ("[('a dog', 0.5)]", "is no list of texts"),
        ("[b'a dog']", "is no list of texts"),
        ("b'a dog'", "is bytes as Python prints them"),
        ("array(['a dog'], dtype=object)", "is an array as NumPy prints it"),
        ("[np.str_('a dog')]", "is an array as NumPy prints it"),
        ("{'caption': nan}", "is no object or list of objects"),
    ],
)
def test_values_that_hold_no_captions_are_refused(text, reason):
    with pytest.raises(InputError, match=f"^here: the caption .* {reason}; expected"):
        parse_written(text, "here")


def test_an_object_without_a_caption_is_refused_with_its_fields():
    with pytest.raises(InputError, match="is an object with 'answer', 'score'; expect"):
        captions("{'answer': 'a dog', 'score': 1}", "here")
