"""Tasks of choices and polls: the shipped examples run with the baseline,
and have what their forms promise.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

import harness
import harness.api
from harness.run.execute import execute as run
from harness.run.execution import Options
from harness.run.merge import merge
from harness.run.plan import make_plan
from harness.run.shard_grid import Part
from harness.rundir.rundir import RunDir
from harness.spec.loading import load_specs
from tests.support.chat_server import server

__all__ = ["server"]
TASKS = Path(__file__).resolve().parents[2] / "tasks" / "harness_tasks" / "choices"
NAMES = sorted(path.stem for path in TASKS.glob("*.yaml"))
WORDS = {
    "word-model": {
        "corpus": {
            "of": {
                "reader": "coco",
                "path": str(TASKS.parent / "sample" / "captions.json"),
            }
        }
    }
}
COLUMNS = {
    "sugarcrepe": 3 + 3 * 2,
    "foil": 3,
    "winoground": 6,
    "pope": 5,
    "amber": 5 + 5 * 5,
}


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_examples_run(name, monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    (loaded,) = load_specs(TASKS / f"{name}.yaml")
    table = run(make_plan(loaded))
    assert len(table.results) == COLUMNS[name] and not table.failed
    accuracy = next(
        record for record in table.results if "accuracy" in record["metric"]
    )
    assert 0 <= accuracy["value"] <= 1 and accuracy["n"] == {
        "pope": 28,
        "winoground": 16,
    }.get(name, 12)


def test_parts_have_their_own_sizes_and_no_shard_changes_them(monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    spec = TASKS / "sugarcrepe.yaml"
    options = [Options(shard_size=5, part=Part(k, 2)) for k in (1, 2)]
    whole = harness.evaluate(spec, output="whole")
    sizes = {record["metric"]: record["n"] for record in whole.results}
    assert sizes["choice(accuracy)"] == 12
    assert [
        n for name, n in sizes.items() if name.startswith("choice(accuracy, kind=")
    ] == [7, 3, 2]
    for k, option in enumerate(options):
        harness.api.evaluate_all(spec, output=Path(f"part{k}"), options=option)
    merged = merge([Path("part0"), Path("part1")], Path("merged"))
    keys = ("metric", "value", "ci95", "n")
    assert [[row[key] for key in keys] for row in merged.results] == [
        [row[key] for key in keys] for row in whole.results
    ]
    (model,) = RunDir.open("whole").provenance.models
    assert model.source is not None, "the word model describes its corpus"


def test_the_kinds_of_sugarcrepe_are_its_files(monkeypatch, tmp_path):
    kinds = [
        "replace_obj",
        "replace_att",
        "replace_rel",
        "swap_obj",
        "swap_att",
        "add_obj",
        "add_att",
    ]

    (tmp_path / "sugarcrepe").mkdir()
    record = {
        "filename": "1.jpg",
        "caption": "a dog on a mat",
        "negative_caption": "a mat on a dog",
    }
    for kind in kinds:
        (tmp_path / "sugarcrepe" / f"{kind}.json").write_text(
            json.dumps({"0": record, "1": record})
        )

    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    (loaded,) = load_specs(TASKS / "sugarcrepe.yaml", models=[WORDS])
    table = run(make_plan(loaded))

    parts = {
        record["metric"]: record["n"]
        for record in table.results
        if "file=" in record["metric"]
    }
    assert parts == {
        f"choice({name}, file={kind})": 2
        for kind in kinds
        for name in ("accuracy", "shortest")
    }


def test_a_file_of_the_published_form_is_used_where_it_is(monkeypatch, tmp_path):
    (tmp_path / "pope").mkdir()
    rows = [
        {
            "question_id": k,
            "image": "x.jpg",
            "text": "Is there a dog in the image?",
            "label": "yes" if k % 2 else "no",
        }
        for k in range(6)
    ]
    (tmp_path / "pope" / "coco_pope_popular.json").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )

    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    (loaded,) = load_specs(TASKS / "pope.yaml")
    assert [name for model in loaded.spec.models for name in model] == [
        "word-model",
        "transformers",
    ]
    assert (
        loaded.spec.models[1]["transformers"]["model"] == "Qwen/Qwen2-VL-2B-Instruct"
    ), "a model of the hub by default"

    (loaded,) = load_specs(TASKS / "pope.yaml", models=[WORDS])
    table = run(make_plan(loaded))
    assert {record["n"] for record in table.results} == {6}
    assert (
        next(r["value"] for r in table.results if "accuracy" in r["metric"]) == 0.5
    ), "it sees no image"


def test_foils_differ_from_captions_in_their_words():
    for row in json.loads((TASKS / "data" / "foil.json").read_text()):
        assert (
            row["caption"].replace(row["target_word"], row["foil_word"]) == row["foil"]
        )
    for row in json.loads((TASKS / "data" / "winoground.json").read_text()):
        first, second = (
            sorted(row[name].split()) for name in ("caption_0", "caption_1")
        )
        assert len(first) == len(second)
    polls = [
        json.loads(line)
        for line in (TASKS / "data" / "pope.json").read_text().splitlines()
    ]
    assert sum(row["label"] == "yes" for row in polls) * 2 == len(polls)


@pytest.mark.parametrize("name", ["winoground", "sugarcrepe"])
def test_a_model_of_images_chooses(name, monkeypatch, tmp_path):
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    pytest.importorskip("transformers")
    from PIL import Image

    from tests.support import tiny_models

    tiny_models.llava(tmp_path / "model")

    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    model = {
        "transformers": {
            "model": str(tmp_path / "model"),
            "images": str(tmp_path),
            "prompt": "a dog",
        }
    }

    (loaded,) = load_specs(TASKS / f"{name}.yaml", limit=4, models=[model])
    plan = make_plan(loaded)
    for k, media in enumerate(sorted({str(example.media) for example in plan.reader})):
        Image.new("RGB", (24, 24), (40 * k % 256, 90, 160)).save(tmp_path / media)

    table = run(plan)
    # two kinds of four
    assert (
        len(table.results) == {"sugarcrepe": 3 + 2 * 2}.get(name, COLUMNS[name])
        and not table.failed
    )


@pytest.mark.parametrize("name", ["winoground", "sugarcrepe", "pope", "amber"])
def test_a_model_behind_a_server_answers(name, monkeypatch, tmp_path, server, capsys):
    """The server knows the answers to all questions but one of ten, to which it says
    nothing that can be read.
    """
    pytest.importorskip("httpx2")
    from PIL import Image

    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))

    polls = name in ("pope", "amber")
    inner = {
        "openai": {
            "base_url": server.url,
            "model": "m",
            "images": str(tmp_path),
            "prompt": "{source}",
            "first_wait": 0.01,
        }
    }

    (loaded,) = load_specs(
        TASKS / f"{name}.yaml",
        models=[
            {"generated-answers": {"model": inner, **({"by": "text"} if polls else {})}}
        ],
    )

    plan = make_plan(loaded)
    examples = list(plan.reader)

    right: dict[tuple[str, str], str] = {}
    for k, media in enumerate(
        dict.fromkeys(str(example.media) for example in examples)
    ):
        Image.new("RGB", (8, 8), (k * 7 % 256, k // 36, 9)).save(
            tmp_path / Path(media).with_suffix(".png").name
        )
        (tmp_path / Path(media).with_suffix(".png").name).rename(tmp_path / media)
        picture = base64.b64encode((tmp_path / media).read_bytes()).decode()
        right |= {
            (picture, example.source or ""): example.references[0]
            for example in examples
            if str(example.media) == media
        }
    unread = {(example.references[0], example.source) for example in examples[::10]}

    def answer(body):
        image, text = (part for part in body["messages"][0]["content"])
        lines = text["text"].splitlines()
        question = "" if lines[0] == "Which caption describes the image?" else lines[0]
        best = right[image["image_url"]["url"].partition(",")[2], question]
        letters = {line[3:]: line[:1] for line in lines[1:]}
        text = (
            "**Yes**, I see it."
            if best == "yes"
            else "There is no such thing."
            if best == "no"
            else f"({letters.get(best)})"
        )
        said = "I cannot tell." if (best, question or None) in unread else text
        return {
            "choices": [{"message": {"content": said}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 2},
        }

    server.answer = answer

    table = run(plan)
    numbers = {
        record["metric"].partition("(")[2].rstrip(")"): record["value"]
        for record in table.results
    }

    share = sum(
        (example.references[0], example.source) in unread for example in examples
    ) / len(examples)
    assert 0 < numbers["unparsed"] == pytest.approx(share) and numbers[
        "accuracy"
    ] == pytest.approx(1 - share)
    assert numbers["precision" if polls else "chance"] == (1.0 if polls else 0.5)
    assert table.costs["generated-answers"]["requests"] == len(examples)

    if name == "winoground":
        assert numbers["text"] == numbers["image"] == numbers["group"] < 1
