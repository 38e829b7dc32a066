"""A reward in the signatures of trainers: TRL, verl, and ``get_self_critical_reward`` of SCST code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import InputError, counted


class TrainerSignatures:
    """Mixin of a reward that is called by trainers."""

    __name__: str

    @property
    def needs_groups(self) -> bool:
        """True where the reward of a caption depends on its group."""
        raise NotImplementedError

    def __call__(self, ids: Sequence[Any], captions: Any) -> np.ndarray:
        """Return the reward of each caption, shape (B,)."""
        raise NotImplementedError

    def group(self, ids: Sequence[Any], groups: Any, *, greedy: Any = None) -> np.ndarray:
        """Return the rewards of the captions of groups, shape (B, k)."""
        raise NotImplementedError

    def for_trl(self, id_column: str = "id", group_size: int | None = None) -> Callable[..., list[float]]:
        """Return the reward as a function of ``reward_funcs`` of TRL's ``GRPOTrainer``.

        The trainer passes ``prompts``, ``completions`` (texts, or lists of messages whose last one is read) and the columns of the data
        set as keywords. GRPO subtracts the mean of the group and divides by its standard deviation, which biases credits of sets:
        docs/rewards.md has a trainer without both.

        Parameters
        ----------
        id_column : str
            Column with the ids of the examples, whose completions form the groups.
        group_size : int, optional
            ``num_generations`` of the trainer; default: the smallest number of completions of an id. Completions of one id are cut into
            groups in their order. Other numbers of completions, as of a group that is split between processes, are refused.
        """

        def score_completions(completions: Sequence[Any], **columns: Any) -> list[float]:
            if id_column not in columns:
                raise InputError(f"the trainer passes no column '{id_column}'; the data set needs one with the ids", "for_trl")
            ids, texts = list(map(str, columns[id_column])), list(map(_read_completion, completions))
            if not self.needs_groups:
                return self(ids, texts).tolist()
            groups = _group_positions(ids, group_size)
            out = np.empty(len(texts), dtype=np.float32)
            out[groups] = self.group([ids[row[0]] for row in groups], [[texts[k] for k in row] for row in groups])
            return out.tolist()

        score_completions.__name__ = self.__name__
        return score_completions

    def for_verl(self, id_key: str = "id") -> Callable[..., float]:
        """Return the reward as ``compute_score(data_source, solution_str, ground_truth, extra_info)`` of verl.

        The id of the example is ``extra_info[id_key]``. verl scores one sample per call, so that rewards of groups are refused
        (:class:`InputError`).
        """
        if self.needs_groups:
            raise InputError(f"verl scores one sample per call, but {self.__name__} needs groups; call reward.group in a reward manager")

        def compute_score(data_source: str, solution_str: str, ground_truth: Any, extra_info: Mapping[str, Any] | None = None) -> float:
            if id_key not in (extra_info or {}):
                raise InputError(f"extra_info of '{data_source}' has no '{id_key}', the id of the example", "for_verl")
            return float(self([str((extra_info or {})[id_key])], [solution_str])[0])

        return compute_score

    def self_critical(self, greedy_res: Any, data_gts: Sequence[Any], gen_result: Any, opt: object = None) -> np.ndarray:
        """Return self-critical rewards in the place of ``get_self_critical_reward``, float32, shape (B k, L).

        Parameters
        ----------
        greedy_res : array, shape (B, L)
            Token ids of the greedy decode of each image; the reward has ``baseline="greedy"``.
        data_gts : sequence
            Ids of the B images, in the place of their references, which the reward has already.
        gen_result : array, shape (B k, L)
            Token ids of k sampled captions of each image.
        opt : object
            Not read: the weights are those of the reward.
        """
        captions = np.asarray(gen_result)
        if not len(data_gts) or len(captions) % len(data_gts):
            raise InputError(f"{counted(len(captions), 'caption')} of {counted(len(data_gts), 'image')}", "gen_result")
        groups = captions.reshape(len(data_gts), -1, captions.shape[1])
        return np.repeat(self.group(data_gts, groups, greedy=greedy_res).reshape(-1, 1), captions.shape[1], axis=1)


def _group_positions(ids: Sequence[str], size: int | None) -> np.ndarray:
    """Return the positions of the completions of each group, shape (B, k); raise :class:`InputError` for an incomplete group."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(ids):
        positions.setdefault(name, []).append(position)
    size = size or min(map(len, positions.values()), default=1)
    for name, found in positions.items():
        if len(found) % size:
            raise InputError(
                f"incomplete group: {counted(len(found), 'completion')} of '{name}', expected a multiple of {size}; choose a batch "
                "size per process that is a multiple of num_generations, so that no group is split between processes", "for_trl",
            )  # fmt: skip
    return np.array([position for found in positions.values() for position in found], dtype=np.int64).reshape(-1, size)


def _read_completion(completion: Any) -> str:
    """Return the text of a completion; raise :class:`InputError` unless it is a text or a list of messages."""
    content = completion[-1].get("content") if isinstance(completion, list) and completion else completion
    if not isinstance(content, str):
        raise InputError(f"completion {completion!r:.60}; expected a text or a list of messages", "for_trl")
    return content
