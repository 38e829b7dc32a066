"""Remarks on the captions of a system."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import CaptionSet
from harness.files.generated.caption_marks import caption_marks
from harness.files.generated.remarks import output_remarks, shorten


def sets_of(
    *captions: str | tuple[str, ...], references: tuple[str, ...] = ("the reference",)
) -> list[CaptionSet]:
    """Return examples with ids from 1."""
    return [
        CaptionSet(str(k), (texts,) if isinstance(texts, str) else texts, references)
        for k, texts in enumerate(captions, 1)
    ]


def kinds(sets: list[CaptionSet]) -> list[str]:
    return [remark.kind for remark in output_remarks(sets)]


@pytest.mark.parametrize(
    ("text", "kind", "signs", "removed_by"),
    [
        ("<think>hm</think>a dog", "think", ["<think>", "</think>"], "think"),
        ("a dog <eos> <pad>", "marks", ["<eos>", "<pad>"], "marks"),
        ("USER: Describe. ASSISTANT: a dog", "echo", ["USER:", "ASSISTANT:"], "echo"),
        ("**Caption:** a dog", "prefix", ["**Caption:**"], "prefix"),
        ("a **dog**", "markdown", ["bold"], "markdown"),
        ("a UNK dog <unk>", "unknown", ["UNK", "<unk>"], ""),
        ("I'm sorry, I can't help with that.", "refusal", [], ""),
    ],
)
def test_a_mark_in_a_caption_is_counted_and_shown(
    text: str, kind: str, signs: list[str], removed_by: str
):
    (remark,) = output_remarks(sets_of("a cat", text, "a bus"))
    assert (remark.kind, remark.count, remark.example, remark.clean) == (
        kind,
        1,
        "2",
        removed_by,
    )
    assert remark.text.startswith("1 of 3 captions ")
    assert remark.text.endswith(f"as '2': \"{text}\"")
    assert all(sign in remark.text for sign in signs)
    assert caption_marks(text) == [(kind, signs)]


def test_captions_without_marks_have_no_remark():
    assert (
        output_remarks(
            sets_of(
                "a dog looks sorry",
                "a sign: here is 1 < 2",
                'the "unknown" [diy] show',
                "a # 2 bus * 3",
            )
        )
        == []
    )
    assert output_remarks([]) == []
    assert output_remarks([CaptionSet("1", (), ("a",))] * 3) == []


def test_examples_of_all_blocks_are_counted():
    captions = [f"a dog {k}" for k in range(9000)]
    captions[10] = captions[8999] = "a dog</s>"
    (remark,) = output_remarks(sets_of(*captions))
    assert (remark.count, remark.example) == (2, "11")
    assert remark.text.startswith(
        "2 of 9,000 captions hold marks of chats or ends (</s>)"
    )


def test_empty_captions_and_cut_off_ones_are_counted():
    sets = sets_of("", " \t", "a dog runs on the")
    remarks = {remark.kind: remark for remark in output_remarks(sets, cut_off={"3"})}
    assert remarks.keys() == {"empty", "cut"}
    assert remarks["empty"].count == 2
    assert (
        remarks["cut"].text
        == "1 of 3 captions was cut off at the largest number of tokens, as '3': "
        '"a dog runs on the"'
    )


@pytest.mark.parametrize(
    ("candidates", "references", "tail"),
    [
        (
            ["a dog runs", "a cat", "a bus"],
            [["A dog runs."], ["A cat."], ["A bus!"]],
            "of its example: ",
        ),
        (
            ["a dog runs", "it 's a cat"],
            [["A dog runs.", "a dog"], ["It's a cat.", "a cat"]],
            "of its example, the first one: ",
        ),
        (
            ["a dog", "A cat"],
            [["A dog runs.", "a dog"], ["It's a cat.", "a cat"]],
            "of its example: ",
        ),
    ],
)
def test_copies_of_references_are_named(
    candidates: list[str], references: list[list[str]], tail: str
):
    sets = [
        CaptionSet(str(k), (text,), tuple(beside))
        for k, (text, beside) in enumerate(zip(candidates, references))
    ]
    (remark,) = output_remarks(sets)
    assert remark.kind == "copies"
    assert remark.text.startswith("every candidate equals a reference " + tail)


def test_one_caption_of_its_own_makes_no_copies():
    sets = [
        CaptionSet("1", ("a dog",), ("a dog",)),
        CaptionSet("2", ("a cat", "the cat"), ("a cat",)),
    ]
    assert output_remarks(sets) == []
    # one example says nothing
    assert output_remarks([CaptionSet("1", ("a dog",), ("a dog",))]) == []
    # without any letter
    assert output_remarks([CaptionSet(key, ("...",), ("!",)) for key in "12"]) == []


def test_the_same_caption_everywhere_is_named():
    (remark,) = output_remarks(
        sets_of("a man rides a board", "a man rides a board", "a man rides a board")
    )
    assert remark.text == 'all 3 examples have the same caption: "a man rides a board"'
    assert kinds(sets_of("a dog", "a dog")) == []
    assert kinds(sets_of("a dog", "a dog", "a dog", "a cat")) == []


@pytest.mark.parametrize(
    ("captions", "words"),
    [
        (
            ["a dog", ("two cats", "two cats"), "a boat"],
            "the 2 captions of id '2' are identical (\"two cats\"): "
            "corpus numbers such as BLEU count them twice",
        ),
        (
            ["a dog", ("cats",) * 3, ("boats",) * 2],
            "the 3 or 2 captions of each of 2 ids ('2', ...) are identical",
        ),
        (
            [("a dog",) * 2, ("a cat",) * 2],
            "the 2 captions of each of 2 ids ('1', ...) are identical",
        ),
    ],
)
def test_repeats_of_a_record_are_named(
    captions: list[str | tuple[str, ...]], words: str
):
    (remark,) = output_remarks(sets_of(*captions))
    assert (remark.kind, remark.clean) == ("repeats", "repeats")
    assert words in remark.text


def test_samples_of_a_model_are_no_repeats():
    assert kinds(sets_of(("a dog", "a dog"), ("a cat", "the cat"))) == []
    assert kinds(sets_of("a dog", ("a cat", "a cat"), ("a bus", "the bus"))) == []


@pytest.mark.parametrize(
    ("captions", "words"),
    [
        (
            ["一个男人骑着自行车", "一只猫睡觉"],
            "the captions are Chinese, without blanks between words",
        ),
        (["猫が寝ている", "犬が走る"], "tokenizer=characters"),
        (["แมวนอนหลับ", "สุนัขวิ่ง"], "the captions are Thai"),
    ],
)
def test_scripts_without_blanks_are_named(captions: list[str], words: str):
    (remark,) = output_remarks(sets_of(*captions))
    assert remark.kind == "script"
    assert words in remark.text


@given(st.lists(st.text(alphabet="ab .,'ßé", min_size=1), min_size=1, max_size=6))
def test_words_alone_give_no_remark_on_single_captions(captions: list[str]):
    assert set(kinds(sets_of(*captions))) <= {"empty", "same", "copies"}


def test_long_texts_are_shown_in_short():
    assert shorten("a" * 100, 10) == "a" * 8 + " …"
