"""The reward object: scores of captions, credits of the captions of groups.

Everything is fitted once, and no call reads a file.

A metric of single captions gives each caption its score. A metric of sets gives each
caption of a group its credit A_i = S(C) - S(C without i). Since S(C without i) does not
depend on caption c_i, the sum of A_i grad log pi(c_i) is an unbiased estimate of the
gradient of E[S] (Williams 1992; docs/rewards.md).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np

from harness.contracts import CaptionSet, Example
from harness.decisions.rewards.reward_term import Term
from harness.decisions.rewards.reward_texts import (
    Decode,
    as_groups,
    decoder,
    text_of_completion,
    without_padding,
)
from harness.errors import InputError, UnknownName, counted, did_you_mean
from harness.run.features import FeatureCache
from harness.run.score import batches, fit_once

Baseline = Literal["none", "greedy", "leave-one-out"]
END_WORD = "endofsentence"
"""Word that stands for the end-of-sentence token; no score depends on which word it is.
"""
MAX_TEXTS = 100_000
"""Number of texts after which everything but the corpus state is dropped, so that
memory does not grow with the number of calls.
"""


class Reward:
    """Reward of captions under fixed references; made by :func:`reward`.

    Several threads may call it, and it can be pickled.

    Parameters
    ----------
    examples : sequence of Example
        Examples with their references.
    terms : sequence of Term
        Metrics and weights.
    decode, end, eos, baseline
        As for :func:`reward`.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        terms: Sequence[Term],
        *,
        decode: Decode | None,
        end: int | None,
        eos: bool,
        baseline: Baseline,
    ) -> None:
        self.terms = tuple(terms)
        self.baseline = baseline
        self._options: dict[str, Any] = {
            "decode": decode,
            "end": end,
            "eos": eos,
            "baseline": baseline,
        }
        self._decode = decoder(decode)
        self._words: Mapping[int, str] = {}
        if isinstance(decode, Mapping):
            self._words = cast("Mapping[int, str]", decode)
        self._end = end

        # References are read without the end word, which a pickled object adds again.
        self._end_word = ""
        self._given: list[Example] = []
        for item in examples:
            texts = self._texts(item.references, f"references: '{item.id}'")
            self._given.append(replace(item, references=tuple(texts)))
        self._end_word = f" {END_WORD}" if eos else ""
        self.examples: dict[str, Example] = {}
        """Examples by id, as the metrics read them."""
        references: list[tuple[str, ...]] = []
        for item in self._given:
            references.append(tuple(text + self._end_word for text in item.references))
            self.examples[item.id] = replace(item, references=references[-1])

        self.features = FeatureCache(references)
        self._lock = threading.RLock()
        for metric in (term.metric for term in terms):
            state = fit_once(metric, self.features)
            self.features.keep(("state", metric.signature()), state)
        names = [term.label.partition(":")[0] for term in terms]
        self.__name__ = "_".join(["reward", *names])

    def __repr__(self) -> str:
        terms = [f"{term.weight:+.3g} {term.label}" for term in self.terms]
        return f"<reward {' '.join(terms)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Reward, **self._options), (self._given, self.terms)

    def __call__(
        self, ids: Sequence[Any], captions: Any, *, greedy: Any = None
    ) -> np.ndarray:
        """Return the reward of each caption.

        Parameters
        ----------
        ids : sequence
            Id of the example of each caption, length B; ids may repeat.
        captions : sequence or array
            B texts, or B sequences of token ids (also an array (B, L)).
        greedy : sequence or array, optional
            Captions of the greedy decode for ``baseline="greedy"``, in the same form;
            their rewards are subtracted.

        Returns
        -------
        ndarray
            float32, shape (B,). The score of an empty caption is what the metric gives
            it; an undefined score counts as 0.

        Raises
        ------
        InputError
            Unknown ids, another number of captions than of ids, or a metric of sets,
            which scores groups (:meth:`group`).
        """
        return self.group(ids, as_groups(captions), greedy=greedy).ravel()

    def group(
        self, ids: Sequence[Any], groups: Any, *, greedy: Any = None
    ) -> np.ndarray:
        """Return the rewards of the captions of groups.

        Parameters
        ----------
        ids : sequence
            Id of the example of each group, length B.
        groups : sequence of sequences, or array
            k captions of each example; an array of token ids has the shape (B, k, L).
        greedy : sequence or array, optional
            One caption of the greedy decode per group for ``baseline="greedy"``.

        Returns
        -------
        ndarray
            float32, shape (B, k): the score of each caption by the metrics of single
            captions, less the baseline, plus the credit A_i = S(C) - S(C without i) by
            the metrics of sets, with the sign by which larger is better.

        Raises
        ------
        InputError
            Unknown ids, groups of different sizes, or groups too small for a metric of
            sets without one of their captions.
        """
        if (greedy is None) == (self.baseline == "greedy"):
            raise InputError(
                "greedy= has the captions of the greedy decode, "
                "for baseline='greedy' and no other"
            )

        examples, texts = self._read(ids, groups)
        scores = self._values(examples, texts, of_sets=False)
        if self.baseline == "leave-one-out":
            k = scores.shape[1]
            if k < 2:
                raise InputError(
                    "groups of 1 caption; the baseline leave-one-out is the mean of "
                    "the others: expected at least 2"
                )
            # r_i - mean of the others
            scores = (scores - scores.mean(axis=1, keepdims=True)) * (k / (k - 1))
        if greedy is not None:
            scores = scores - self.scores(ids, as_groups(greedy))

        # Credits have no baseline: one that depends on the caption biases the gradient.
        credits = self._values(examples, texts, of_sets=True)
        return (scores + credits).astype(np.float32)

    def scores(self, ids: Sequence[Any], groups: Any) -> np.ndarray:
        """Return the scores by the metrics of single captions, float64, shape (B, k);
        arguments as for :meth:`group`, no baseline.
        """
        return self._values(*self._read(ids, groups), of_sets=False)

    def credits(self, ids: Sequence[Any], groups: Any) -> np.ndarray:
        """Return the credits by the metrics of sets, float64, shape (B, k);
        arguments as for :meth:`group`.
        """
        return self._values(*self._read(ids, groups), of_sets=True)

    def _read(self, ids: Any, groups: Any) -> tuple[list[Example], list[list[str]]]:
        """Return the example and the texts of each group, all of one size."""
        names: Sequence[Any] = ids.tolist() if hasattr(ids, "tolist") else ids
        if isinstance(groups, str) or any(isinstance(group, str) for group in groups):
            raise InputError(
                "a text in the place of a group of captions; "
                "expected a list of captions for each id",
                "groups",
            )

        sizes = {len(group) for group in groups} or {1}
        if len(groups) != len(names) or len(sizes) > 1:
            shape = counted(len(groups), "group")
            if len(sizes) > 1:
                numbers = " and of ".join(map(str, sorted(sizes)))
                shape = f"groups of {numbers} captions"
            raise InputError(
                f"{counted(len(names), 'id')} but {shape}; expected one caption, "
                "or one group of the same size, for each id"
            )

        # one list, since texts of an array are read at once
        captions: Any
        if hasattr(groups, "reshape"):
            captions = groups.reshape(-1, *groups.shape[2:])
        else:
            captions = [text for group in groups for text in group]
        texts = self._texts(captions)
        k = sizes.pop()
        rows = [texts[row * k : (row + 1) * k] for row in range(len(names))]
        return [self._example(name) for name in names], rows

    def _values(
        self,
        examples: Sequence[Example],
        groups: Sequence[Sequence[str]],
        *,
        of_sets: bool,
    ) -> np.ndarray:
        k = len(groups[0]) if groups else 1
        values = np.zeros((len(examples), k))
        terms = [term for term in self.terms if term.is_of_sets == of_sets]
        if not terms or not k:
            return values

        # The captions of a group are one set where all metrics can read them so, else
        # each is a set.
        n = k if all(term.reads_groups for term in terms) else 1
        sets: list[CaptionSet] = []
        for example, texts in zip(examples, groups):
            for start in range(0, k, n):
                sets.append(
                    CaptionSet(
                        example.id,
                        tuple(texts[start : start + n]),
                        example.references,
                        example.media,
                        example.source,
                        example.meta,
                    )
                )

        with self._lock:
            if len(self.features.texts) > MAX_TEXTS:
                self.features.next_shard()
            of_sets_of_n = values.reshape(-1, n)
            for positions, batch in batches(sets, self.features, None):
                weighted = [term.values(batch, self.features) for term in terms]
                of_sets_of_n[positions] = sum(weighted)
        return values

    def _example(self, name: Any) -> Example:
        """Return the example of an id; without references it is one for all ids."""
        key = str(name)
        example = self.examples.get(key) or self.examples.get("")
        if example is None:
            hint = did_you_mean(key, self.examples)
            raise UnknownName(
                f"ids: no references of example '{key}'{hint}",
                parameter="ids",
                value=key,
            )
        return example

    def _texts(self, captions: Any, where: str = "captions") -> list[str]:
        """Return the texts of captions: strings, or sequences of token ids; a complete
        one has the end word where it is counted.
        """
        texts: list[str] = []
        caption: Any = None
        try:
            items = captions.tolist() if hasattr(captions, "tolist") else captions
            for caption in items:
                if isinstance(caption, str):
                    texts.append(caption + self._end_word)
                else:
                    texts.append(self._decoded(caption))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            message = (
                f"{caption!r:.60}; expected a text, or known token ids "
                f"({type(error).__name__}: {error})"
            )
            raise InputError(message, f"{where}: item {len(texts)}") from error
        return texts

    def _decoded(self, caption: Any) -> str:
        """Return the text of token ids up to the end token."""
        tokens: list[int] = caption
        if type(caption) is not list:
            tokens = np.asarray(caption, dtype=np.int64).tolist()
        is_complete = self._end is None or self._end in tokens
        if self._end is not None and is_complete:
            tokens = tokens[: tokens.index(self._end)]

        # A caption that breaks off has no end, which it would get a score for.
        text = self._decode(without_padding(tokens, self._words))
        return text + self._end_word if is_complete else text

    def for_trl(
        self, group_size: int, id_column: str = "id"
    ) -> Callable[..., list[float]]:
        """Return the reward as a function of ``reward_funcs`` of TRL's ``GRPOTrainer``.

        The trainer passes ``prompts``, ``completions`` (texts, or lists of messages
        whose last one is read) and the columns of the data set as keywords. Parts of
        type ``text`` of a message are joined; a completion without a message, or whose
        last message has no content or is the result of a tool, is an empty caption.
        GRPO subtracts the mean of the group and divides by its standard deviation,
        which biases credits of sets: docs/rewards.md names a trainer without both.

        Parameters
        ----------
        group_size : int
            ``num_generations`` of the trainer. Completions of one id are cut into
            groups of this size in their order; another number of completions, as of a
            group that is split between processes, is refused.
        id_column : str
            Column with the ids of the examples.
        """

        def score_completions(
            completions: Sequence[Any], **columns: Any
        ) -> list[float]:
            if id_column not in columns:
                raise InputError(
                    f"the trainer passes no column '{id_column}'; "
                    "the data set needs one with the ids",
                    "for_trl",
                )
            names = list(map(str, columns[id_column]))
            for name, count in Counter(names).items():
                if count % group_size:
                    raise InputError(
                        f"incomplete group: {counted(count, 'completion')} of "
                        f"'{name}', expected a multiple of {group_size}; "
                        "choose a batch size per process that is a multiple of "
                        "num_generations, so that no group is split between processes",
                        "for_trl",
                    )

            texts = [
                text_of_completion(completion, number)
                for number, completion in enumerate(completions)
            ]
            # a stable order: completions of one id stay in theirs
            groups = np.argsort(names, kind="stable").reshape(-1, group_size)
            rewards = np.empty(len(texts), dtype=np.float32)
            rewards[groups] = self.group(
                [names[row[0]] for row in groups],
                [[texts[position] for position in row] for row in groups],
            )
            return rewards.tolist()

        score_completions.__name__ = self.__name__
        return score_completions
