"""GRPO of TRL with advantages that are credits: a trainer to copy,
and a tiny captioner that is trained with it.

    python examples/grpo/grpo_credits.py [SEED ...]

``GRPOTrainer`` subtracts the mean of the rewards of a group, and divides by their
standard deviation. Both depend on the caption whose advantage they are part of, which
biases the gradient where the rewards are credits A_i = S(C) - S(C without i).
``CreditTrainer`` takes the rewards as advantages; the reward object subtracts an
unbiased baseline from the scores of single captions itself.

The captioner is a transformer with two layers over the words of the shipped sample, one
token per scene as its input. Random weights have no gradient to follow, so that it
learns the captions of the sample first. Exit status 0 when the mean CIDEr-D of the last
ten steps is above that of the first ten for every seed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

import harness
import harness_tasks
from caption_kernels import Tokenizer as PtbTokenizer

STEPS = 60
GROUP = 8
PROMPTS = 4
LENGTH = 16
PRETRAINING = 400
RATE = 5e-4


class CreditTrainer(GRPOTrainer):
    """GRPO whose advantages are the weighted sums of the rewards, without the mean and
    the standard deviation of the group.
    """

    def _calculate_rewards(self, *args: Any, **options: Any) -> torch.Tensor:
        """Return the rewards (captions of all processes, functions), and keep them."""
        self._rewards: torch.Tensor = super()._calculate_rewards(*args, **options)
        return self._rewards

    def _generate_and_score_completions(
        self, inputs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the inputs of the loss with the rewards of this process as advantages,
        shape (captions,).
        """
        batch = super()._generate_and_score_completions(inputs)
        rewards = (self._rewards * self.reward_weights.to(self._rewards.device)).nansum(
            dim=1
        )
        first = self.accelerator.process_index * len(inputs)
        batch["advantages"] = rewards[first : first + len(inputs)]
        return batch


def read_sample() -> dict[str, list[str]]:
    """Return the tokenised captions of the scenes of the shipped sample by id."""
    path = Path(harness_tasks.__path__[0]) / "sample" / "captions.json"
    captions: dict[str, list[str]] = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["annotations"]:
        captions.setdefault(str(row["image_id"]), []).append(row["caption"])
    return {scene: PtbTokenizer().tokenize(texts) for scene, texts in captions.items()}


def word_tokenizer(captions: dict[str, list[str]]) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens are the scenes and the words of the captions."""
    words = ["<end>", "<unk>", *(f"scene{scene}" for scene in captions)]
    words += sorted(
        {word for texts in captions.values() for text in texts for word in text.split()}
    )
    tokenizer = Tokenizer(
        models.WordLevel({word: k for k, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<end>",
        pad_token="<end>",
        unk_token="<unk>",
        padding_side="left",
    )


def pretrain(
    captions: dict[str, list[str]], tokenizer: PreTrainedTokenizerFast, seed: int
) -> GPT2LMHeadModel:
    """Return a model that learned the captions by cross-entropy."""
    torch.manual_seed(seed)
    end = tokenizer.eos_token_id
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=64,
            n_embd=64,
            n_layer=2,
            n_head=2,
            bos_token_id=end,
            eos_token_id=end,
            pad_token_id=end,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
    )

    rows = [
        torch.tensor(tokenizer(f"scene{scene} {text} <end>").input_ids[:32])
        for scene, texts in captions.items()
        for text in texts
    ]

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(PRETRAINING):
        chosen = [rows[k] for k in torch.randint(len(rows), (32,))]
        ids = torch.nn.utils.rnn.pad_sequence(
            chosen, batch_first=True, padding_value=end
        )
        labels = torch.nn.utils.rnn.pad_sequence(
            chosen, batch_first=True, padding_value=-100
        )

        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def train(seed: int) -> tuple[float, float]:
    """Return the mean CIDEr-D of the first and of the last ten steps."""
    captions = read_sample()
    tokenizer = word_tokenizer(captions)
    model = pretrain(captions, tokenizer, seed)
    # CIDEr-D less the mean of the other captions of the group, and the credits of a set
    # metric; CIDEr-D alone is logged, with weight 0.
    mixed = harness.reward(
        {"ciderd": 1.0, "trm:distance=cider": -1.0},
        captions,
        scale="estimated",
        baseline="leave-one-out",
    )
    quality = harness.reward("ciderd", captions)

    with tempfile.TemporaryDirectory() as folder:
        settings = GRPOConfig(
            output_dir=folder,
            max_steps=STEPS,
            per_device_train_batch_size=PROMPTS * GROUP,
            num_generations=GROUP,
            learning_rate=RATE,
            max_completion_length=LENGTH,
            reward_weights=[1.0, 0.0],
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            seed=seed,
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            lr_scheduler_type="constant",
            beta=0.0,
        )
        trainer = CreditTrainer(
            model=model,
            reward_funcs=[mixed.for_trl(GROUP), quality.for_trl(GROUP)],
            args=settings,
            processing_class=tokenizer,
            train_dataset=Dataset.from_list(
                [{"prompt": f"scene{scene}", "id": scene} for scene in captions]
            ),
        )
        trainer.train()

    values = [
        row["rewards/reward_ciderd/mean"]
        for row in trainer.state.log_history
        if "rewards/reward_ciderd/mean" in row
    ]
    return sum(values[:10]) / 10, sum(values[-10:]) / 10


if __name__ == "__main__":
    gains = []
    for seed in map(int, sys.argv[1:] or ("0", "1", "2")):
        first, last = train(seed)
        print(
            f"seed {seed}: CIDEr-D of the first ten steps {first:.3f}, "
            f"of the last ten {last:.3f}",
            flush=True,
        )
        gains.append(last > first)
    sys.exit(0 if all(gains) else 1)
