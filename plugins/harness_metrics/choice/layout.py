"""Token scores of the examples of a run as choices: options, blind companions and
groups, with the checks of their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.contracts import TokenScores
from harness.errors import InputError
from harness_metrics.choice.choices import option_order

Options = Sequence[TokenScores]
"""Token scores of the options of one choice, the correct one first."""


@dataclass(frozen=True)
class Layout:
    """Arrangement of the examples of a task."""

    across: int | None = None
    """Number of consecutive examples, of one reference each, that make one choice;
    None: the references of one example do.
    """
    blind: bool = False
    """True where every example is followed by its companion without image."""
    group: int = 1
    """Number of consecutive choices of a group."""
    options: int | None = None
    """Number of options that every choice must have; None: any number from 2."""


@dataclass(frozen=True)
class Choices:
    """C choices of a task."""

    seen: tuple[Options, ...]
    """Options of each choice."""
    blind: tuple[Options, ...] = ()
    """The same options scored without image; empty without companions."""


def choices_of(metric: str, scores: Sequence[Options], layout: Layout) -> Choices:
    """Return the choices of a task.

    Raises
    ------
    InputError
        For a number of examples that does not divide into choices, companions or
        groups; for a choice of fewer than two options, or of another number than the
        layout needs; for a group whose options are not the same texts, where token
        scores have tokens.
    """
    step = 2 if layout.blind else 1
    unit = (layout.across or 1) * layout.group * step
    if len(scores) % unit:
        raise InputError(
            f"{metric}: {len(scores)} examples do not divide into units of {unit} "
            f"({_describe_units(layout)}); expected a multiple of {unit}"
        )

    seen = _join_options(metric, scores[::step], layout, step, 0)
    blind: tuple[Options, ...] = ()
    if layout.blind:
        blind = _join_options(metric, scores[1::step], layout, step, 1)
    for number, (seen_options, blind_options) in enumerate(zip(seen, blind)):
        if len(seen_options) != len(blind_options):
            raise InputError(
                f"{metric}: choice {number} has {len(seen_options)} options, "
                f"and {len(blind_options)} without its image"
            )

    if layout.group > 1:
        _check_texts(metric, seen, layout.group)
    return Choices(seen, blind)


def _describe_units(layout: Layout) -> str:
    """Return the factors of a unit."""
    factors: list[str] = []
    if layout.across:
        factors.append(f"{layout.across} examples per choice")
    if layout.group > 1:
        factors.append(f"groups of {layout.group} choices")
    if layout.blind:
        factors.append("a companion without image for each example")
    return ", ".join(factors)


def _join_options(
    metric: str, scores: Sequence[Options], layout: Layout, step: int, offset: int
) -> tuple[Options, ...]:
    """Return the options of each choice with their number checked; example k of
    ``scores`` is example k * step + offset of the run.
    """
    choices: list[Options] = []
    if layout.across:
        for number, options in enumerate(scores):
            if len(options) != 1:
                raise InputError(
                    f"{metric}: example {number * step + offset} has {len(options)} "
                    "references; expected 1, because each of "
                    f"{layout.across} consecutive examples is an option"
                )
        for first in range(0, len(scores), layout.across):
            members = scores[first : first + layout.across]
            choices.append([options[0] for options in members])
    else:
        choices.extend(scores)

    # a group has as many captions as images
    expected = layout.group if layout.group > 1 else layout.options
    for number, options in enumerate(choices):
        if len(options) < 2 or (expected is not None and len(options) != expected):
            limit = f"exactly {expected}" if expected is not None else "at least 2"
            noun = "choice" if layout.across else "example"
            position = number if layout.across else number * step + offset
            raise InputError(
                f"{metric}: {noun} {position} has {len(options)} options; "
                f"expected {limit}"
            )
    return tuple(choices)


def _check_texts(metric: str, choices: Sequence[Options], size: int) -> None:
    """Raise :class:`InputError` for a group whose choices do not list the captions of
    the group, own caption first.
    """
    for first in range(0, len(choices), size):
        captions = [choice[0].tokens for choice in choices[first : first + size]]
        # no tokens, or the same answer to different questions
        if len(set(captions)) == 1:
            continue
        for image, choice in enumerate(choices[first : first + size]):
            expected = [captions[k] for k in option_order(image, size)]
            if [option.tokens for option in choice] != expected:
                raise InputError(
                    f"{metric}: choice {first + image} does not list the captions of "
                    "its group; expected its own caption, then those of "
                    f"the other choices {first} to {first + size - 1} in their order"
                )


def totals(metric: str, choices: Sequence[Options], mean: bool) -> list[np.ndarray]:
    """Return the log-likelihoods of the options of each choice in nats, C arrays (m,),
    per token where ``mean`` is True.

    Raises
    ------
    InputError
        For an option without tokens, or a log-probability that is NaN or above 0.
    """
    return [
        np.array([_total(metric, number, option, mean) for option in row])
        for number, row in enumerate(choices)
    ]


def _total(metric: str, number: int, option: TokenScores, mean: bool) -> float:
    """Return the log-likelihood of one option."""
    values = np.asarray(option.log_probs, dtype=np.float64)
    if not len(values):
        raise InputError(
            f"{metric}: an option of choice {number} has no tokens; "
            "expected at least END"
        )

    # written so that NaN is bad too
    bad = ~(values <= 1e-6)
    if bad.any():
        token = int(np.argmax(bad))
        raise InputError(
            f"{metric}: choice {number}, token {token}: "
            f"log-probability {values[token]:g}; expected a number of at most 0"
        )
    return float(values.mean() if mean else values.sum())


def lengths(choices: Sequence[Options]) -> list[np.ndarray]:
    """Return the numbers of tokens of the options of each choice, C arrays (m,)."""
    return [np.array([len(option.log_probs) for option in row]) for row in choices]
