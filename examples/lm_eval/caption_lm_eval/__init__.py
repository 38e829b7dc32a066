"""Metrics of caption-harness as metrics of lm-eval: ``caption_bleu4``,
``caption_meteor``, ``caption_rouge``, ``caption_cider``.

Each is registered with :func:`lm_eval.api.registry.register_metric`. Its aggregation
gets the answers and references of all documents, so that the numbers of a corpus
(document frequencies, BLEU) are those of ``harness.score``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from lm_eval.api.registry import register_aggregation, register_metric

import harness

METRICS = ("bleu4", "meteor", "rouge", "cider")
Item = tuple[Sequence[str], Sequence[str]]
"""References and answers of a document."""


def aggregate(name: str, items: Sequence[Item]) -> float:
    """Return a metric of the harness over all documents."""
    references, answers = zip(*items)
    return harness.score(
        [list(texts) for texts in answers],
        [list(texts) for texts in references],
        name,
        bootstrap=0,
    )[name].value


def process_results(
    doc: Mapping[str, Any], results: Sequence[str | Sequence[str]]
) -> dict[str, Item]:
    """Return the item of each metric for a document with ``references``; several
    answers (``repeats``) are a set of candidates.
    """
    answers = [results[0]] if isinstance(results[0], str) else list(results[0])
    return {f"caption_{name}": (list(doc["references"]), answers) for name in METRICS}


def _register(name: str) -> None:
    register_aggregation(f"caption_{name}")(partial(aggregate, name))
    register_metric(
        metric=f"caption_{name}",
        higher_is_better=True,
        output_type="generate_until",
        aggregation=f"caption_{name}",
    )(_keep)


def _keep(items: Item) -> Item:
    return items


for _name in METRICS:
    _register(_name)
