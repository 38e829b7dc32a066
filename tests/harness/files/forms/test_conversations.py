"""Chats and conversations, whose last turn is the caption."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.forms.conversations import CHAT, CONVERSATION
from tests.support.form_content import captions, lines, sample_of


def chat(*texts):
    """Return the turns of a user and a model, in turn."""
    roles = ("user", "assistant")
    return [{"role": roles[k % 2], "content": text} for k, text in enumerate(texts)]


def test_earlier_answers_are_counted(tmp_path):
    sample = sample_of(
        tmp_path,
        lines(
            {"id": 1, "messages": chat("?", "a dog")},
            {"id": 2, "messages": chat("?", "a cat", "more?", "a cat asleep")},
        ),
    )
    form = CHAT.read(sample)
    assert captions(form) == {"1": "a dog", "2": "a cat asleep"}
    assert form.left_out == {"earlier answers of a conversation": 1}


def test_the_last_question_is_the_prompt(tmp_path):
    turns = chat("first?", "x", "describe", "a dog")
    (row,) = CHAT.read(sample_of(tmp_path, lines({"id": 1, "messages": turns}))).rows
    assert row.fields["prompt"] == "describe"


def test_a_list_of_chats_has_no_ids(tmp_path):
    form = CHAT.read(sample_of(tmp_path, [chat("?", "a dog"), chat("?", "a cat")]))
    assert form.numbered
    assert captions(form) == {None: ["a dog", "a cat"]}


def test_a_record_with_a_text_of_its_own_is_no_chat(tmp_path):
    record = {"id": 1, "messages": chat("?", "x"), "caption": "a dog"}
    assert not CHAT.recognise(sample_of(tmp_path, lines(record)))


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        (chat("?"), "the last turn is the user's; expected the model's answer"),
        ([{"role": "tool", "content": "x"}], "the last turn is of the role 'tool'"),
    ],
)
def test_the_last_turn_has_to_be_the_models(tmp_path, turns, message):
    with pytest.raises(InputError, match=message):
        list(CHAT.read(sample_of(tmp_path, lines({"id": 1, "messages": turns}))).rows)


def test_turns_with_from_and_value(tmp_path):
    turns = [{"from": "human", "value": "?"}, {"from": "gpt", "value": "a dog"}]
    form = CONVERSATION.read(sample_of(tmp_path, [{"id": 7, "conversations": turns}]))
    assert captions(form) == {"7": "a dog"}
    with pytest.raises(InputError, match="'conversations' is text; expected a list"):
        list(
            CONVERSATION.read(
                sample_of(tmp_path, [{"id": 7, "conversations": "x"}])
            ).rows
        )
