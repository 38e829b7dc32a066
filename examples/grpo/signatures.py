"""Rewards in the signatures of verl and of SCST code: functions to copy.

TRL's is :meth:`Reward.for_trl`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.decisions.rewards.reward_object import Reward


def verl_score(reward: Reward) -> Callable[..., float]:
    """Return ``compute_score`` of verl (0.9) for data whose ``extra_info`` has the id
    of the example.

    verl scores one sample per call. Metrics of sets need groups, and the reward says
    so; a reward manager may call ``reward.group``.
    """

    def compute_score(
        data_source: str,
        solution_str: str,
        ground_truth: Any,
        extra_info: Mapping[str, Any],
    ) -> float:
        return float(reward([extra_info["id"]], [solution_str])[0])

    return compute_score


def self_critical_reward(reward: Reward) -> Callable[..., np.ndarray]:
    """Return a function in the place of ``get_self_critical_reward``,
    for a reward with ``baseline="greedy"``.

    ``data_gts`` has the ids of the B images in the place of their references, and
    ``opt`` is not read. ``greedy_res`` (B, L) and ``gen_result`` (B k, L) are token
    ids; the rewards have the shape of ``gen_result``.
    """

    def get_self_critical_reward(
        greedy_res: Any, data_gts: Sequence[Any], gen_result: Any, opt: object = None
    ) -> np.ndarray:
        tokens = np.asarray(gen_result)
        groups = tokens.reshape(len(data_gts), -1, tokens.shape[1])
        rewards = reward.group(data_gts, groups, greedy=np.asarray(greedy_res))
        return np.repeat(rewards.reshape(-1, 1), tokens.shape[1], axis=1)

    return get_self_critical_reward
