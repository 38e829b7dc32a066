"""Prompt and answer of CLAIR against independent programs:
no package of it can be installed.

The reader of prompts splits at the headings of the prompt and decodes one JSON text a
line. The reader of answers looks for balanced braces outside quotation marks, character
by character; the metric asks the decoder of the standard library.
"""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_metrics.judges import prompts
from harness_metrics.judges.answers import find_object, read_number, verdict_of
from harness_metrics.judges.replies import Reply

TEXT = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=30
)
NUMBER = st.one_of(
    st.integers(-20, 140), st.floats(-20, 140).map(lambda x: round(x, 3))
)


def closing(text: str, start: int) -> int | None:
    """Return the index of the brace that closes the one at ``start``; braces in
    quotation marks do not count.
    """
    depth = 0
    quoted = False
    escaped = False
    for index in range(start, len(text)):
        letter = text[index]
        if quoted:
            quoted = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
            if depth == 0:
                return index
    return None


def last_object(text: str) -> dict | None:
    """Return the last outermost object of a text."""
    found = None
    index = 0
    while index < len(text):
        end = closing(text, index) if text[index] == "{" else None
        if end is not None:
            with suppress(ValueError):
                found = json.loads(text[index : end + 1], strict=False)
                index = end
        index += 1
    return found


def score_of(text: str) -> float | None:
    """Return the score of an answer in [0, 1]."""
    values = last_object(text)
    if values is None:
        return None
    named = [value for key, value in values.items() if key.strip().lower() == "score"]
    numbers = [value for value in values.values() if type(value) in (int, float)]
    value = named[0] if named else numbers[0] if len(numbers) == 1 else None
    return value / 100 if type(value) in (int, float) and 0 <= value <= 100 else None


@given(
    TEXT,
    st.one_of(NUMBER, st.none(), st.booleans(), st.lists(st.integers(), max_size=2)),
    TEXT,
    TEXT,
    st.booleans(),
)
def test_answers_are_read_as_the_oracle_reads_them(before, score, reason, after, named):
    answer = json.dumps(
        {"score" if named else "puntuación": score, "reason": reason},
        ensure_ascii=False,
    )
    text = f"{before}{answer}{after}"
    assert find_object(text) == last_object(text)
    value = verdict_of(Reply(text), read_number("score", 0.0, 100.0)).value
    assert (None if value is None else value / 100) == (
        pytest.approx(score_of(text)) if score_of(text) is not None else None
    )


def captions_of(prompt: str) -> tuple[list[str], list[str]]:
    """Return the candidates and references of CLAIR's prompt."""
    _, _, rest = prompt.partition("Set A (candidates):\n")
    first, _, rest = rest.partition("\n\nSet B (references):\n")
    second, _, _ = rest.partition("\n\nAnswer with one JSON object")
    sides = [
        [json.loads(line[2:]) for line in part.split("\n")] for part in (first, second)
    ]
    return sides[0], sides[1]


@given(st.lists(TEXT, min_size=1, max_size=4), st.lists(TEXT, min_size=1, max_size=4))
def test_prompts_hold_the_captions_of_both_sides_whatever_they_say(
    candidates, references
):
    prompt = prompts.fill(
        prompts.CLAIR,
        {
            "candidates": prompts.listing(candidates),
            "references": prompts.listing(references),
        },
    )
    assert captions_of(prompt) == (sorted(candidates), sorted(references))


def test_the_metric_is_the_mean_of_the_scores_that_the_oracle_reads(scripted):
    import harness

    answers = {
        "a dog": '{"score": 80}',
        "a cat": 'No: {"score": 20, "reason": "{cat}"}',
        "a bus": '```{"Score": 55}```',
    }
    judge = scripted(
        lambda talk: next(
            text
            for name, text in answers.items()
            if name in talk[0]["content"].split("Set B")[0]
        )
    )
    from harness_metrics.judges.judge import Judge

    metric = harness.metric("clair", judge=Judge(judge, cache=False))
    result = metric([[name] for name in answers], [["a dog", "one dog"]] * 3)
    expected = [score_of(text) for text in answers.values()]
    assert result.per_example.tolist() == pytest.approx(expected)
    assert result.value == pytest.approx(sum(expected) / 3)
