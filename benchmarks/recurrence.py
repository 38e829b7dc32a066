"""Time of an update of an A3DS speaker and listener: input gates computed once a batch,
beside ``torch.nn.LSTM``.

    python -m benchmarks.recurrence [--updates 6] [--batch 64] [--threads 1]

Widths of the paper (512, 1280 image features), 24 tokens. Both ways compute the same
gradients up to rounding; the largest relative difference is printed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch.nn import functional

from harness_models.a3ds.losses import structural_loss
from harness_models.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes

WORDS = 47
LENGTH = 24
FEATURES = 1280
WIDTH = 512


def losses(batch: int) -> dict[str, tuple[torch.nn.Module, Callable[[], torch.Tensor]]]:
    """Return the agents, each with a function that computes its loss on a fixed
    batch.
    """
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(WORDS, WIDTH, WIDTH, WIDTH, FEATURES))
    listener = Listener(ListenerSizes(WORDS, WIDTH, WIDTH, FEATURES))
    features = torch.randn(batch, 2, FEATURES)
    captions = torch.randint(3, WORDS, (batch, LENGTH + 1))
    target = torch.zeros(batch, dtype=torch.long)
    return {
        "speaker": (
            speaker,
            lambda: structural_loss(speaker, features, captions, None),
        ),
        "listener": (
            listener,
            lambda: functional.cross_entropy(
                listener(features, captions[:, 1:]), target
            ),
        ),
    }


def update(
    agent: torch.nn.Module,
    loss: Callable[[], torch.Tensor],
    optimiser: torch.optim.Optimizer,
) -> float:
    """Take one step and return its seconds."""
    start = time.perf_counter()
    optimiser.zero_grad()
    loss().backward()
    torch.nn.utils.clip_grad_norm_(agent.parameters(), 5.0)
    optimiser.step()
    return time.perf_counter() - start


def difference(agent: torch.nn.Module, loss: Callable[[], torch.Tensor]) -> float:
    """Return the largest difference of the gradients,
    relative to the largest gradient.
    """
    gradients: list[list[torch.Tensor]] = []
    for training in (True, False):
        agent.train(training).zero_grad()
        loss().backward()
        gradients.append(
            [p.grad.clone() for p in agent.parameters() if p.grad is not None]
        )
    largest = max(float(b.abs().max()) for b in gradients[1])
    return max(float((a - b).abs().max()) for a, b in zip(*gradients)) / largest


def main() -> int:
    """Print the medians of both ways, in alternation, and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--updates", type=int, default=6)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for name, (agent, loss) in losses(args.batch).items():
        apart = difference(agent, loss)
        optimiser = torch.optim.Adam(agent.parameters(), 1e-3)
        seconds: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(args.updates):
            for training in (True, False):
                seconds[training].append(update(agent.train(training), loss, optimiser))
        once, torch_lstm = (
            statistics.median(seconds[training]) for training in (True, False)
        )
        print(
            f"{name}: {once:.3f} s an update, torch.nn.LSTM {torch_lstm:.3f} s: "
            f"{torch_lstm / once:.2f} times; "
            f"gradients differ by {apart:.1e}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
