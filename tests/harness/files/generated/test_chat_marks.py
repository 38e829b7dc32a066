"""Marks of chats and ends."""

from __future__ import annotations

import pytest

from harness.files.generated.chat_marks import find_chat_marks, strip_chat_marks


@pytest.mark.parametrize(
    "text",
    [
        "a red bus <eos> <pad> <pad>",
        "<start> a red bus <end>",
        "<|im_start|>assistant\na red bus<|im_end|>",
        "startseq a red bus endseq",
        "[CLS] a red bus [SEP] [PAD]",
        "</s>a red bus</s>",
        "<|endoftext|>a red bus<|endoftext|>A bird is eating",
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n"
        "Describe.<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\na red bus<|eot_id|>",
        "<bos><start_of_turn>user\nDescribe<end_of_turn>\n<start_of_turn>model\n"
        "a red bus<end_of_turn>",
        "<s>[INST] <<SYS>>\nBe short.\n<</SYS>> Describe. [/INST] a red bus</s>",
        "<|user|>\nDescribe<|end|>\n<|assistant|>\na red bus<|end|>",
        "<|assistant|>\na red bus\n<|user|>\nAnd what else?",
        "<｜User｜>Describe<｜Assistant｜>a red bus<｜end▁of▁sentence｜>",
        "<image> a red <-pad-> bus",
    ],
)
def test_the_answer_stays(text: str):
    assert strip_chat_marks(text) == "a red bus"


@pytest.mark.parametrize(
    "text",
    [
        "a do-it-yourself [diy] demo",
        "an e|i show",
        "a sign with START and [end of road]",
        "I <3 you",
        "a < b > c",
        "the end",
        "x <unk> y",
    ],
)
def test_a_caption_with_brackets_stays(text: str):
    assert strip_chat_marks(text) == text


def test_marks_are_named_in_their_order():
    assert find_chat_marks("<start> a cat <end> <pad>") == ["<start>", "<end>", "<pad>"]
