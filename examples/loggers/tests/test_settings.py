"""The environment variable that names loggers."""

from __future__ import annotations

import pytest
from caption_loggers.services import SERVICES, TensorBoard, Wandb
from caption_loggers.settings import VARIABLE, loggers_of, read_loggers

from harness.errors import HarnessError


def test_several_loggers_with_parameters(monkeypatch):
    monkeypatch.setenv(
        VARIABLE, "tensorboard:folder=out/tb, wandb:project=captions,mode=offline"
    )
    assert read_loggers(SERVICES) == [
        (TensorBoard, {"folder": "out/tb"}),
        (Wandb, {"project": "captions", "mode": "offline"}),
    ]
    assert loggers_of("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "wandbb",
            "HARNESS_LOGGERS: no logger 'wandbb'; did you mean 'wandb'?; "
            "loggers are wandb, mlflow, tensorboard, trackio",
        ),
        (
            "wandb:projct=x",
            "HARNESS_LOGGERS: wandb has no parameter 'projct'; did you mean 'project'?",
        ),
        (
            "project=x",
            "HARNESS_LOGGERS: 'project=x' belongs to no logger; "
            "expected NAME:PARAMETER=VALUE",
        ),
    ],
)
def test_mistakes_are_one_line(monkeypatch, text, message):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(HarnessError) as caught:
        read_loggers(SERVICES)
    assert str(caught.value).startswith(message)
