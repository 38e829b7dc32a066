"""Forms of conversations with a model, whose last turn is the caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.columns import CANDIDATE_COLUMNS, REFERENCE_COLUMNS
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.messages import (
    ASSISTANTS,
    is_conversation,
    last_answer,
    last_question,
    turn_role,
)
from harness.files.forms.record_forms import Conversion, items, record_kind
from harness.files.forms.sample import HEAD, Sample
from harness.files.records import Record, kind

MESSAGES = ("messages", "completion", "chat", "dialogue", "dialog")
"""Columns of turns with ``role`` and ``content``."""
CONVERSATIONS = ("conversations", "conversation")
"""Columns of turns with ``from`` and ``value``."""
TEXT_COLUMNS = frozenset((*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS, "predict", "answer"))


def _turns_column(fields: Parameters, columns: tuple[str, ...]) -> str:
    """Return the column of a conversation; empty for a record without one, and for one
    that holds a text of its own.
    """
    if any(isinstance(fields.get(name), str) for name in TEXT_COLUMNS):
        return ""
    return next((name for name in columns if is_conversation(fields.get(name))), "")


def _converter(columns: tuple[str, ...]) -> Callable[[Record, Conversion], Values]:
    """Return the conversion of records with a conversation in one of some columns."""

    def convert(row: Record, conversion: Conversion) -> Values:
        lists = [name for name in columns if isinstance(row.fields.get(name), list)]
        present = [*lists, *(name for name in columns if name in row.fields)]
        column = next(iter(present), columns[0])
        turns = items(row.fields.get(column))
        if not is_conversation(turns):
            raise InputError(
                f"'{column}' is {kind(row.fields.get(column))}; "
                "expected a list of turns with a role and a text",
                row.where,
            )

        # The question is needed for the remark on answers that repeat it.
        fields = dict(row.fields)
        question = last_question(turns)
        if question is not None:
            fields.setdefault("prompt", question)
        text = last_answer(turns, row.where)
        further = sum(turn_role(turn).lower() in ASSISTANTS for turn in turns[:-1])
        if further:
            conversion.left_out["earlier answers of a conversation"] += further
        if text is None:
            conversion.left_out["answers without text"] += 1
        return {**fields, **conversion.captions(text)}

    return convert


def _is_list_of_conversations(sample: Sample) -> bool:
    document = sample.document
    return (
        isinstance(document, list)
        and bool(document)
        and all(is_conversation(item) for item in document[:HEAD])
    )


_convert_messages = _converter(MESSAGES)
_MESSAGE_RECORDS = record_kind(
    "chat",
    "records of chats: the last turn, the assistant's, is the caption",
    lambda fields: bool(_turns_column(fields, MESSAGES)),
    _convert_messages,
    [
        FormExample.of_lines(
            [
                {
                    "id": 42,
                    "messages": [
                        {"role": "user", "content": "describe"},
                        {"role": "assistant", "content": "a dog"},
                    ],
                },
                {
                    "id": 73,
                    "messages": [
                        {"role": "user", "content": "describe"},
                        {
                            "role": "assistant",
                            "content": [{"type": "text", "text": "a cat"}],
                        },
                    ],
                },
            ],
            "a column, else by position",
        )
    ],
)


def _read_chats(sample: Sample) -> Form:
    if not _is_list_of_conversations(sample):
        return _MESSAGE_RECORDS.read(sample)
    left_out: Counter[str] = Counter()
    conversion = Conversion(sample.role, left_out)

    def rows() -> Iterator[Record]:
        for number, turns in enumerate(sample.document, 1):
            row = Record(f"{sample.location}: record {number}", {"messages": turns})
            yield Record(row.where, _convert_messages(row, conversion))

    return Form("chat", rows(), numbered=True, left_out=left_out)


CHAT = FormKind(
    "chat",
    _MESSAGE_RECORDS.summary,
    lambda sample: (
        _is_list_of_conversations(sample) or _MESSAGE_RECORDS.recognise(sample)
    ),
    _read_chats,
    _MESSAGE_RECORDS.examples,
    reading="the last turn of `messages`, `completion` or `chat`, "
    "which has to be the assistant's",
)

CONVERSATION = record_kind(
    "conversations",
    "ShareGPT, LLaVA: the last turn, the model's, is the caption",
    lambda fields: bool(_turns_column(fields, CONVERSATIONS)),
    _converter(CONVERSATIONS),
    [
        FormExample.of_json(
            [
                {
                    "id": "42",
                    "image": "42.jpg",
                    "conversations": [
                        {"from": "human", "value": "<image> describe"},
                        {"from": "gpt", "value": "a dog"},
                    ],
                },
                {
                    "id": "73",
                    "image": "73.jpg",
                    "conversations": [
                        {"from": "human", "value": "<image> describe"},
                        {"from": "gpt", "value": "a cat"},
                    ],
                },
            ],
            "a column, else by position",
        )
    ],
    reading="the last turn, which has to be the model's (`gpt`, `assistant`)",
)
