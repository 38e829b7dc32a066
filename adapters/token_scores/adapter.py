"""The ``token-scores`` adapter: a model's probability and rank for every token of every reference, read from a file."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Candidates, Decoding, Example, Generation, PathParam, Prepares, TaskView, TokenScores
from harness.errors import HarnessError, InputError, did_you_mean
from harness.registry import resolve

FIELDS = ("id", "reference", "probabilities", "log_probs", "ranks", "tokens")


class TokenScoresFile:
    """Scores references by looking them up: JSON Lines (``.jsonl``, ``.jsonl.gz``) or Parquet, one record per reference.

    A record holds ``id`` (the example), ``probabilities`` or ``log_probs`` (natural), ``ranks`` (0 = most probable), all of
    one length with END counted and START not; optionally ``reference`` (its index; else records count in file order)
    and ``tokens``. Instead of those, ``references`` may hold a list of such records without ``id``.
    """

    def __init__(self, *, path: PathParam, captions: Any = None) -> None:
        """``captions``: an adapter (name, or name with parameters) that gives the same model's captions, if there are any."""
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("no such file of token scores", str(path))
        self.captions = None if captions is None else resolve("adapters", captions)
        self._scores: dict[str, list[TokenScores]] | None = None

    def fingerprint(self) -> str:
        own = f"+{self.captions.fingerprint()}" if self.captions else ""
        with self.path.open("rb") as file:
            return f"token-scores:{hashlib.file_digest(file, 'sha256').hexdigest()}{own}"

    def prepare(self, task: TaskView) -> None:
        if isinstance(self.captions, Prepares):
            self.captions.prepare(task)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterable[Candidates | Generation]:
        if self.captions is not None:
            return self.captions.generate(examples, decoding, seeds)
        raise HarnessError(
            f"the adapter 'token-scores' ({self.path}) holds token scores and no captions:"
            " use it with metrics of level 'model' only, or give captions: an adapter for them"
        )

    def score_references(self, examples: Sequence[Example]) -> Iterator[list[TokenScores]]:
        """The file's scores of each example; raises :class:`InputError` for an example that it lacks, or scores in part."""
        table = self._table()
        for example in examples:
            found = table.get(example.id)
            if found is None:
                hint = did_you_mean(example.id, table)
                raise InputError(f"no token scores for the example '{example.id}'{hint}", str(self.path))
            if len(found) != len(example.references):
                raise InputError(
                    f"{len(found)} scored references for the example '{example.id}', which has {len(example.references)}",
                    str(self.path),
                )
            yield found

    def _table(self) -> dict[str, list[TokenScores]]:
        if self._scores is None:
            self._scores = read_token_scores(self.path)
        return self._scores


def read_token_scores(path: Path) -> dict[str, list[TokenScores]]:
    """Example id -> its references' scores in order; raises :class:`InputError` with the line (or record) at fault."""
    table: dict[str, dict[int, TokenScores]] = {}
    for where, record in _records(path):
        key = record.get("id")
        if not isinstance(key, (str, int)) or isinstance(key, bool):
            raise InputError(f"'id' is {key!r}, expected the example's id", where)
        own = table.setdefault(str(key), {})
        parts = record.get("references")
        if parts is not None and (not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts)):
            raise InputError("'references' is no list of records with probabilities and ranks", where)
        for part in [record] if parts is None else parts:
            index = part.get("reference")
            index = len(own) if index is None else index
            if not isinstance(index, int) or isinstance(index, bool) or index < 0:
                raise InputError(f"'reference' is {index!r}, expected an index from 0", where)
            if index in own:
                raise InputError(f"reference {index} of the example '{key}' is given a second time", where)
            own[index] = _token_scores(part, where)
        if not own:
            raise InputError(f"the example '{key}' has no references", where)
    if not table:
        raise InputError("the file holds no token scores", str(path))
    for key, own in table.items():
        if max(own) != len(own) - 1:
            lacking = next(k for k in range(len(own)) if k not in own)
            raise InputError(f"reference {lacking} of the example '{key}' is missing", str(path))
    return {key: [own[k] for k in range(len(own))] for key, own in table.items()}


def _token_scores(record: Mapping[str, Any], where: str) -> TokenScores:
    for field in record:
        if field not in (*FIELDS, "references"):
            raise InputError(f"unknown field '{field}'{did_you_mean(field, FIELDS)}", where)
    given = [name for name in ("probabilities", "log_probs") if record.get(name) is not None]
    if len(given) != 1:
        raise InputError("expected one of 'probabilities' and 'log_probs'", where)
    values, ranks = _numbers(record, given[0], where), _numbers(record, "ranks", where)
    tokens = record.get("tokens")
    tokens = () if tokens is None else tuple(tokens)
    if not len(values):
        raise InputError("the reference has no tokens; at least END is scored", where)
    if len(ranks) != len(values) or (tokens and len(tokens) != len(values)):
        raise InputError(f"{len(values)} {given[0]}, {len(ranks)} ranks and {len(tokens) or 'no'} tokens", where)
    if given[0] == "probabilities":
        _check(~((values >= 0) & (values <= 1)), values, "probability", "a number in [0, 1]", where)
        with np.errstate(divide="ignore"):
            values = np.log(values)
    else:
        _check(~(values <= 0), values, "log-probability", "a number of at most 0", where)
    whole = (ranks >= 0) & (ranks < 2**53) & (ranks == np.floor(ranks))
    _check(~whole, ranks, "rank", "an integer of at least 0 (0 = most probable)", where)
    return TokenScores(values, ranks.astype(np.int64), tokens)


def _check(bad: np.ndarray, values: np.ndarray, what: str, expected: str, where: str) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"{what} {float(values[at])!r} of token {at}, expected {expected}", where)


def _numbers(record: Mapping[str, Any], name: str, where: str) -> np.ndarray:
    value = record.get(name)
    if not isinstance(value, (list, np.ndarray)):
        raise InputError(f"'{name}' is {value!r}, expected a list of numbers", where)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None or array.ndim != 1 or any(isinstance(item, (str, bool)) for item in value):
        raise InputError(f"'{name}' is no flat list of numbers", where)
    return array


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(where, record) of each line or row."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(path)
            rows = (row for batch in file.iter_batches(4096) for row in batch.to_pylist())
            for number, row in enumerate(rows, 1):
                yield f"{path}: record {number}", {key: value for key, value in row.items() if value is not None}
        except pa.ArrowInvalid as error:
            raise InputError(f"no readable Parquet file: {error}", str(path)) from error
        return
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            where = f"{path}:{number}"
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(f"no JSON: {error.msg} at column {error.colno}", where) from error
            if not isinstance(record, dict):
                raise InputError(f"found a {type(record).__name__}, expected an object", where)
            yield where, record
