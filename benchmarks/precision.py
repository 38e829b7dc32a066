"""Deviation of the precisions of a forward pass from float32: scores of captions and of
corpora under published weights.

    python -m benchmarks.precision [--captions 5000] [--device auto] [--write]

all-MiniLM-L6-v2 as a sentence encoder (cosine of caption and first reference) and as
the model of BERTScore (F1): largest deviations of a pair. Metrics of the corpus of all
captions beside all references: deviations as shares of the width of their 95 %
intervals. ``tf32`` needs an accelerator that has it; on the CPU its
rounding is imitated: matrix products read numbers with 10 bits of their fractions.
``--write`` puts the table into docs/encoders.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import harness
from benchmarks import captions
from harness.encoders.devices import first_device
from harness.encoders.precision import PRECISIONS, Precision
from harness_metrics.embeddings.minilm import MiniLm
from harness_metrics.neural.bertscore import BertScore
from harness_metrics.neural.token_matching import precisions

CORPUS_METRICS = ("corpus-frechet", "corpus-mmd", "retrieval")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "encoders.md"
MARKS = ("<!-- precision -->", "<!-- /precision -->")


def round_to_tf32(values):
    """Return float32 numbers rounded to 10 bits of their fractions."""
    import torch

    bits = values.contiguous().view(torch.int32)
    return ((bits + 0x0FFF + ((bits >> 13) & 1)) & ~0x1FFF).view(torch.float32)


@contextmanager
def imitated_tf32() -> Generator[None]:
    """Context in which linear layers round their factors as tf32 does."""
    import torch

    linear = torch.nn.functional.linear

    def rounded(values, weight, bias=None):
        product = linear(round_to_tf32(values), round_to_tf32(weight))
        return product if bias is None else product + bias

    torch.nn.functional.linear = rounded
    try:
        yield
    finally:
        torch.nn.functional.linear = linear


def cosines(texts: list[str], others: list[str], dtype: Precision, device: str):
    """Return the cosine of each pair of texts."""
    model = MiniLm(device=device, dtype=dtype)
    first, second = model.encode(texts), model.encode(others)
    return (first.astype(float) * second).sum(axis=1)


def bertscores(texts: list[str], others: list[str], dtype: Precision, device: str):
    """Return the BERTScore F1 of each pair of texts."""
    encoder = BertScore(model="minilm", device=device, dtype=dtype).encoder
    pairs = zip(encoder.encode(texts), encoder.encode(others))
    matrices = np.array([precisions([_on_cpu(a), _on_cpu(b)]) for a, b in pairs])
    precision, recall = matrices[:, 0, 1], matrices[:, 1, 0]
    return 2 * precision * recall / (precision + recall)


def corpus_results(texts: list[str], others: list[str], dtype: Precision, device: str):
    """Return the results of the metrics of corpora."""
    embedding = {"minilm": {"device": device, "dtype": dtype}}
    return harness.score(
        [[text] for text in texts],
        [[text] for text in others],
        metrics=[{name: {"embedding": embedding}} for name in CORPUS_METRICS],
    )


def width_shares(results, exact) -> list[str]:
    """Return the deviations from the exact results as shares of their intervals."""
    return [
        f"{abs(result.value - same.value) / (same.ci95[1] - same.ci95[0]):.2%}"
        for result, same in zip(results.values(), exact.values())
    ]


def _on_cpu(tokens):
    if isinstance(tokens.vectors, np.ndarray):
        return tokens
    return tokens._replace(vectors=tokens.vectors.cpu().numpy())


def measured(texts: list[str], others: list[str], device: str) -> list[str]:
    """Return the rows of the table."""
    names = ("precision", "sentence cosine", "BERTScore F1", *CORPUS_METRICS)
    rows = [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]
    scores = {name: {} for name in ("cosine", "f1")}
    corpora = {}
    for dtype in PRECISIONS:
        is_imitated = dtype == "tf32" and device == "cpu"
        with imitated_tf32() if is_imitated else _nothing():
            scores["cosine"][dtype] = cosines(texts, others, dtype, device)
            scores["f1"][dtype] = bertscores(texts, others, dtype, device)
            corpora[dtype] = corpus_results(texts, others, dtype, device)
    for dtype in PRECISIONS[1:]:
        cells = [
            f"{np.abs(values[dtype] - values['float32']).max():.1e}"
            for values in scores.values()
        ]
        cells += width_shares(corpora[dtype], corpora["float32"])
        name = f"{dtype}, imitated" if dtype == "tf32" and device == "cpu" else dtype
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


@contextmanager
def _nothing() -> Generator[None]:
    yield


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captions", type=int, default=5000)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    device = first_device(args.device, "benchmark")
    groups = [list(group) for group in captions.references() if len(group) >= 2]
    texts = [group[0] for group in groups][: args.captions]
    others = [group[1] for group in groups][: args.captions]
    rows = measured(texts, others, device)
    print(f"{len(texts):,} pairs of captions, device {device}")
    print("\n".join(rows))
    if args.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        _, _, after = rest.partition(MARKS[1])
        table = "\n".join(rows)
        content = f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}"
        PAGE.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
