"""Marks of chats and of the beginning and end of texts, which tokenisers of models add
and decoding leaves in.
"""

from __future__ import annotations

import re

from harness.files.generated.late_pattern import late_pattern

_ROLE = r"(?P<role>system|developer|user|human|assistant|model|tool)"
_HEAD = late_pattern(
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|start\|>)\s*"
    rf"{_ROLE}\b(?:\s*<\|(?:end_header_id|message)\|>)?"
    rf"|<[|｜]{_ROLE.replace('role', 'only')}[|｜]>",
    re.IGNORECASE,
)
"""Head of a turn: ChatML, Llama 3, Gemma, harmony; Phi and DeepSeek."""
_ANSWERS = ("assistant", "model")
_INSTRUCTION = "[INST]"
_INSTRUCTION_END = "[/INST]"
_END = (
    r"<-?(?:eos|end|eot|eoc|endoftext|end_of_text|end_of_turn|end_of_utterance|im_end|"
    r"endseq)-?>|</s>|<｜end▁of▁sentence｜>|(?<!\S)endseq(?!\S)|"
    r"<\|(?:im_end|endoftext|end_of_text|eot_id|eot|end|eos|eom_id|return|end_of_turn)"
    r"\|>|(?-i:\[(?:EOS|END|EOT)\])"
)
"""Marks behind which a text is over."""
_MARK = late_pattern(
    rf"(?P<end>{_END})|<[|｜][^<>|｜\s]{{1,40}}[|｜]>|"
    r"<-?(?:s|bos|sos|start|cls|sep|mask|pad|image|video|audio|startoftext|"
    r"start_of_text|start_of_turn|im_start|startseq)-?>|"
    r"(?<!\S)startseq(?!\S)|<</?SYS>>|(?-i:\[(?:PAD|CLS|SEP|MASK|BOS|SOS|START|/?INST)\])",
    re.IGNORECASE,
)
TRIGGERS = ("<", "[", "startseq", "endseq")
"""Lower-case texts, one of which stands in every text that :func:`strip_chat_marks`
changes.
"""


def strip_chat_marks(text: str) -> str:
    """Return a text without marks of chats and ends; the text itself where there is
    none.

    Turns of a chat other than the answer are removed with their marks, and so is what
    follows a mark of the end: a model that goes on has begun another text.

    >>> (
    ...     strip_chat_marks("<start> a cat <end>"),
    ...     strip_chat_marks("a dog <eos> <pad> <pad>"),
    ... )
    ('a cat', 'a dog')
    >>> turns = "<|im_start|>user\\nWhat?<|im_end|>\\n<|im_start|>assistant\\na red bus"
    >>> strip_chat_marks(f"{turns}<|im_end|>")
    'a red bus'
    """
    if not _MARK().search(text):
        return text

    # Marks before the first word are of the beginning, whatever they are.
    start = _answer_start(text)
    marks = list(_MARK().finditer(text, start))
    for mark in marks:
        if text[start : mark.start()].strip():
            break
        start = mark.end()

    ends = [mark.start() for mark in marks if mark["end"] and mark.start() >= start]
    next_turn = _HEAD().search(text, start)
    end = min([*ends[:1], next_turn.start() if next_turn else len(text), len(text)])
    return _drop_marks(text[start:end])


def _drop_marks(text: str) -> str:
    """Return a text with a blank in place of its marks, and none at its ends."""
    pieces: list[str] = []
    position = 0
    for mark in _MARK().finditer(text):
        pieces.append(text[position : mark.start()].strip())
        position = mark.end()
    pieces.append(text[position:].strip())
    return " ".join(filter(None, pieces))


def find_chat_marks(text: str) -> list[str]:
    """Return the marks of a text, in their order."""
    return [mark[0] for mark in _MARK().finditer(text)]


def _answer_start(text: str) -> int:
    """Return the place where the answer begins, behind the head of its turn or behind
    an instruction.
    """
    heads = list(_HEAD().finditer(text))
    start = 0
    if heads and not _drop_marks(text[: heads[0].start()]):
        # A text that begins with the user's turn holds the whole chat: the answer is
        # the last turn of the model.
        of_model = [
            head for head in heads if (head["role"] or head["only"]).lower() in _ANSWERS
        ]
        is_answer = bool(of_model) and of_model[0] is heads[0]
        start = (heads[0] if is_answer else (of_model or heads)[-1]).end()

    # Llama 2 and Mistral: the answer follows the last instruction.
    turns = text[start:]
    if _INSTRUCTION_END in turns and not _drop_marks(turns.partition(_INSTRUCTION)[0]):
        start += turns.rindex(_INSTRUCTION_END) + len(_INSTRUCTION_END)
    return start
