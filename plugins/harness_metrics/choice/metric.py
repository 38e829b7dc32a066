"""The metric ``choice``, of level ``model``: accuracy of choices by likelihood, group
scores and a blind baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np

from harness.contracts import Interval, MetricSpec, Parameterised, TokenScores
from harness.contracts.parameters import Count, Ge, check_arguments
from harness.errors import HarnessError
from harness_metrics.choice import choices, intervals, parts
from harness_metrics.choice.layout import Layout, choices_of, lengths, totals

Scores = Sequence[Sequence[TokenScores]]


Choices = Annotated[int, Ge(2)]

COLUMNS = (
    "accuracy",
    "chance",
    "shortest",
    "text",
    "image",
    "group",
    "blind accuracy",
    "gain",
    "debiased accuracy",
    "unparsed",
)
"""All possible columns of the whole task."""


class Choice(parts.ByParts, Parameterised):
    """Share of choices in which the model gives the correct option the strictly highest
    likelihood, in [0, 1]; higher is better.

    The options of a choice are the references of an example, the correct one first. The
    columns are ``accuracy``; ``chance``, the accuracy of a random choice; ``shortest``,
    that of the option with the fewest tokens; with ``group`` also ``text``, ``image``
    and ``group``; with ``blind`` also ``blind accuracy``, ``gain`` (accuracy minus
    blind accuracy, in [-1, 1]) and ``debiased accuracy``; and ``unparsed``, the share
    of answers that cannot be read (adapter ``generated-answers``), where there are any.

    Parameters
    ----------
    score : {"sum", "mean"}
        Log-likelihood of an option, or its mean per token.
    options : int, optional
        Number of options that every choice must have; any number from 2 by default.
    group : int, default 1
        Number g of consecutive choices that share g captions, as in Winoground (2). The
        i-th choice of a group lists the caption of its image, then those of the others
        in the order of the group.
    across : int, optional
        Number of consecutive examples, each with one reference, that are the options of
        one choice (VQAScore: the answer "Yes" to a question about each caption); the
        first is correct.
    blind : bool, default False
        Every example is followed by a companion without image: the same references,
        scored from the text alone.
    by : str, optional
        Field of the metadata, such as the kind of foil (SugarCrepe) or the tag
        (Winoground). Every column but ``chance`` then occurs for each value too, as
        ``accuracy, kind=swap_att``, over the choices or groups of that value. Works in
        runs, which have metadata.

    Raises
    ------
    HarnessError
        For a parameter out of range, or ``options`` other than ``group``.

    References
    ----------
    Thrush et al. 2022, *Winoground*; Hsieh et al. 2023, *SugarCrepe*; Shekhar et al.
    2017, *FOIL it!*; Lin et al. 2024, *Evaluating Text-to-Visual Generation with
    Image-to-Text Generation* (VQAScore); Lin et al. 2024, *Revisiting the Role of
    Language Priors in Vision-Language Models* (the debiased score).
    """

    @check_arguments
    def __init__(
        self,
        *,
        score: Literal["sum", "mean"] = "sum",
        options: Choices | None = None,
        group: Count = 1,
        across: Choices | None = None,
        blind: bool = False,
        by: str | None = None,
    ) -> None:
        if group > 1 and options not in (None, group):
            raise HarnessError(
                f"choice: options is {options} and group {group}; "
                "a group has as many captions as choices",
                parameter="options",
                value=options,
            )

        self.mean = score == "mean"
        self.layout = Layout(across, bool(blind), group, options)
        self.by = parts.check_key("choice", by)
        needs = frozenset({"references", "logprobs"})
        self.spec = MetricSpec(
            "choice",
            True,
            level="model",
            needs=needs,
            column_names=COLUMNS,
            undirected=("chance", "shortest", "unparsed"),
        )

    def signature(self) -> str:
        """Return the settings as text, such as ``choice|sum|group:2|blind``."""
        layout = self.layout
        settings = ["choice", "mean" if self.mean else "sum"]
        if layout.options:
            settings.append(f"options:{layout.options}")
        if layout.group > 1:
            settings.append(f"group:{layout.group}")
        if layout.across:
            settings.append(f"across:{layout.across}")
        if self.by:
            settings.append(f"by:{self.by}")
        if layout.blind:
            settings.append("blind")
        return "|".join(settings)

    def evaluate_scores(self, scores: Scores) -> dict[str, float]:
        """Return column -> number.

        Raises
        ------
        InputError
            As :func:`harness_metrics.choice.layout.choices_of` and
            :func:`harness_metrics.choice.layout.totals`.
        """
        return {
            name: float(values.mean()) for name, values in self._units(scores).items()
        }

    def per_example(self, scores: Scores) -> dict[str, np.ndarray]:
        """Return ``accuracy``, ``chance`` and ``shortest`` (B,) where an example is a
        choice, else no column.
        """
        if self.layout.across or self.layout.blind:
            return {}
        return self._of_choices(scores)

    def intervals(self, scores: Scores, samples: int, seed: int) -> dict[str, Interval]:
        """Return column -> interval: choices, or groups of choices,
        are the independent units.
        """
        out: dict[str, Interval] = {}
        for name, values in self._units(scores).items():
            if name == "chance":
                out[name] = Interval(None, intervals.FIXED)
                continue
            # the gain of a part is called "gain, kind=..."
            bounds = (-1.0, 1.0) if name.partition(",")[0] == "gain" else (0.0, 1.0)
            out[name] = intervals.of_share(values, samples, seed, bounds)
        return out

    def _of_choices(self, scores: Scores) -> dict[str, np.ndarray]:
        """Return the columns that every choice has, shape (C,)."""
        items = choices_of("choice", scores, self.layout)
        seen = totals("choice", items.seen, self.mean)
        columns = {
            "accuracy": choices.mark_correct(seen),
            "chance": choices.chance(seen),
            "shortest": choices.shortest(lengths(items.seen)),
        }
        if (unparsed := choices.mark_unparsed(seen)).any():
            columns["unparsed"] = unparsed

        if self.layout.blind:
            blind = totals("choice", items.blind, self.mean)
            columns["blind accuracy"] = choices.mark_correct(blind)
            columns["gain"] = columns["accuracy"] - columns["blind accuracy"]
            # two probabilities of 0 have no ratio: the option is not higher
            with np.errstate(invalid="ignore"):
                ratios = [row - blind_row for row, blind_row in zip(seen, blind)]
            columns["debiased accuracy"] = choices.mark_correct(ratios)
        return columns

    def _units(self, scores: Scores) -> dict[str, np.ndarray]:
        """Return the columns per independent unit, shape (U,): choices, or groups."""
        columns = self._of_choices(scores)
        size = self.layout.group
        if size > 1:
            items = choices_of("choice", scores, self.layout).seen
            groups = choices.arrange_groups(totals("choice", items, self.mean), size)
            means = {
                name: values.reshape(-1, size).mean(axis=1)
                for name, values in columns.items()
            }
            columns = {**means, **choices.score_groups(groups)}
        if self.by is None:
            return columns

        unit = (self.layout.across or 1) * size * (2 if self.layout.blind else 1)
        units = parts.units_of("choice", self._values, self.by, unit)
        out = dict(columns)
        for subset, rows in units.items():
            for name, values in columns.items():
                if name != "chance":
                    out[parts.column(name, self.by, subset)] = values[rows]
        return out
