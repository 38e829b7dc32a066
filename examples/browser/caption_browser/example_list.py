"""Examples of a run as a list that is searched, filtered and sorted by any score: the
data behind ``harness inspect``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

import numpy as np

from harness.errors import InputError
from harness.reporting.captions import system_heads
from harness.results import P_PREFIX, Run

MAX_TEXT = 2000
"""Number of characters of a text beyond which it is cut."""
Quantity = Literal["score", "p"]
Sort = Literal["run", "difference"] | int
"""Order of the list: that of the run, the largest difference between systems first, or
the column of one system.
"""
_CONDITION = re.compile(
    r"(score|p|diff)(<=|>=|<|>)(-?\d+(?:\.\d+)?(?:e-?\d+)?)", re.IGNORECASE
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Texts:
    """Texts in their order, equal ones once with their number of occurrences,
    and the score of the set.
    """

    counted: tuple[tuple[str, int], ...]
    score: float | None = None

    @classmethod
    def of(cls, texts: Sequence[str], score: float | None = None) -> Texts:
        """Return the texts with equal ones counted."""
        return cls(tuple(Counter(texts).items()), score)


@dataclass(frozen=True)
class Candidates:
    """The candidates of one system for an example."""

    system: str
    texts: Texts
    scores: tuple[tuple[str, float, float | None], ...]
    """(metric, score, p-value or None) for every metric with a score."""


@dataclass(frozen=True)
class Detail:
    """One example with its references and the candidates of every system that has
    some.
    """

    example: str
    references: Texts
    systems: tuple[Candidates, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of the references, in lower case."""
        return frozenset(
            word for text, _ in self.references.counted for word in words_of(text)
        )


class ExampleList:
    """Examples of a run with the numbers of every system."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.samples = run.samples
        self.systems = self.samples.systems
        self.heads = system_heads(self.systems)
        self.metrics = self.samples.metrics
        self.ids: tuple[str, ...] = tuple(
            dict.fromkeys(name for system in self.systems for name in system.examples)
        )
        place = {name: k for k, name in enumerate(self.ids)}
        self.rows = np.full((len(self.systems), len(self.ids)), -1, dtype=np.int64)
        """Row of a system and example in the samples, shape (S, E); -1: none."""
        for s, system in enumerate(self.systems):
            self.rows[s, [place[name] for name in system.examples]] = system.rows

    def __len__(self) -> int:
        return len(self.ids)

    def has_p(self, metric: str) -> bool:
        """Return True where the metric has p-values per example."""
        return f"{P_PREFIX}{metric}" in self.samples

    def values(self, metric: str, quantity: Quantity = "score") -> np.ndarray:
        """Return scores or p-values, float64, shape (S, E); NaN where there is none."""
        name = metric if quantity == "score" else f"{P_PREFIX}{metric}"
        if not metric or name not in self.samples:
            return np.full(self.rows.shape, np.nan)
        return np.where(self.rows >= 0, self.samples.numbers(name)[self.rows], np.nan)

    def spread(self, metric: str, quantity: Quantity = "score") -> np.ndarray:
        """Return the largest difference between systems per example, shape (E,); NaN
        with fewer than two values.
        """
        values = self.values(metric, quantity)
        defined = np.isfinite(values).sum(axis=0) > 1
        high = np.where(np.isfinite(values), values, -np.inf).max(0)
        low = np.where(np.isfinite(values), values, np.inf).min(0)
        return (
            np.where(defined, high - low, np.nan)
            if len(values)
            else np.full(len(self.ids), np.nan)
        )

    def order(
        self,
        metric: str,
        sort: Sort = "run",
        *,
        quantity: Quantity = "score",
        descending: bool = True,
        query: str = "",
    ) -> np.ndarray:
        """Return the numbers of the examples to show, in their order.

        Parameters
        ----------
        metric : str
            Label of the metric whose numbers sort and filter; empty: none.
        sort : {"run", "difference"} or int
            Order; an integer is the number of a system. Ties keep the order of the run,
            undefined numbers come last.
        quantity : {"score", "p"}
            Numbers that are sorted.
        descending : bool
            Largest first.
        query : str
            Words that the id or a text of the example holds, all of them, and
            conditions such as ``score<0.2``, ``p<=0.05`` (of any system) and
            ``diff>0.1`` (between systems).

        Raises
        ------
        InputError
            A condition on p-values that the metric does not have.
        """
        places = np.flatnonzero(self._matching(metric, query))
        if sort == "run":
            return places if descending else places[::-1]
        key = (
            self.spread(metric, quantity)
            if sort == "difference"
            else self.values(metric, quantity)[cast(int, sort)]
        )
        key = key[places]
        ranked = np.argsort(
            np.where(np.isfinite(key), -key if descending else key, np.inf),
            kind="stable",
        )
        return places[ranked]

    def _matching(self, metric: str, query: str) -> np.ndarray:
        """Return True for the examples that a query selects, shape (E,)."""
        inside = np.ones(len(self.ids), dtype=bool)
        terms: list[str] = []
        for token in query.split():
            match = _CONDITION.fullmatch(token)
            if match is None:
                terms.append(token.casefold())
            else:
                inside &= self._holds(
                    metric, match[1].lower(), match[2], float(match[3])
                )
        for term in terms:
            inside &= np.fromiter(
                (term in text for text in self._texts), bool, len(self.ids)
            )
        return inside

    def _holds(self, metric: str, name: str, sign: str, bound: float) -> np.ndarray:
        if name == "p" and not self.has_p(metric):
            raise InputError(f"{metric or 'the run'} has no p-values per example")
        values = (
            self.spread(metric)
            if name == "diff"
            else self.values(metric, "p" if name == "p" else "score")
        )
        compare = {
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
        }[sign]
        with np.errstate(invalid="ignore"):
            holds = compare(values, bound)
        return holds if holds.ndim == 1 else holds.any(axis=0)

    @cached_property
    def _texts(self) -> Sequence[str]:
        """Id and texts of each example in one lower-case text, for the search."""
        parts: list[list[str]] = [[name] for name in self.ids]
        candidates = self.samples["candidates"]
        references = self.samples["references"]
        for e, column in enumerate(self.rows.T):
            rows = [int(row) for row in column if row >= 0]
            parts[e] += [
                text for row in rows for text in cast("Sequence[str]", candidates[row])
            ]
            parts[e] += cast("Sequence[str]", references[rows[0]]) if rows else []
        return ["\n".join(texts).casefold() for texts in parts]

    def detail(self, number: int) -> Detail:
        """Return an example by its number: references,
        candidates and scores of every system.
        """
        rows = [(s, int(row)) for s, row in enumerate(self.rows[:, number]) if row >= 0]
        references = (
            cast("Sequence[str]", self.samples["references"][rows[0][1]])
            if rows
            else ()
        )
        systems = tuple(
            Candidates(
                self.heads[s],
                Texts.of(cast("Sequence[str]", self.samples["candidates"][row])),
                self._scores(row),
            )
            for s, row in rows
        )
        return Detail(self.ids[number], Texts.of(references), systems)

    def _scores(self, row: int) -> tuple[tuple[str, float, float | None], ...]:
        scores: list[tuple[str, float, float | None]] = []
        for metric in self.metrics:
            value = float(self.samples.numbers(metric)[row])
            p = (
                float(self.samples.numbers(f"{P_PREFIX}{metric}")[row])
                if self.has_p(metric)
                else None
            )
            if np.isfinite(value):
                scores.append((metric, value, p))
        return tuple(scores)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case.

    >>> words_of("A dog's tail.")
    ['a', 'dog', 's', 'tail']
    """
    return [word.casefold() for word in _WORD.findall(text)]


def matched(text: str, words: frozenset[str]) -> list[tuple[str, bool]]:
    """Return the parts of a text and whether each is a word among ``words``.

    >>> matched("A dog.", frozenset({"dog"}))
    [('A', False), (' ', False), ('dog', True), ('.', False)]
    """
    parts = re.findall(r"\w+|\W+", text)
    return [(part, part.casefold() in words) for part in parts]


def visible(text: str) -> str:
    """Return a text for a terminal: control and formatting characters as escapes,
    long texts cut.

    >>> visible("a\\x1b[31m b")
    'a\\\\x1b[31m b'
    """
    cut = text[:MAX_TEXT]
    visible = "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and character != "\u200d"
        else character
        for character in cut
    )
    return (
        visible
        if len(text) <= MAX_TEXT
        else f"{visible} … (+{len(text) - MAX_TEXT} characters)"
    )
