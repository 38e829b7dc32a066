"""Tasks of videos and sounds run with a tiny model of their medium."""

from __future__ import annotations

import json

import pytest

from harness.registry.torchvision_guard import guard_torchvision
from harness.run.execute import execute as run
from harness.run.plan import make_plan
from harness.spec.loading import load_specs

guard_torchvision()
pytest.importorskip("transformers")
pytest.importorskip("av")

from tests.support import tiny_media_models  # noqa: E402
from tests.support.media_files import write_sound, write_video  # noqa: E402

FEW = [
    "metrics=[bleu1]",
    "views=[]",
    "significance=none",
    "decoding.options={min_length: 3}",
]


def results(root, task: str, model: dict, *overrides: str):
    """Return the finished run of a shipped task with one model of transformers."""
    models = [{"transformers": {"max_length": 5, "label": "mine", **model}}]
    (loaded,) = load_specs(
        root / "tasks" / "harness_tasks" / task,
        [*FEW, *overrides],
        limit=3,
        models=models,
    )
    return run(make_plan(loaded))


@pytest.fixture
def root(golden):
    return golden.parents[1]


def test_msrvtt_runs_on_videos(root, golden, monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    tiny_media_models.ved_video(tmp_path / "model")
    for number in (7010, 7011, 7012):
        write_video(tmp_path / f"video{number}.mp4", 10, seed=number - 7010)
    model = {"model": str(tmp_path / "model"), "images": str(tmp_path)}
    table = results(root, "msrvtt.yaml", model, "dataset.columns.media=video_id")
    assert [record["n"] for record in table.results] == [3] and not table.failed
    videos = [
        {"video_id": f"video{i}", "split": "test", "category": 1}
        for i in (7010, 7011, 7012, 7013)
    ]
    sentences = [
        {"video_id": item["video_id"], "caption": f"a dog runs {k}"}
        for item in videos
        for k in range(10)
    ]
    (tmp_path / "official.json").write_text(
        json.dumps({"videos": videos, "sentences": sentences})
    )
    (tmp_path / "video7011.mp4").write_bytes(b"no video")
    official = results(
        root,
        "msrvtt.yaml",
        model,
        f"dataset={{reader: msrvtt, path: {tmp_path}/official.json, split: test}}",
    )
    assert [record["n"] for record in official.results] == [2]
    (reason,) = official.failed.values()
    assert "video7011.mp4: is no image, video or sound by its content" in reason


@pytest.mark.parametrize("form", ["jsonl", "json", "csv"])
def test_audiocaps_runs_on_sounds(root, golden, monkeypatch, tmp_path, form):
    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    tiny_media_models.whisper(tmp_path / "model")
    for number in (1, 2, 3):
        write_sound(tmp_path / f"sample{number:05d}.wav", 0.4, pitch=300 + 100 * number)
    model = {"model": str(tmp_path / "model"), "images": str(tmp_path)}
    if form == "jsonl":
        table = results(root, "audiocaps.yaml", model)
    else:  # one record per caption
        rows = [
            {
                "youtube_id": f"sample{i:05d}",
                "start_time": 5,
                "caption": f"rain falls {k}",
            }
            for i in (1, 2, 3)
            for k in range(4)
        ]
        if form == "csv":  # the official form
            lines = [
                f"{k},{row['youtube_id']},5,{row['caption']}"
                for k, row in enumerate(rows)
            ]
            (tmp_path / "rows.csv").write_text(
                "\n".join(["audiocap_id,youtube_id,start_time,caption", *lines]) + "\n"
            )
        else:
            (tmp_path / "rows.json").write_text(json.dumps(rows))
        table = results(
            root, "audiocaps.yaml", model, f"dataset.path={tmp_path}/rows.{form}"
        )
    assert [record["n"] for record in table.results] == [3] and not table.failed
