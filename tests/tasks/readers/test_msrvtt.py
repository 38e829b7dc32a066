"""The ``msrvtt`` reader."""

from __future__ import annotations

from harness_tasks.readers.msrvtt import MsrVtt


def msrvtt():
    return {
        "info": {},
        "videos": [
            {"video_id": "video1", "split": "train", "category": 3},
            {"video_id": "video2", "split": "test", "category": 4},
        ],
        "sentences": [
            {"sen_id": 1, "video_id": "video2", "caption": "someone sings"},
            {"sen_id": 2, "video_id": "video1", "caption": "a car"},
            {"sen_id": 3, "video_id": "video2", "caption": "a song"},
        ],
    }


def test_msrvtt(save):
    path = save(msrvtt())
    item = next(iter(MsrVtt(path=path, split="test")))
    assert (item.id, item.references) == ("video2", ("someone sings", "a song"))
    assert (item.media, item.meta) == ("video2.mp4", {"category": 4, "split": "test"})
    assert [x.id for x in MsrVtt(path=path)] == ["video1", "video2"]


def test_msrvtt_bad_input(save, error_message):
    value = msrvtt()
    path = save(value)
    assert "no split 'val'; found train, test" in error_message(
        MsrVtt(path=path, split="val")
    )
    value["sentences"][0]["video_id"] = "video9"
    assert error_message(MsrVtt(path=save(value), split="test")).endswith(
        "sentences: record 1: the sentence refers to the video 'video9', "
        "which 'videos' does not list"
    )
    value["videos"][1]["video_id"] = "video1"
    assert error_message(MsrVtt(path=save(value))).endswith(
        "videos: record 2: the video id 'video1' occurs twice"
    )
    assert error_message(MsrVtt(path=save({**msrvtt(), "sentences": []}))) == (
        f"{path}: 2 of 2 videos have no references: 'video1', 'video2'"
    )


def test_media_names_have_folder_and_suffix(save):
    reader = MsrVtt(
        path=save(msrvtt()), media_root="videos/", suffix=".avi", split="train"
    )
    assert [example.media for example in reader] == ["videos/video1.avi"]
    assert (
        reader.fingerprint()
        != MsrVtt(
            path=save(msrvtt()), media_root="videos/", split="train"
        ).fingerprint()
    )
