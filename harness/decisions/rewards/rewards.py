"""Rewards of captions and of groups of captions by any metric: :func:`reward` fits
them, :mod:`harness.decisions.rewards.reward_object` scores.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from harness.contracts import CaptionSet, Example, Reader
from harness.decisions.rewards.reward_object import Baseline, Reward
from harness.decisions.rewards.reward_term import Term
from harness.decisions.rewards.reward_texts import Decode
from harness.errors import HarnessError, InputError
from harness.files.captions import by_text_id
from harness.registry import current, split_spec
from harness.registry.permissions import typed_by_user
from harness.run.file_components import reference_reader
from harness.run.metric_plan import MetricPlan, metric_plans
from harness.spec.metric_text import parse_metric

SCALE_EXAMPLES = 500
"""Maximum number of examples from which a scale is estimated."""
SCALE_REFERENCES = 5
"""Minimum number of references of an example from which the scale of a metric of sets
is estimated.
"""
_log = logging.getLogger(__name__)


def reward(
    metric: str | Mapping[str, float],
    references: Any = None,
    *,
    decode: Decode | None = None,
    end: int | None = None,
    eos: bool = False,
    scale: Literal["none", "estimated"] = "none",
    baseline: Baseline = "none",
    **parameters: Any,
) -> Reward:
    """Return a reward of captions: ``harness.reward("ciderd", references)``.

    Parameters
    ----------
    metric : str or mapping
        ``NAME`` or ``NAME:PARAMETER=VALUE,...``, or a mapping from these to weights,
        such as ``{"ciderd": 1, "trm:distance=cider": -0.5}``. The weight is the factor
        of the value of the metric, so that it is negative where lower is better; a name
        alone has the weight 1 or -1.
    references : mapping, path or None
        References by id (texts, or sequences of token ids), or a file of references.
        None for metrics that need none: all ids are known.
    decode : callable, sequence or mapping, optional
        For captions of token ids: function from a list of them to its text, or the word
        of each. Without it the ids are the words.
    end : int, optional
        Token id that ends a caption; it and what follows are no part of the text.
    eos : bool
        Count the end of a sentence as a word of captions and references, in CIDEr and
        CIDEr-D: of all texts, and of token ids that have ``end``. Without it captions
        that break off get high scores.
    scale : {"none", "estimated"}
        Divisor of each metric: 1, or the standard deviation of its scores or credits on
        the references. Other scales are weights.
    baseline : {"none", "greedy", "leave-one-out"}
        What is subtracted from the scores of metrics of single captions: nothing, the
        score of the greedy decode, or the mean of the other captions of the group.
        Credits have no baseline: one that depends on the caption biases the gradient.
    **parameters
        Parameters of a metric that is a name.

    Raises
    ------
    HarnessError
        Unknown metrics and parameters, metrics that score neither captions nor sets,
        weights that are not finite or that reward the worse value, and metrics that
        compare captions with each other alone and no metric beside them that reads
        references.

    Examples
    --------
    >>> ciderd = reward(
    ...     "ciderd", {"1": ["a dog runs", "the dog"], "2": ["a cat sat", "one cat"]}
    ... )
    >>> print(ciderd(["1", "2"], ["a dog runs", "a cat"]).round(3))
    [4.366 2.627]
    """
    _check_arguments(metric, scale, baseline, parameters)
    weights: Mapping[str, float | None] = (
        metric if isinstance(metric, Mapping) else {metric: None}
    )
    terms = [_term(text, weight, parameters) for text, weight in weights.items()]
    _check_terms(terms, baseline, eos)

    fitted = Reward(
        _read_examples(references, terms),
        terms,
        decode=decode,
        end=end,
        eos=eos,
        baseline=baseline,
    )
    if scale == "estimated":
        fitted.terms = tuple(
            replace(term, weight=term.weight / _spread(term, fitted)) for term in terms
        )
    return fitted


def _check_arguments(
    metric: str | Mapping[str, float],
    scale: str,
    baseline: str,
    parameters: Mapping[str, Any],
) -> None:
    """Raise :class:`HarnessError` for an unknown scale or baseline, no metric, and
    parameters of none of several metrics.
    """
    for name, value, choices in (
        ("baseline", baseline, get_args(Baseline)),
        ("scale", scale, ("none", "estimated")),
    ):
        if value not in choices:
            raise HarnessError(
                f"{name} is {value!r}; expected {' or '.join(map(repr, choices))}",
                parameter=name,
            )
    if isinstance(metric, Mapping) and parameters:
        raise HarnessError(
            f"parameter '{next(iter(parameters))}' belongs to one metric; "
            "write it as NAME:PARAMETER=VALUE"
        )
    if not metric:
        raise HarnessError(
            "no metric; expected a name or a mapping from names to weights",
            parameter="metric",
        )


def _read_examples(references: Any, terms: Sequence[Term]) -> list[Example]:
    """Return the examples of references by id, of a file,
    or one without references for all ids.
    """
    if references is None:
        for term in terms:
            if "references" in term.metric.spec.needs:
                raise HarnessError(
                    f"reward: {term.label} needs references", parameter="references"
                )
        return [Example("", ())]
    if isinstance(references, (str, Path)):
        params = {"path": str(references)}
        reader = current().create("readers", reference_reader(), params)
        return list(cast(Reader, reader))
    if not isinstance(references, Mapping):
        raise InputError(
            f"references: {references!r:.60}; expected a mapping from ids to texts, "
            "or a file",
            parameter="references",
        )

    mapping = cast("Mapping[object, object]", references)
    by_id = cast("dict[str, Any]", by_text_id(mapping, "references"))
    if not by_id or not all(map(len, by_id.values())):
        fault = "an example has none" if by_id else "there are no examples"
        raise InputError(f"references: {fault}", parameter="references")
    return [
        Example(key, (texts,) if isinstance(texts, str) else tuple(texts))
        for key, texts in by_id.items()
    ]


def _term(text: str, given: Any, parameters: Mapping[str, Any]) -> Term:
    """Return the term of the metric that a text names,
    with the weight 1 or -1 unless one is given.
    """
    name, params = split_spec(parse_metric(text), "metric")
    with typed_by_user():
        plan, *further = metric_plans([{name: {**params, **parameters}}])
    spec = plan.metric.spec
    scores_captions = spec.level in ("item", "set") and not spec.rival
    if further or not isinstance(plan, MetricPlan) or not scores_captions:
        raise HarnessError(
            f"reward: '{text}' is not one metric of captions or of sets of captions",
            value=text,
        )

    higher = spec.higher_is_better
    if higher is None:
        raise HarnessError(
            f"reward: {text} has no direction; expected a metric of which higher or "
            "lower is better",
            value=text,
        )

    # A weight of the other sign would reward the worse value.
    sign = 1.0 if higher else -1.0
    weight: object = sign if given is None else given
    if not isinstance(weight, (int, float)) or not 0 < weight * sign < math.inf:
        better, side = ("higher", "above") if higher else ("lower", "below")
        raise HarnessError(
            f"reward: the weight of {text} is {weight!r}; {better} is better, "
            f"so expected a number {side} 0",
            parameter="metric",
            value=text,
        )
    return Term(text, plan.metric, float(weight))


def _check_terms(terms: Sequence[Term], baseline: Baseline, eos: bool) -> None:
    """Raise :class:`HarnessError` for terms that no trained captioner should get; log
    what a policy can exploit.
    """
    for term in terms:
        if eos and not getattr(term.metric, "counts_end", False):
            raise HarnessError(
                f"eos: {term.label} does not count the end of a sentence as a word; "
                "add the rewards of two",
                parameter="eos",
            )

    # A metric of single captions beside them keeps the others from being gamed.
    if any(not term.is_of_sets for term in terms):
        return
    if baseline != "none":
        raise HarnessError(
            f"baseline '{baseline}': {terms[0].label} gives credits S(C) "
            "- S(C without i), which need none; one that depends on the "
            "caption would bias the gradient",
            parameter="baseline",
        )
    for term in terms:
        spec = term.metric.spec
        if not spec.compares_references or "references" not in spec.needs:
            example = f"{{'{term.label}': {term.weight:g}, NAME: 1}}"
            raise HarnessError(
                f"reward: {term.label} reads the captions alone, "
                "so that distinct nonsense gets the highest value; "
                "add a metric of single captions that reads references, "
                f"as in {example}",
                value=term.label,
            )
        if spec.gamed_by:
            _log.warning(
                "reward %s: %s get a higher value than true captions; "
                "add a metric of single captions",
                term.label,
                spec.gamed_by,
            )


def _spread(term: Term, fitted: Reward) -> float:
    """Return the standard deviation of the scores or credits of references, as captions
    beside the other references.

    A metric of single captions scores the first reference of each example, a metric of
    sets the first half of the references.
    """
    fewest = SCALE_REFERENCES if term.is_of_sets else 2
    usable = [
        item for item in fitted.examples.values() if len(item.references) >= fewest
    ]
    if not usable:
        raise HarnessError(
            f"scale: the estimate of {term.label} needs examples of {fewest} "
            "references",
            parameter="scale",
        )

    values: list[np.ndarray] = []
    for example in usable[:SCALE_EXAMPLES]:
        n = (len(example.references) + 1) // 2 if term.is_of_sets else 1
        item = CaptionSet(
            example.id,
            example.references[:n],
            example.references[n:],
            example.media,
            example.source,
            example.meta,
        )
        batch = fitted.features.batch([item])
        weighted = term.values(batch, fitted.features)
        values.append(weighted.ravel() / term.weight)

    spread = float(np.concatenate(values).std())
    if not spread > 1e-9:
        raise HarnessError(
            f"scale: {term.label} is constant on the references; "
            "divide its weight by a number",
            parameter="scale",
        )
    return spread
