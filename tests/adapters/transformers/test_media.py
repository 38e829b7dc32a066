"""The ``transformers`` adapter with tiny models of videos and sounds: parity with
``generate``, batches, media, failures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from harness.contracts import Decoding, Example, Failure, Generation
from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision

guard_torchvision()
pytest.importorskip("transformers")
pytest.importorskip("av")

from harness_models.transformers.adapter import Transformers  # noqa: E402
from tests.support import tiny_media_models, tiny_models  # noqa: E402
from tests.support.media_files import write_sound, write_video  # noqa: E402

VIDEO = tuple(tiny_media_models.VIDEO)
AUDIO = tuple(tiny_media_models.AUDIO)
UNPROMPTED = ("ved_video", "whisper", "ved")
GREEDY = Decoding()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("media")
    for name, builder in {**tiny_media_models.VIDEO, **tiny_media_models.AUDIO}.items():
        builder(base / name)
    for name in ("llava", "ved", "gpt2"):
        tiny_models.BUILDERS[name](base / name)
    tiny_models.pictures(base)
    for i in range(4):
        write_video(base / f"{i}.mp4", 12 + i, seed=i)
        write_sound(base / f"{i}.wav", 0.3 + 0.2 * i, pitch=200 + 150 * i)
    content = (base / "0.mp4").read_bytes()
    (base / "cut.mp4").write_bytes(content[: len(content) // 2])
    (base / "cut.wav").write_bytes((base / "0.wav").read_bytes()[:2000])
    return base


def build(folders, name: str, **params: Any) -> Transformers:
    settings: Any = {
        "prompt": "" if name in UNPROMPTED else "a dog",
        "images": str(folders),
        "max_length": 8,
        **params,
    }
    if name in ("llava_next_video", "qwen2_vl_video"):
        settings.setdefault("frames", 4)
    return Transformers(model=str(folders / name), **settings)


def examples(suffix: str, count: int = 4) -> list[Example]:
    return [
        Example(f"e{i}", ("a dog runs", "the cat"), media=f"{i}.{suffix}")
        for i in range(count)
    ]


def of(name: str) -> list[Example]:
    return examples("mp4" if name in VIDEO else "wav")


def captions(adapter, items, decoding=GREEDY, seeds=range(10)) -> list[tuple[str, ...]]:
    results = list(adapter.generate(items, decoding, list(seeds)[: len(items)]))
    assert all(isinstance(item, Generation) for item in results), results
    return [item.candidates for item in results]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*VIDEO, *AUDIO])
def test_greedy_equals_generate(folders, name):
    adapter = build(folders, name)
    for example, texts in zip(of(name), captions(adapter, of(name))):
        inputs = adapter.builder.build(example)
        with torch.inference_mode():
            out = adapter.loaded.model.generate(
                **inputs, max_new_tokens=8, do_sample=False
            )
        start = inputs["input_ids"].shape[1] if "input_ids" in inputs else 0
        assert texts == (adapter.to_text(out[0, start:].tolist()),)


@pytest.mark.first_case_fast
@pytest.mark.parametrize("name", [*VIDEO, *AUDIO])
def test_captions_and_scores_do_not_depend_on_the_batch(folders, name):
    decoding = Decoding("sample", temperature=1.2, candidates=2)
    whole = captions(build(folders, name), of(name), decoding)
    assert len({text for texts in whole for text in texts}) > 3
    assert captions(build(folders, name, batch_size=1), of(name), decoding) == whole
    together = [
        s.log_probs
        for scores in build(folders, name).score_references(of(name))
        for s in scores
    ]
    apart = [
        s.log_probs
        for scores in build(folders, name, batch_size=1).score_references(of(name))
        for s in scores
    ]
    for one, other in zip(together, apart):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("name", [*VIDEO, *AUDIO])
def test_the_medium_changes_the_scores(folders, name):
    scores = [
        item[0].log_probs for item in build(folders, name).score_references(of(name))
    ]
    assert all(np.abs(scores[0] - other).max() > 1e-4 for other in scores[1:])


@pytest.mark.slow
def test_the_number_and_the_choice_of_frames_reach_the_model(folders):
    uniform = build(folders, "llava_next_video").builder.build(
        of("llava_next_video")[0]
    )
    assert uniform["pixel_values_videos"].shape == (1, 4, 3, 16, 16)
    assert (
        build(folders, "llava_next_video", frames=2)
        .builder.build(examples("mp4")[0])["pixel_values_videos"]
        .shape[1]
        == 2
    )
    one = build(folders, "llava_next_video", frames=2, frame_choice="key")
    assert one.builder.build(examples("mp4")[0])["pixel_values_videos"].shape[1] == 1, (
        "the video has one key frame"
    )
    assert (
        one.fingerprint() != build(folders, "llava_next_video", frames=2).fingerprint()
    )
    assert build(folders, "ved_video").builder.frames == 4, "that of the configuration"
    assert build(folders, "git_video").builder.frames == 3
    with pytest.raises(
        HarnessError, match="frames is a number from 1 to 4096; found 0"
    ):
        build(folders, "llava_next_video", frames=0)


def test_images_and_videos_go_to_one_model_by_their_suffix(folders):
    items = [Example("i", ("a",), media="0.png"), Example("v", ("a",), media="0.mp4")]
    adapter = build(folders, "llava_next_video")
    image, video = adapter.inputs(items)
    assert "pixel_values" in image and "pixel_values_videos" in video
    assert len(captions(adapter, items)) == 2


def test_names_without_a_suffix_find_their_files(folders):
    videos = [
        Example(f"e{i}", ("a dog runs", "the cat"), media=str(i)) for i in range(2)
    ]
    assert captions(build(folders, "ved_video"), videos) == captions(
        build(folders, "ved_video"), examples("mp4", 2)
    )
    assert captions(build(folders, "whisper"), videos) == captions(
        build(folders, "whisper"), examples("wav", 2)
    )


def test_frames_are_images_for_models_that_place_images_in_the_prompt(folders):
    adapter = build(folders, "llava", frames=3)
    inputs = adapter.builder.build(examples("mp4")[0])
    assert (
        inputs["pixel_values"].shape[0] == 3
        and adapter.builder.text(examples("mp4")[0], "image", 3).count("<image>") == 3
    )
    assert len(captions(adapter, examples("mp4"))) == 4
    result = next(iter(build(folders, "ved").generate(examples("mp4", 1), GREEDY, [0])))
    assert (
        isinstance(result, Failure)
        and result.reason == "0.mp4: the model reads image, not video"
    )


def test_cells_of_data_sets_are_read(folders, tmp_path):
    datasets = pytest.importorskip("datasets")
    from harness_tasks.readers.hf import HuggingFaceDataset

    cells = [
        {"bytes": (folders / f"{i}.mp4").read_bytes(), "path": f"{i}.mp4"}
        for i in range(2)
    ]
    rows = {
        "id": ["a", "b"],
        "captions": [["a dog runs", "the cat"]] * 2,
        "media": cells,
    }
    types = datasets.Features(
        {
            "id": datasets.Value("string"),
            "captions": datasets.List(datasets.Value("string")),
            "media": datasets.Video(decode=False),
        }
    )
    datasets.Dataset.from_dict(rows, features=types).save_to_disk(
        str(tmp_path / "data")
    )
    items = list(HuggingFaceDataset(path=str(tmp_path / "data")))
    assert captions(build(folders, "ved_video"), items) == captions(
        build(folders, "ved_video"), examples("mp4", 2)
    )


def test_the_sound_of_a_video_goes_to_a_model_of_sounds(folders):
    result = next(
        iter(build(folders, "whisper").generate(examples("mp4", 1), GREEDY, [0]))
    )
    assert isinstance(result, Failure) and result.reason.endswith(
        "0.mp4: the file has no sound"
    )


def test_damaged_files_are_failures_of_their_examples(folders):
    items = [
        Example("a", ("a",), media="cut.mp4"),
        Example("b", ("a",), media="gone.mp4"),
        Example("c", ("a",)),
        *examples("mp4", 1),
    ]
    results: list[Any] = list(
        build(folders, "ved_video").generate(items, GREEDY, range(4))
    )
    assert (
        "cut.mp4: the video does not decode" in results[0].reason
        and "gone.mp4: no such video" in results[1].reason
    )
    assert (
        results[2].reason.startswith(
            "the example names no video; columns: {media: NAME}"
        )
        and results[3].candidates
    )
    sound: Any = next(
        iter(
            build(folders, "qwen2_audio").generate(
                [Example("a", ("a",), media="cut.wav")], GREEDY, [0]
            )
        )
    )
    assert "cut.wav: the file is truncated: its header promises" in sound.reason


def test_a_medium_that_the_model_does_not_read_is_refused(folders):
    with pytest.raises(HarnessError, match="reads audio, not video"):
        build(folders, "whisper", medium="video")
    with pytest.raises(HarnessError, match="reads text only, not image"):
        build(folders, "gpt2", medium="image", prompt="a")
    with pytest.raises(
        HarnessError, match="medium is auto or one of image, video, audio; found 'film'"
    ):
        build(folders, "llava", medium="film")
    bare = Transformers(
        model=str(folders / "qwen2_audio"),
        images=str(folders),
        prompt="a dog",
        chat=False,
    )
    with pytest.raises(
        InputError,
        match=r"reads the audio at '<\|AUDIO\|>', which the prompt 'a dog' does not "
        r"contain",
    ):
        list(bare.generate(examples("wav", 1), GREEDY, [0]))


def test_the_prompt_of_a_speech_decoder_follows_its_start_token(folders):
    adapter = build(folders, "whisper", prompt="says :")
    assert adapter._start_tokens(2).tolist() == [[1, 15, 16]] * 2
    assert captions(adapter, examples("wav")) != captions(
        build(folders, "whisper"), examples("wav")
    )
