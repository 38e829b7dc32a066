"""The ``generated-answers`` adapter: choices and polls from generated answers, for
models without token scores.
"""

from __future__ import annotations

import re
import string
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from harness.contracts import Decoding, Example, Failure, Generation, TokenScores
from harness.contracts.models import Adapter, CountsUsage
from harness.contracts.parameters import Count, check_arguments
from harness.errors import HarnessError
from harness.registry import resolve
from harness_models.shared.inputs.prompts import fill_prompt
from harness_models.wrappers.wrapper import Wrapper

QUESTION = "Which caption describes the image?"
"""Question of an example without a source."""
PROMPTS = {
    "letter": "{source}\n{options}\n"
    "Answer with the letter of the correct option alone.",
    "text": "{source}\nAnswer with {options} alone.",
}
_MARKUP = re.compile(r"[*_`\"'()\[\]{}“”]")
_LEAD = r"\s*(?:(?:the )?(?:correct |best )?(?:answer|option|caption)(?: is)?:?\s*)?"


class GeneratedAnswers(Wrapper):
    """Token scores of the references as the answer of a model to a question about them:
    log-probability 0 for the reference that it gives, minus infinity for the others,
    and for all where the answer cannot be read.

    The order of the options depends on the id of the example alone, so that the correct
    one has no fixed place.

    Parameters
    ----------
    model
        An adapter that generates text, with the prompt ``{source}``: its name,
        ``{name: {parameters}}``, or an instance.
    by : {"letter", "text"}
        The answer is the letter of an option in a list, or the text of an option, such
        as *yes* or *no*.
    prompt : str, optional
        Question to the model: ``{source}`` is that of the example, ``{options}`` the
        list of options.
    max_length : int, default 16
        Maximum number of tokens of an answer.
    """

    kind = "generated-answers"

    @check_arguments
    def __init__(
        self,
        *,
        model: str | Mapping[str, Any] | Adapter,
        by: Literal["letter", "text"] = "letter",
        prompt: str | None = None,
        max_length: Count = 16,
    ) -> None:
        self.model: Any = resolve("adapters", model)
        self.by = by
        self.prompt = prompt or PROMPTS[by]
        self.max_length = max_length

    def fingerprint(self) -> str:
        """Return the settings and the fingerprint of the model."""
        settings = f"{self.by}|{self.prompt}|{self.max_length}"
        return f"{self.kind}|{settings}|{self.model.fingerprint()}"

    def usage(self) -> Mapping[str, object]:
        """Return what the model counts."""
        return self.model.usage() if isinstance(self.model, CountsUsage) else {}

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterator[list[TokenScores]]:
        """Yield the scores of the references of each example; raise
        :class:`HarnessError` where the model fails to answer.
        """
        # The order of the options depends on the example alone, so that a model that
        # prefers a letter is not scored for it.
        orders = []
        for example in examples:
            random = np.random.default_rng(zlib.crc32(example.id.encode()))
            orders.append(random.permutation(len(example.references)))

        questions = [
            self._ask(example, order) for example, order in zip(examples, orders)
        ]
        decoding = Decoding(candidates=1, max_length=self.max_length)

        results = self.model.generate(questions, decoding, [0] * len(questions))
        for example, order, result in zip(examples, orders, results):
            if isinstance(result, Failure):
                raise HarnessError(
                    f"{self.kind}: example '{example.id}': {result.reason}"
                )

            text = (result.candidates if isinstance(result, Generation) else result)[0]
            options = [example.references[k] for k in order]
            letters = string.ascii_uppercase[: len(options)]
            labels = letters if self.by == "letter" else options
            position = read_answer(text, labels, options)

            yield [
                _scores(reference, position is not None and k == order[position])
                for k, reference in enumerate(example.references)
            ]

    def _ask(self, example: Example, order: np.ndarray) -> Example:
        """Return the example with the question as its source."""
        options = [example.references[k] for k in order]
        listing = "\n".join(
            f"{letter}. {option}"
            for letter, option in zip(string.ascii_uppercase, options)
        )

        meta = {
            **example.meta,
            "options": listing if self.by == "letter" else " or ".join(options),
        }
        question = replace(example, source=example.source or QUESTION, meta=meta)
        return replace(example, source=fill_prompt(self.prompt, question))


def _scores(reference: str, chosen: bool) -> TokenScores:
    words = reference.split() or [reference]
    log_probs = np.zeros(len(words))
    log_probs[0] = 0.0 if chosen else -np.inf
    return TokenScores(log_probs, np.full(len(words), int(not chosen)), tuple(words))


def read_answer(text: str, labels: Sequence[str], options: Sequence[str]) -> int | None:
    """Return the position of the option that an answer gives;
    None where it gives none or several.

    Markup, brackets and quotation marks are ignored, and so is case. The answer is the
    label at its beginning, perhaps after words such as *the answer is*; a letter ends
    there or is followed by punctuation or a line break, since *A dog* is no answer A.
    Else it is the only option whose text occurs in it as whole words.

    Parameters
    ----------
    text : str
        The answer.
    labels, options : sequence of str
        Letters of the options, or their texts; and their texts.

    Examples
    --------
    >>> (
    ...     read_answer("**B.** a cat", "AB", ["a dog", "a cat"]),
    ...     read_answer("A dog, I think", "AB", ["a cat", "a dog"]),
    ... )
    (1, 1)
    >>> (
    ...     read_answer("No, there is none.", ["yes", "no"], ["yes", "no"]),
    ...     read_answer("A or B", "AB", ["a cat", "a dog"]),
    ... )
    (1, None)
    """
    plain = _MARKUP.sub("", text).strip()
    names = [_MARKUP.sub("", label).strip().rstrip(".") for label in labels]
    end = r"(?!\w)" if list(labels) == list(options) else r"(?=\s*(?:[.,:;\n]|$))"

    # The longest name comes first: an option may begin with another one.
    by_length = sorted(names, key=len, reverse=True)
    any_name = "|".join(re.escape(name) for name in by_length)
    match = re.match(f"{_LEAD}({any_name}){end}", plain, re.IGNORECASE)
    if match:
        return [name.casefold() for name in names].index(match[1].casefold())
    texts = [
        re.escape(_MARKUP.sub("", option).strip().rstrip(".")) for option in options
    ]
    matches = [
        k
        for k, option in enumerate(texts)
        if re.search(rf"(?<!\w){option}(?!\w)", plain, re.IGNORECASE)
    ]
    return matches[0] if len(matches) == 1 else None
