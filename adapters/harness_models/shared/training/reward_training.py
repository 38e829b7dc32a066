"""Training by rewards: a captioner continues from a checkpoint with a policy gradient
(``harness train SYSTEM --reward METRIC``).

Of each example ``samples`` captions are drawn at temperature 1. The advantage of a
caption is its reward by :func:`harness.reward`: the score by metrics of single captions
less a baseline, plus the credit by metrics of sets, less ``kl`` times its
log-probability ratio to the start, which has a leave-one-out baseline too. The loss is
minus the mean of advantage times log-probability of the whole caption: an unbiased
estimate of the gradient of the expected reward less ``kl`` times the divergence
KL(policy || start).

There is no relaxation of the draw: gradients through relaxed samples are biased.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch

from harness.contracts import Example
from harness.contracts.parameters import Count, Index, NonNegative
from harness.decisions.rewards.rewards import reward
from harness.errors import HarnessError
from harness.registry import current
from harness_models.shared.decoding.states import select_rows
from harness_models.shared.training.caption_training import TrainingSet
from harness_models.shared.training.loop import Report, one_thread
from harness_models.shared.training.policy_gradient import (
    chosen_log_probs,
    policy_loss,
    sample_tokens,
    spoken_slots,
    subtract_others,
)
from harness_models.shared.training.recipe_command import RecipeCommand, recipe_command
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.saving import save_checkpoint

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see
:class:`~harness_models.shared.training.recipe.Trainer`.
"""


@dataclass(frozen=True, kw_only=True)
class RewardRecipe(TrainingSet):
    """Start, reward, examples and optimisation of a training by rewards.

    Raises :class:`HarnessError` for values out of range.
    """

    system: ClassVar[str] = "reward"

    checkpoint: str
    """Checkpoint of the system from which the training starts."""
    reward: Any
    """Metric, or mapping of metrics to weights, as :func:`harness.reward` takes it."""
    scale: Literal["none", "estimated"] = "none"
    """``estimated`` divides each term by its spread on the references."""
    captions_each: Count = 20
    """Number of references of each scene."""
    kind: str = "exhaustive"
    samples: Count = 8
    """Captions of an example that are drawn for one update."""
    baseline: Literal["leave-one-out", "greedy"] = "leave-one-out"
    """Baseline of metrics of single captions: the other samples of the example,
    or its greedy caption (SCST).
    """
    kl: NonNegative = 0.0
    """Weight of the divergence from the start."""
    max_length: Index = 0
    """Maximum number of tokens of a sample; 0: that of the system."""
    batch: Count = 16
    """Examples per update."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples < 2 and (self.baseline == "leave-one-out" or self.kl > 0):
            raise HarnessError(
                "reward: samples is 1; the mean of the other samples is the "
                "baseline: give samples of at least 2"
            )

    def examples(self) -> list[Example]:
        """Return the training examples with their references."""
        texts: dict[str, list[str]] = {}
        for name, text in self.pairs():
            texts.setdefault(name, []).append(text)

        names = list(texts)
        # The distractor, which the A3DS speaker reads beside its target, is the next
        # scene.
        pairs = zip(names, names[1:] + names[:1])
        metas = [
            {"target_id": int(name), "distractor_id": int(other)} if self.scenes else {}
            for name, other in pairs
        ]

        return [
            Example(name, tuple(texts[name]), meta=meta)
            for name, meta in zip(names, metas)
        ]


class RewardTraining:
    """Policy, start and reward of one training.

    The policy is the adapter of the system: a
    :class:`~harness_models.shared.decoding.left_to_right.LeftToRight` with its network
    as ``model``, or one with its methods.

    Parameters
    ----------
    system
        Name of the adapter.
    recipe
        Start, reward, examples and optimisation.
    folder
        Folder of the run.
    resume
        If true, continue the run in the folder.
    """

    def __init__(
        self, system: str, recipe: RewardRecipe, folder: Path, resume: bool
    ) -> None:
        self.recipe = recipe
        self.folder = folder
        self.examples = recipe.examples()
        references = {example.id: list(example.references) for example in self.examples}
        self.reward = reward(recipe.reward, references, scale=recipe.scale)

        if recipe.samples < 2 and any(term.is_of_sets for term in self.reward.terms):
            raise HarnessError(
                f"reward: {recipe.reward} scores sets of captions; "
                "give samples of at least 2"
            )
        # Two adapters of one checkpoint: the second keeps the weights of the start.
        self.policy, self.start = (
            current().create("adapters", system, {"checkpoint": recipe.checkpoint})
            for _ in range(2)
        )
        # Adapters load their network when it is first asked for, and that draws random
        # numbers: here, before the seed of an epoch is set.
        self.start.model.requires_grad_(False)

        self.inputs = self.policy.inputs(self.examples)
        self.length = recipe.max_length or self.policy.max_length
        self.totals: Any = Counter()
        self.loop = recipe.loop(
            self.policy.model.requires_grad_(True),
            self.batch_loss,
            len(self.examples),
            folder,
            resume=resume,
        )
        self.loop.extra = self.take_means

    def batch_loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        """Return the policy-gradient loss of the examples with the indices ``batch``,
        and their number.
        """
        policy = self.policy
        count = self.recipe.samples
        # no dropout: samples and log-probabilities belong to one distribution
        policy.model.eval()
        examples = [self.examples[i] for i in batch]
        inputs = [self.inputs[i] for i in batch]
        owner = torch.arange(len(batch)).repeat_interleave(count)
        tokens, texts = self.draw(inputs, examples, owner)
        groups = [texts[row : row + count] for row in range(0, len(texts), count)]
        advantages = self.advantages(examples, inputs, groups)

        log_probs = self.log_probs(policy, inputs, examples, owner, tokens)
        with torch.no_grad():
            at_start = self.log_probs(self.start, inputs, examples, owner, tokens)
            ratio = (log_probs - at_start).reshape(advantages.shape)
        if self.recipe.kl:
            advantages = advantages - self.recipe.kl * subtract_others(ratio)
        self.totals.update(
            kl=float(ratio.sum()) / count,
            distinct=len(set(zip(owner.tolist(), texts))) / count,
        )
        return policy_loss(advantages.flatten(), log_probs), len(batch)

    def advantages(
        self,
        examples: Sequence[Example],
        inputs: Sequence[Any],
        groups: Sequence[Sequence[str]],
    ) -> torch.Tensor:
        """Return the advantages (E, k) of the captions of groups:
        scores less their baseline, plus credits.
        """
        names = [example.id for example in examples]
        scores = torch.from_numpy(self.reward.scores(names, groups).astype(np.float32))
        credits = self.reward.credits(names, groups).astype(np.float32)
        credits = torch.from_numpy(credits)
        self.totals.update(
            reward=float(scores.mean(1).sum()), credit=float(credits.sum())
        )

        if self.recipe.baseline == "leave-one-out":
            return subtract_others(scores) + credits
        owner = torch.arange(len(examples))
        _, greedy = self.draw(inputs, examples, owner, greedy=True)
        baseline = self.reward.scores(names, [[text] for text in greedy])
        return scores - torch.from_numpy(baseline.astype(np.float32)) + credits

    def draw(
        self,
        inputs: Sequence[Any],
        examples: Sequence[Example],
        owner: torch.Tensor,
        *,
        greedy: bool = False,
    ) -> tuple[torch.Tensor, list[str]]:
        """Return captions (R, T) drawn from the policy and their texts;
        row i is of example ``owner[i]``.
        """
        policy = self.policy
        with torch.no_grad():
            prefix = policy.prefix(inputs, examples)
            start = None if prefix.start is None else prefix.start[owner]
            tokens = sample_tokens(
                policy.step,
                select_rows(prefix.state, owner),
                start,
                len(owner),
                self.length,
                stop=policy.stop,
                fill=policy.stop[0],
                greedy=greedy,
            )

        lengths = spoken_slots(tokens, policy.stop).sum(1)
        rows = [row[:length] for row, length in zip(tokens.tolist(), lengths.tolist())]

        # The end token is in the text only where the adapter's texts have it.
        if not policy.keep_stop:
            rows = [row[:-1] if row[-1] in policy.stop else row for row in rows]
        texts = [policy.to_text(row) for row in rows]
        return tokens[:, : int(lengths.max())], texts

    def log_probs(
        self,
        policy: Any,
        inputs: Sequence[Any],
        examples: Sequence[Example],
        owner: torch.Tensor,
        tokens: torch.Tensor,
    ) -> torch.Tensor:
        """Return the log-probability (R,) of captions (R, T) under a policy."""
        logits = policy.forced_logits(policy.prefix(inputs, examples), owner, tokens)
        return chosen_log_probs(
            logits.log_softmax(-1), tokens, spoken_slots(tokens, policy.stop)
        )

    def take_means(self) -> dict[str, float]:
        """Return the means over examples since the last call: score, sum of credits,
        divergence, share of distinct captions.
        """
        means = {
            name: total / len(self.examples) for name, total in self.totals.items()
        }
        self.totals.clear()
        return means

    def save(self) -> Path:
        """Save the policy, beside the files of its checkpoint other than the weights,
        and return the path of the weights.
        """
        if hasattr(self.policy, "save_policy"):
            return self.policy.save_policy(self.folder, asdict(self.recipe))

        source = getattr(self.policy, "folder", None) or Path(self.recipe.checkpoint)
        loaded = load_checkpoint(source)

        for name in ("vocab.json", "merges.txt"):
            if (loaded.path.parent / name).is_file():
                shutil.copy(loaded.path.parent / name, self.folder / name)

        settings = {
            **loaded.settings,
            "rewarded": asdict(self.recipe),
            "reward_epochs": self.loop.epoch,
        }
        return save_checkpoint(
            self.policy.model.state_dict(), settings, self.folder, force=True
        )


def train_by_reward(
    system: str,
    recipe: RewardRecipe,
    output: str | Path,
    *,
    resume: bool = False,
    report: Report | None = None,
) -> Path:
    """Train a captioner by a reward, save it and return the path of its weights.

    Parameters
    ----------
    system
        Name of the adapter.
    recipe
        Start, reward, examples and optimisation.
    output
        Folder of the run.
    resume
        If true, continue after the last epoch of the run in ``output``.
    report
        Function that gets the line of each epoch: ``epoch``, ``loss``, ``reward``,
        ``credit``, ``kl``, ``distinct``.

    Raises
    ------
    HarnessError
        If the folder holds another run, the reward cannot be computed, or a value is
        out of range.
    """
    with (
        one_thread(),
        torch.random.fork_rng(devices=[]),
        torch.inference_mode(False),
        torch.enable_grad(),
    ):
        training = RewardTraining(system, recipe, Path(output), resume)
        training.loop.run(report)
        return training.save()


def reward_command(system: str) -> RecipeCommand:
    """Return the entry points of ``harness train SYSTEM --reward METRIC``, the
    ``by_reward`` of a training module.
    """
    return recipe_command(
        RewardRecipe, partial(train_by_reward, system), FORMAT_VERSION
    )
