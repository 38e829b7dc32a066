"""Small language models for ``benchmarks/same.py``: one trained here, and copies of it
that are changed in known ways.

The model is a GRU over words that continues a prompt, the two rarest words of a
caption; it is trained on the other captions of COCO's test split for a minute. Its
answers are samples with their own random numbers.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from benchmarks.captions import GOLDEN, REFERENCES, read_json_lines

END = 1
LONGEST = 20
WORDS = 1000
Pools = dict[str, list[list[str]]]
"""Source -> prompt -> answers."""


class Captioner(nn.Module):
    """GRU over words; the prompt is the mean of its word vectors,
    added to every input.
    """

    def __init__(self, words: int, width: int = 48) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.gru = nn.GRU(width, 2 * width, batch_first=True)
        self.out = nn.Linear(2 * width, words)

    def forward(
        self,
        prompt: torch.Tensor,
        words: torch.Tensor,
        state: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (B, L, V) and the state."""
        hidden, last = self.gru(
            self.embedding(words) + self.embedding(prompt).mean(dim=1, keepdim=True),
            state,
        )
        return self.out(hidden), last


@dataclass
class Corpus:
    """Captions as numbers of words."""

    words: list[str]
    prompts: torch.Tensor
    captions: torch.Tensor
    test: list[int] = field(default_factory=list)


def corpus() -> Corpus:
    """Return the captions of COCO's test split with their prompts."""
    rows = read_json_lines(GOLDEN / "data" / REFERENCES)
    texts = [
        re.findall(r"\w+|[.,]", caption)
        for row in rows
        for caption in row["references"][:5]
    ]
    counts = Counter(word for text in texts for word in text)
    words = ["", "", *(word for word, _ in counts.most_common(WORDS - 2))]
    number = {word: index for index, word in enumerate(words) if word}
    coded = [
        [number[word] for word in text if word in number][: LONGEST - 1]
        for text in texts
    ]
    prompts = [
        [*sorted(code, key=lambda c: counts[words[c]]), 2, 2][:2] for code in coded
    ]
    captions = np.zeros((len(coded), LONGEST), dtype=np.int64)
    for row, code in enumerate(coded):
        captions[row, : len(code) + 1] = [*code, END]
    return Corpus(words, torch.tensor(prompts), torch.tensor(captions))


def train(
    model: Captioner, data: Corpus, rows: np.ndarray, epochs: int, seed: int
) -> None:
    """Train a model on some captions."""
    torch.manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(epochs):
        order = np.random.default_rng(seed).permutation(rows)
        for start in range(0, len(order), 128):
            batch = torch.as_tensor(order[start : start + 128])
            target = data.captions[batch]
            inputs = torch.cat(
                [torch.full((len(batch), 1), END), target[:, :-1]], dim=1
            )
            logits, _ = model(data.prompts[batch], inputs)
            loss = nn.functional.cross_entropy(
                logits.transpose(1, 2), target, ignore_index=0
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


@torch.no_grad()
def sample(
    model: Captioner,
    data: Corpus,
    prompts: np.ndarray,
    number: int,
    *,
    temperature: float = 1.0,
    top_p: float = 1.0,
    seed: int = 0,
) -> list[list[str]]:
    """Return answers to prompts."""
    generator = torch.Generator().manual_seed(seed)
    prompt = data.prompts[torch.as_tensor(prompts)].repeat_interleave(number, dim=0)
    words = torch.full((len(prompt), 1), END)
    state = None
    codes = np.zeros((len(prompt), LONGEST), dtype=np.int64)
    alive = torch.ones(len(prompt), dtype=torch.bool)
    for step in range(LONGEST):
        logits, state = model(prompt, words, state)
        shares = torch.softmax(logits[:, -1].float() / temperature, dim=1)
        if top_p < 1:
            ordered, index = shares.sort(dim=1, descending=True)
            ordered[ordered.cumsum(dim=1) - ordered > top_p] = 0
            shares = torch.zeros_like(shares).scatter(1, index, ordered)
        words = torch.multinomial(shares, 1, generator=generator)
        alive &= words[:, 0] > END
        codes[:, step] = (words[:, 0] * alive).numpy()
    texts = [" ".join(data.words[code] for code in row if code > END) for row in codes]
    return [texts[start : start + number] for start in range(0, len(texts), number)]


def rounded(model: Captioner, bits: int) -> Captioner:
    """Return a copy whose weights are rounded to whole numbers of some bits,
    with one scale per tensor.
    """
    out = copy.deepcopy(model)
    for weights in out.parameters():
        scale = weights.data.abs().max() / (2 ** (bits - 1) - 1)
        weights.data = torch.round(weights.data / scale) * scale
    return out


def change(
    answers: list[list[str]],
    function: Callable[[str, np.random.Generator], str],
    seed: int,
) -> list[list[str]]:
    """Return answers changed one by one."""
    rng = np.random.default_rng(seed)
    return [[function(text, rng) for text in texts] for texts in answers]


def pools(
    prompts: int = 100, number: int = 160, epochs: int = 4, seed: int = 0
) -> Pools:
    """Return answers of the model and of its changed copies."""
    data = corpus()
    torch.manual_seed(seed)
    torch.set_num_threads(2)
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(data.captions), prompts, replace=False)
    rest = np.setdiff1d(np.arange(len(data.captions)), chosen)
    model = Captioner(len(data.words))
    train(model, data, rest, epochs, seed)
    tuned = copy.deepcopy(model)
    train(tuned, data, rng.choice(rest, 1500, replace=False), 2, seed + 1)
    half = copy.deepcopy(model).bfloat16()

    def draw(network: Captioner, seed: int, **options: float) -> list[list[str]]:
        return sample(network, data, chosen, number, seed=seed, **options)

    out = {"model": draw(model, 1), "the same model again": draw(model, 2)}
    for position, temperature in enumerate((0.8, 0.9, 1.1), 3):
        out[f"temperature {temperature}"] = draw(
            model, position, temperature=temperature
        )
    for position, share in enumerate((0.9, 0.95), 6):
        out[f"top-p {share}"] = draw(model, position, top_p=share)
    out |= {
        "bf16 weights": draw(half, 8),
        "8-bit weights": draw(rounded(model, 8), 9),
        "5-bit weights": draw(rounded(model, 5), 10),
    }
    out |= {
        "4-bit weights": draw(rounded(model, 4), 11),
        "fine-tuned copy": draw(tuned, 12),
    }
    fresh = draw(model, 13)
    words = data.words[2:]
    out["prefix in 1 of 20"] = change(
        fresh, lambda t, r: f"Sure : {t}" if r.random() < 0.05 else t, 1
    )
    out["last word dropped in 1 of 4"] = change(
        fresh, lambda t, r: t.rsplit(" ", 1)[0] if r.random() < 0.25 else t, 2
    )
    out["at most 10 words"] = change(fresh, lambda t, r: " ".join(t.split()[:10]), 3)
    out["at most 14 words"] = change(fresh, lambda t, r: " ".join(t.split()[:14]), 3)
    for share in (0.01, 0.03, 0.1):
        out[f"{100 * share:.0f} % of words substituted"] = change(
            fresh,
            lambda t, r, s=share: " ".join(
                str(r.choice(words)) if r.random() < s else w for w in t.split()
            ),
            4,
        )
    for share in (0.1, 0.2):
        out[f"{100 * share:.0f} % of answers of another prompt"] = [
            [
                fresh[(k + 1) % prompts][j] if rng.random() < share else text
                for j, text in enumerate(texts)
            ]
            for k, texts in enumerate(fresh)
        ]
    return out
