"""Logs of inspect: scorers with several values."""

from __future__ import annotations

import json

from tests.support.score_logs import values_of


def test_parts_of_a_score_of_inspect(tmp_path):
    samples = [
        {
            "id": 1,
            "scores": {
                "asr": {"value": {"wer": 0.2, "cer": None}},
                "acc": {"value": "C"},
                "plain": 0.5,
            },
        },
        {"id": 2, "scores": None},
    ]
    (tmp_path / "l.json").write_text(
        json.dumps({"eval": {"model": "m"}, "samples": samples})
    )
    assert values_of(tmp_path / "l.json") == [
        {"asr/wer": 0.2, "asr/cer": None, "acc": "C", "plain": 0.5},
        {},
    ]
