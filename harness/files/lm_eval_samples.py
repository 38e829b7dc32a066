"""Samples of lm-eval, as records of ids, candidates and references."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from harness.errors import InputError
from harness.files.captions import identity
from harness.files.log_fields import prefix_fields
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue

LM_EVAL_RESPONSES = frozenset(("filtered_resps", "resps"))
"""Fields of a line of a file ``samples_TASK_DATE.jsonl`` of lm-eval, at least one of
them beside ``doc_id``.
"""
RESPONSES = "resps"
"""Column of all responses to a document, where a file has more of them than filtered
ones.
"""


def lm_eval_rows(rows: Iterable[Record]) -> Iterator[Record]:
    """Yield one record per document: ``id``, ``candidates``, ``references`` (the
    target), and the texts, numbers and lists of texts of the document as ``doc.NAME``.

    A file with several filters has an object of them in ``candidates``: filter ->
    texts. Where a document has more responses than filtered ones (``repeats`` of
    lm-eval), all of them are in the column :data:`RESPONSES`.

    Raises :class:`InputError` for responses that are not texts (log-likelihoods of a
    multiple-choice task).
    """
    documents: dict[str, tuple[Record, dict[str, list[str]]]] = {}
    for row in rows:
        key = identity(row.fields.get("doc_id"), row.where, "doc_id")
        name = str(row.fields.get("filter", "none"))
        _, filters = documents.setdefault(key, (row, {}))
        if name in filters:
            raise InputError(
                f"the document '{key}' occurs twice with the filter '{name}'", row.where
            )
        responses = row.fields.get("filtered_resps", row.fields.get("resps"))
        filters[name] = list(_texts(responses, row.where))

    # All records have the same columns: that of all responses where one has more.
    responses = {key: _responses(row) for key, (row, _) in documents.items()}
    has_more = any(
        len(responses[key]) > len(next(iter(filters.values())))
        for key, (_, filters) in documents.items()
    )

    for key, (row, filters) in documents.items():
        (first, *others) = filters.values()
        values = {
            "id": key,
            "candidates": filters if others else first,
            "references": _target(row.fields.get("target")),
        }
        values |= {RESPONSES: responses[key]} if has_more else {}
        yield Record(row.where, values | prefix_fields("doc", row.fields.get("doc")))


def _responses(row: Record) -> list[str]:
    """Return all responses to a document; empty where they are no texts."""
    try:
        return list(_texts(row.fields.get("resps"), row.where))
    except InputError:
        return []


def _target(value: YamlValue) -> YamlValue:
    """Return a target; a list that was written as the text of a Python list is a list
    again.

    >>> _target("['a dog', 'the dog']"), _target("a dog")
    (['a dog', 'the dog'], 'a dog')
    """
    if not isinstance(value, str):
        return value
    if value[:2] not in ("['", '["') or not value.endswith("]"):
        return value
    try:
        texts = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    are_texts = isinstance(texts, list) and all(isinstance(t, str) for t in texts)
    return texts if are_texts else value


def _texts(value: YamlValue, location: str) -> Iterator[str]:
    """Yield the texts of a response, which are in lists of any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and not _is_likelihood(value):
        for item in value:
            yield from _texts(item, location)
    else:
        raise InputError(
            f"a response is {kind(value)}; expected text (tasks of lm-eval that "
            "score choices generate no texts)",
            location,
        )


def _is_likelihood(value: list[YamlValue]) -> bool:
    """Return True for a log-likelihood and its flag, as numbers or, as lm-eval writes
    them, as texts.
    """
    return (
        len(value) == 2
        and str(value[1]) in ("True", "False")
        and str(value[0]).replace(".", "").lstrip("-").isdigit()
    )
