"""One caption from a set of captions, by a judge model."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from harness_metrics.judges import prompts
from harness_metrics.judges.answers import Verdict, verdict_of_text
from harness_metrics.judges.judge import Judge, JudgeSpec, resolve_judge


class Summariser:
    """A judge that writes one caption from several.

    Parameters
    ----------
    judge : mapping, Backend or Judge
        See :func:`~harness_metrics.judges.judge.resolve_judge`; requests are not
        repeated.
    prompt : str, optional
        Template with ``{candidates}``.

    Raises
    ------
    HarnessError
        For a judge that cannot be created, and a prompt without its place.

    References
    ----------
    Chan et al. 2023, *IC3: Image Captioning by Committee Consensus*, section 3.
    """

    def __init__(self, judge: JudgeSpec, prompt: str | None = None) -> None:
        self.judge: Judge = copy.copy(resolve_judge(judge, "consensus"))
        self.judge.repeats = 0  # the reminder of a repetition speaks of JSON
        self.prompt = prompts.check_template(
            prompt or prompts.SUMMARY, ("candidates",), "consensus"
        )

    def signature(self) -> str:
        """Return the prompt and the signature of the judge."""
        return f"{prompts.prompt_key(self.prompt)}|{self.judge.signature()}"

    def summaries(self, sets: Sequence[Sequence[str]]) -> list[Verdict[str]]:
        """Return one caption per set of captions, as verdicts; lines are joined and
        enclosing quotation marks removed.
        """
        texts = [
            prompts.fill(self.prompt, {"candidates": prompts.listing(captions)})
            for captions in sets
        ]
        return self.judge.ask(texts, lambda reply: verdict_of_text(reply))


def plain(text: str) -> str:
    """Return a caption on one line, without enclosing quotation marks.

    >>> plain('"A dog\\n runs."')
    'A dog runs.'
    """
    line = " ".join(text.split())
    if len(line) > 2 and line[0] in "\"“'" and line[-1] in "\"”'":
        return line[1:-1].strip()
    return line
