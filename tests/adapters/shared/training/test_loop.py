"""The training loop: reproducible, resumable, one line per epoch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.errors import HarnessError, InputError
from harness_models.shared.training.loop import Loop, Schedule, has_run, load_state

X = torch.arange(12.0).reshape(6, 2)


def loop(
    folder: Path,
    epochs: int = 3,
    *,
    resume: bool = False,
    recipe: str = "{}",
    rate: float = 0.1,
) -> Loop:
    """Regression of a sum on six rows with dropout, so that the result depends on the
    random seed of every epoch.
    """
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(2, 1))

    def loss(batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        rows = X[list(batch)]
        return (model(rows)[:, 0] - rows.sum(1)).square().mean(), len(batch)

    schedule = Schedule(
        epochs=epochs,
        batch=4,
        learning_rate=rate,
        weight_decay=0.0,
        decay=0.5,
        clip=1.0,
        seed=7,
    )
    return Loop(model, loss, len(X), schedule, folder, recipe, resume=resume)


def weights(training: Loop) -> list[float]:
    return [
        value
        for weight in training.model.parameters()
        for value in weight.flatten().tolist()
    ]


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path: Path):
    whole = loop(tmp_path / "a", 4)
    rows = []
    whole.run(rows.append)
    loop(tmp_path / "b", 2).run()
    torch.manual_seed(99)
    resumed = loop(tmp_path / "b", 4, resume=True)
    assert resumed.epoch == 2
    resumed.run()
    assert weights(resumed) == weights(whole)
    assert not whole.model.training
    curves = [(tmp_path / name / "curve.jsonl").read_text() for name in "ab"]
    assert curves[0] == curves[1]
    assert [json.loads(line) for line in curves[0].splitlines()] == rows
    assert [row["learning_rate"] for row in rows] == [0.1, 0.05, 0.025, 0.0125]
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4]


def test_lines_after_the_last_state_are_removed_from_the_curve(tmp_path: Path):
    loop(tmp_path, 2).run()
    with (tmp_path / "curve.jsonl").open("a") as file:
        file.write('{"epoch": 3}\n')
    loop(tmp_path, 2, resume=True)
    assert len((tmp_path / "curve.jsonl").read_text().splitlines()) == 2


def test_a_folder_with_a_run_is_refused(tmp_path: Path):
    assert not has_run(tmp_path)
    loop(tmp_path, 1).run()
    assert has_run(tmp_path)
    with pytest.raises(
        HarnessError, match="holds a run already; choose another folder or resume it"
    ):
        loop(tmp_path)
    with pytest.raises(
        HarnessError, match="holds a run of another recipe; choose another folder"
    ):
        loop(tmp_path, resume=True, recipe='{"other": 1}')


def test_a_loss_that_is_not_finite_is_refused(tmp_path: Path):
    training = loop(tmp_path)
    training.loss = lambda batch: (torch.tensor(float("nan")), 1)
    with pytest.raises(
        HarnessError, match="the loss is nan in epoch 1; lower learning_rate"
    ):
        training.run()
    assert not has_run(tmp_path)


def test_a_truncated_state_is_refused(tmp_path: Path):
    loop(tmp_path, 1).run()
    path = tmp_path / "state.pt"
    content = path.read_bytes()
    for size in (0, 10, len(content) // 2):
        path.write_bytes(content[:size])
        with pytest.raises(
            InputError, match="state.pt: not a checkpoint, or truncated"
        ):
            load_state(path)


def test_the_state_holds_everything_that_a_resumed_run_needs(tmp_path: Path):
    loop(tmp_path, 1).run()
    state: dict[str, Any] = load_state(tmp_path / "state.pt")
    assert set(state) == {"model", "optimiser", "epoch", "recipe"}
    assert (state["epoch"], state["recipe"]) == (1, "{}")
