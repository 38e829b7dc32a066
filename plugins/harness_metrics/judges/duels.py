"""Duels of two captions before a judge, in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_metrics.bases.example_values import mean_of_defined
from harness_metrics.judges import prompts
from harness_metrics.judges.answers import Verdict, read_choice, verdict_of
from harness_metrics.judges.judge import Judge

CRITERION = (
    "it describes the image more correctly, says more of what matters in it, "
    "and reads better"
)
"""Default meaning of *better*."""
_READ = read_choice("better", ("A", "B", "tie"))
_POINTS = {"A": 1.0, "tie": 0.5, "B": 0.0}


@dataclass(frozen=True, slots=True)
class Duel:
    """Two captions of one image, with what the judge sees beside them."""

    first: str
    second: str
    references: tuple[str, ...] = ()
    source: str | None = None
    media: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one duel in both orders."""

    forward: Verdict[str]
    """Verdict with the first caption as A."""
    backward: Verdict[str]
    """Verdict with the first caption as B."""

    @property
    def points(self) -> float:
        """Points of the first caption: the mean of both orders (0.5 where they
        contradict each other); NaN if one has no answer.
        """
        if self.forward.value is None or self.backward.value is None:
            return float("nan")
        return (_POINTS[self.forward.value] + 1.0 - _POINTS[self.backward.value]) / 2.0

    @property
    def for_first_place(self) -> float:
        """Share of decisions for the caption in the first place (A), ties one half; 0.5
        without bias of position, NaN as ``points``.
        """
        if self.forward.value is None or self.backward.value is None:
            return float("nan")
        return (_POINTS[self.forward.value] + _POINTS[self.backward.value]) / 2.0

    @property
    def contradicts(self) -> bool:
        """True when both orders prefer the same place, that is, different captions."""
        return {self.forward.value, self.backward.value} in ({"A"}, {"B"})


def fight(
    judge: Judge, duels: Sequence[Duel], criterion: str, template: str
) -> list[Outcome]:
    """Return the outcomes of duels; equal captions tie without a request."""
    contests = [duel for duel in duels if duel.first != duel.second]

    # Models prefer a position: both orders are asked, and a preference that follows the
    # position is a tie.
    texts: list[str] = []
    media: list[str | None] = []
    for duel in contests:
        texts.append(_prompt(duel.first, duel.second, duel, criterion, template))
        texts.append(_prompt(duel.second, duel.first, duel, criterion, template))
        media += [duel.media, duel.media]
    verdicts = iter(judge.ask(texts, lambda reply: verdict_of(reply, _READ), media))

    tie: Verdict[str] = Verdict("valid", "tie", 0)
    outcomes: list[Outcome] = []
    for duel in duels:
        if duel.first == duel.second:
            outcomes.append(Outcome(tie, tie))
        else:
            outcomes.append(Outcome(next(verdicts), next(verdicts)))
    return outcomes


def _prompt(first: str, second: str, duel: Duel, criterion: str, template: str) -> str:
    return prompts.fill(
        template,
        {
            "first": prompts.quote_caption(first),
            "second": prompts.quote_caption(second),
            "context": prompts.context(duel.references, duel.source),
            "criterion": criterion,
        },
    )


def mean_points(outcomes: Sequence[Outcome]) -> float:
    """Return the mean of the defined points; NaN without any."""
    return mean_of_defined([outcome.points for outcome in outcomes])
