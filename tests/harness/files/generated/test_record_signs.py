"""What records say about their captions, and captions that are cleaned."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.generated.record_signs import RecordSigns


def test_captions_that_were_cut_off_or_begin_with_their_prompt_are_counted():
    signs = RecordSigns(captions=3)
    records = [{"finish_reason": "length"}, {"prompt": "Describe the picture."}, {}]
    texts = ["a dog runs on the", "Describe the picture. a cat", "a bus"]
    for key, (record, text) in enumerate(zip(records, texts)):
        assert signs.look(record, (text,), f"f:{key}", allow_empty=False) == (text,)
    assert [remark.text for remark in signs.remarks()] == [
        "1 of 3 captions was cut off at the largest number of tokens, as f:0: "
        '"a dog runs on the"',
        '1 of 3 captions begins with the prompt, as f:1: "Describe the picture. a cat"',
    ]


def test_what_is_asked_for_is_removed_and_counted():
    signs = RecordSigns(("echo", "marks"), captions=2)
    assert signs.look(
        {"prompt": "Describe it."},
        ("Describe it. a cat</s>", "a dog"),
        "f:1",
        allow_empty=False,
    ) == ("a cat", "a dog")
    assert [remark.text for remark in signs.remarks()] == [
        "cleaned 1 of 2 captions (echo, marks)"
    ]


def test_a_caption_of_which_nothing_is_left_is_an_empty_one():
    signs = RecordSigns(("think",))
    with pytest.raises(InputError, match="f:1: empty without think.*allow_empty"):
        signs.look({}, ("<think>hm",), "f:1", allow_empty=False)
    assert signs.look({}, ("<think>hm",), "f:1", allow_empty=True) == ("",)
