"""The ``token-scores`` adapter: probabilities and ranks of the tokens of all
references, read from a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import (
    Candidates,
    Decoding,
    Example,
    Generation,
    PathParam,
    Prepares,
    TaskView,
    TokenScores,
)
from harness.errors import HarnessError, InputError, did_you_mean
from harness.files.records import json_lines, parquet_rows
from harness.files.user_files import is_parquet
from harness.registry import resolve

FIELDS = ("id", "reference", "probabilities", "log_probs", "ranks", "tokens")
"""Fields of a record."""


class TokenScoresFile:
    """Token scores from JSON Lines (gzipped or not) or Parquet,
    one record per reference.

    A record has ``id`` (of the example), ``probabilities`` or ``log_probs`` (natural
    logarithm), and ``ranks`` (0 = most probable), lists of equal length with one entry
    per predicted token, END included and START excluded. It may have ``reference``
    (index of the reference; default: the order in the file) and ``tokens``.
    Alternatively, ``references`` is a list of such records without ``id``.

    Parameters
    ----------
    path
        The file.
    captions
        An adapter, by name or ``{name: {params}}``, that gives captions of the same
        model.

    Raises
    ------
    InputError
        If the file is missing; in :meth:`score_references` for an invalid record and
        for examples that the file lacks.
    """

    def __init__(self, *, path: PathParam, captions: Any = None) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("no such file of token scores", str(path))
        self.captions = None if captions is None else resolve("adapters", captions)
        self._scores: dict[str, list[TokenScores]] | None = None

    def fingerprint(self) -> str:
        """Return a hash of the file and the fingerprint of the adapter of captions."""
        captions = f"+{self.captions.fingerprint()}" if self.captions else ""
        with self.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return f"token-scores:{digest}{captions}"

    def prepare(self, task: TaskView) -> None:
        """Call ``prepare`` of the adapter of captions if it has that method."""
        if isinstance(self.captions, Prepares):
            self.captions.prepare(task)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterable[Candidates | Generation]:
        """Return the results of the adapter of captions;
        raise :class:`HarnessError` if there is none.
        """
        if self.captions is not None:
            return self.captions.generate(examples, decoding, seeds)
        raise HarnessError(
            f"the adapter 'token-scores' ({self.path}) "
            "contains token scores and no captions:"
            " use it with metrics of level 'model' only, or give an adapter as captions"
        )

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterator[list[TokenScores]]:
        """Yield the scores of the references of each example; raise :class:`InputError`
        if the file lacks some of them.
        """
        table = self._table()
        for example in examples:
            scores = table.get(example.id)
            if scores is None:
                hint = did_you_mean(example.id, table)
                raise InputError(
                    f"no token scores for the example '{example.id}'{hint}",
                    str(self.path),
                )

            if len(scores) != len(example.references):
                raise InputError(
                    f"{len(scores)} scored references for the example "
                    f"'{example.id}', which has {len(example.references)}",
                    str(self.path),
                )

            yield scores

    def _table(self) -> dict[str, list[TokenScores]]:
        if self._scores is None:
            self._scores = read_token_scores(self.path)
        return self._scores


def read_token_scores(path: Path) -> dict[str, list[TokenScores]]:
    """Return the scores of the references of each example, by example id; raise
    :class:`InputError` with the line of an invalid record.
    """
    table: dict[str, dict[int, TokenScores]] = {}
    for location, record in _records(path):
        key = record.get("id")
        if not isinstance(key, (str, int)) or isinstance(key, bool):
            raise InputError(
                f"'id' is {key!r}, expected the id of an example", location
            )
        by_index = table.setdefault(str(key), {})

        records = record.get("references")
        if records is not None and (
            not isinstance(records, list)
            or not all(isinstance(entry, Mapping) for entry in records)
        ):
            raise InputError(
                "'references' is not a list of records with probabilities and ranks",
                location,
            )

        for entry in [record] if records is None else records:
            index = entry.get("reference")
            index = len(by_index) if index is None else index
            if not isinstance(index, int) or isinstance(index, bool) or index < 0:
                raise InputError(
                    f"'reference' is {index!r}, expected an index from 0", location
                )
            if index in by_index:
                raise InputError(
                    f"reference {index} of the example '{key}' occurs twice", location
                )
            by_index[index] = _token_scores(entry, location)

        if not by_index:
            raise InputError(f"the example '{key}' has no references", location)

    if not table:
        raise InputError("the file holds no token scores", str(path))

    # Numbered references may come in any order, but none may be absent.
    for key, by_index in table.items():
        if max(by_index) != len(by_index) - 1:
            missing = next(k for k in range(len(by_index)) if k not in by_index)
            raise InputError(
                f"reference {missing} of the example '{key}' is missing", str(path)
            )

    return {
        key: [by_index[k] for k in range(len(by_index))]
        for key, by_index in table.items()
    }


def _token_scores(record: Mapping[str, Any], location: str) -> TokenScores:
    for field in record:
        if field not in (*FIELDS, "references"):
            raise InputError(
                f"unknown field '{field}'{did_you_mean(field, FIELDS)}", location
            )

    names = [
        name for name in ("probabilities", "log_probs") if record.get(name) is not None
    ]
    if len(names) != 1:
        raise InputError("expected one of 'probabilities' and 'log_probs'", location)
    values = _numbers(record, names[0], location)
    ranks = _numbers(record, "ranks", location)

    tokens = record.get("tokens")
    if tokens is not None and not isinstance(tokens, (list, np.ndarray)):
        raise InputError(
            f"'tokens' is {tokens!r:.80}, expected a list of texts", location
        )
    tokens = () if tokens is None else tuple(tokens)

    if not len(values):
        raise InputError("the reference has no tokens; expected at least END", location)
    if len(ranks) != len(values) or (tokens and len(tokens) != len(values)):
        raise InputError(
            f"{len(values)} {names[0]}, {len(ranks)} ranks and {len(tokens) or 'no'} "
            "tokens",
            location,
        )

    if names[0] == "probabilities":
        wrong = ~((values >= 0) & (values <= 1))
        _check(wrong, values, "probability", "a number in [0, 1]", location)
        with np.errstate(divide="ignore"):
            values = np.log(values)
    else:
        wrong = ~(values <= 0)
        _check(wrong, values, "log-probability", "a number of at most 0", location)

    valid = (ranks >= 0) & (ranks < 2**53) & (ranks == np.floor(ranks))
    expected = "an integer of at least 0 (0 = most probable)"
    _check(~valid, ranks, "rank", expected, location)
    return TokenScores(values, ranks.astype(np.int64), tokens)


def _check(
    bad: np.ndarray, values: np.ndarray, noun: str, expected: str, location: str
) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"{noun} {float(values[at])!r} of token {at}, expected {expected}", location
        )


def _numbers(record: Mapping[str, Any], name: str, location: str) -> np.ndarray:
    value = record.get(name)
    if not isinstance(value, (list, np.ndarray)):
        raise InputError(
            f"'{name}' is {value!r:.80}, expected a list of numbers", location
        )
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = None

    if (
        array is None
        or array.ndim != 1
        or any(isinstance(item, (str, bool)) for item in value)
    ):
        raise InputError(f"'{name}' is not a flat list of numbers", location)
    return array


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (location, record) of each line or row."""
    if path.suffix == ".parquet" or is_parquet(path):
        for location, row in parquet_rows(path):
            yield (
                location,
                {key: value for key, value in row.items() if value is not None},
            )
    else:
        yield from json_lines(path, constants=True)
