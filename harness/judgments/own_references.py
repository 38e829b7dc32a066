"""References that a caption is: removed before it is scored, by a rule of the task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.contracts import Judgments, Parameters
from harness.errors import InputError
from harness.judgments.judgment_models import Own, ReferencePolicy


def list_removed_references(
    judgments: Judgments, policy: ReferencePolicy, by: str
) -> Iterator[frozenset[int]]:
    """Yield for each caption the positions of the references that are removed."""
    of_item: list[set[int]] = [set() for _ in judgments.items]
    for caption in judgments.captions:
        of_item[caption.item].update(caption.own_references)
    of_pair, meta = _of_pairs(judgments)
    for position, caption in enumerate(judgments.captions):
        rule = policy.own
        if not isinstance(rule, str):
            rule = _choose_rule(rule, meta[position], by, judgments.source)
        if rule == "item":
            yield frozenset(of_item[caption.item])
        elif rule == "pair":
            yield frozenset(of_pair[position])
        else:
            yield frozenset(caption.own_references if rule == "caption" else ())


def _of_pairs(judgments: Judgments) -> tuple[list[set[int]], list[Parameters]]:
    """Return for each caption its own references and those of the captions it is paired
    with, and the fields of its category.
    """
    references = [set(caption.own_references) for caption in judgments.captions]
    meta: list[Parameters] = [caption.meta for caption in judgments.captions]
    for pair in judgments.pairs:
        positions = {
            *judgments.captions[pair.first].own_references,
            *judgments.captions[pair.second].own_references,
        }
        for position in (pair.first, pair.second):
            references[position] |= positions
            meta[position] = pair.meta
    return references, meta


def _choose_rule(
    rules: Mapping[str, Own], meta: Parameters, by: str, location: str
) -> Own:
    """Return the rule of the category of a caption."""
    category = str(meta.get(by, ""))
    if category not in rules:
        raise InputError(
            f"references.own has no entry for {by} '{category}'; "
            f"found {', '.join(rules)}",
            location,
            value=category,
        )
    return rules[category]
