"""Blocks of examples: what a script reads from them is what the run holds."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as parquet
import pytest

import harness
from harness.errors import InputError
from harness.reporting import page
from harness.reporting.page import examples
from harness.reporting.page.examples import _numbers, examples_of, stream, thumbnails
from harness.reporting.page.groups import groups_of, open_run
from harness.run.finished import Run


@pytest.fixture
def read(monkeypatch):
    """``read(run, limit)``: name -> content of the blocks, in parts of four examples."""
    monkeypatch.setattr(examples, "PART", 4)

    def blocks(*names: str, limit: int | None = None) -> dict[str, bytes]:
        (group,) = groups_of([(name, open_run(name)) for name in names])
        result = examples.example_blocks(group, "g", limit)
        return {block.name: gzip.decompress(base64.b64decode(block.data)) for block in result.blocks}

    return blocks


def numbers(content: bytes, systems: int) -> np.ndarray:
    planes = np.frombuffer(content, np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<f4").reshape(systems, -1)


def test_captions_references_and_scores_of_every_system(read, finished):
    blocks = read(finished())
    index = json.loads(blocks["g-index"])
    assert index["ids"] == [f"e{k}" for k in range(6)] and index["part"] == 4
    assert [metric["name"] for metric in index["metrics"]] == ["length"] and index["metrics"][0]["p"]
    assert json.loads(blocks["g-refs-1"])[0] == ["a dog number 4", "the dog 4 runs"]
    assert json.loads(blocks["g-caps-0-1"])["c"][1] == ["a dog number 5", "the dog 5 runs x"]
    scores = numbers(blocks["g-score-0"], 4)
    assert scores.shape == (4, 6) and np.isnan(scores[1, 1]) and scores[0, 0] == 4.5
    assert numbers(blocks["g-p-0"], 4)[0, 0] <= 1


def test_a_system_with_fewer_examples_has_rows_and_own_references_are_kept(read, finished):
    blocks = read(finished())
    assert np.frombuffer(blocks["g-rows-1"], "<i4").tolist() == [0, -1, 1, 2, 3, 4]
    assert "g-rows-0" not in blocks
    own = json.loads(blocks["g-caps-2-0"])
    assert len(own["r"]["0"]) == 1, "held-out people are compared with the other reference"


def test_fewer_examples_are_spread_over_the_data(read, finished):
    blocks = read(finished(), limit=2)
    index = json.loads(blocks["g-index"])
    assert index["ids"] == ["e1", "e4"] and index["total"] == 6
    assert json.loads(blocks["g-caps-0-0"])["c"][1][0] == "a dog number 4"
    assert json.loads(blocks["g-caps-1-0"])["c"][0][0] == "a dog number 4", "the second model failed for e1"


def test_systems_of_two_runs_share_the_examples(read, finished):
    blocks = read(finished("a"), finished("b", models=[{"echo": {"label": "third"}}]))
    index = json.loads(blocks["g-index"])
    assert [system["run"] for system in index["systems"]] == ["a", "a", "a", "a", "b"]
    assert numbers(blocks["g-score-0"], 5)[4, 0] == 4.5


def test_numbers_that_are_no_means_of_scores_come_last(read, finished):
    metrics = [{"bleu": {"tokenizer": "none"}}, {"rouge": {"tokenizer": "none"}}, "mine/length"]
    models = [{"human": {"held_out": 1}}, {"shuffled": {}}]
    index = json.loads(read(finished(metrics=metrics, models=models, views=[]))["g-index"])
    assert [metric["label"] for metric in index["metrics"]] == ["rouge", "length", "bleu4"], "BLEU of a corpus is none of its sentences"


def test_scores_of_examples_that_are_not_on_the_page_are_left_out():
    table = SimpleNamespace(names=["a"], numbers=lambda name: np.array([1.0, 2.0]))
    block = _numbers("g-score-0", "a", [SimpleNamespace(table=table, rows=np.arange(2), examples=["x", "gone"])], {"x": 0, "y": 1})
    values = numbers(gzip.decompress(base64.b64decode(block.data)), 1)[0]
    assert values[0] == 1.0 and np.isnan(values[1])


Image = pytest.importorskip("PIL.Image")
IDS = [f"p{k}" for k in range(6)]


@pytest.fixture
def pictured(project: Path) -> str:
    """A run of six examples with images; one is missing, one is no image."""
    rows = []
    for k, name in enumerate(IDS):
        file = project / f"{name}.jpg"
        if k == 1:
            file.write_text("not an image")
        elif k != 2:
            Image.effect_noise((640, 480), 40 + k).save(file)
        rows.append({"id": name, "references": ["a b", "c d"], "media": str(file)})
    (project / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    models = [{"human": {"held_out": 1}}]
    harness.evaluate(
        {"task": "t", "dataset": {"reader": "jsonl", "path": "data.jsonl"}, "models": models, "metrics": ["mine/length"]}, output="r"
    )
    return "r"


def pictures(run: str, **options):
    return thumbnails(IDS, examples_of(Run.open(run)), **options)


def test_images_are_embedded_and_others_named(pictured):
    result = pictures(pictured)
    assert list(result.data) == ["p0", "p3", "p4", "p5"]
    assert all(url.startswith("data:image/webp;base64,") for url in result.data.values())
    assert list(result.links) == ["p0", "p1", "p3", "p4", "p5"], "a click on a thumbnail leads to the file"
    assert result.links["p0"] == "p0.jpg" and pictures(pictured, folder=Path("my pages")).links["p0"] == "../p0.jpg"
    assert result.note == "Images of 6 examples: 4 as thumbnails, 1 linked to their files, 1 missing."


def test_images_that_are_linked_alone_have_a_block():
    assert len(examples.Thumbnails({}, {"a": "a.jpg"}).blocks("g")) == 1 and examples.Thumbnails().blocks("g") == []


def test_files_that_are_all_there_are_not_missing(pictured):
    examples = [example for example in examples_of(Run.open(pictured)) if Path(example.media).is_file()]
    assert len(examples) == 5
    assert thumbnails(IDS, examples).note == "Images of 6 examples: 4 as thumbnails, 1 linked to their files."


def test_the_budget_bounds_the_embedded_bytes(pictured):
    size = max(len(url) for url in pictures(pictured).data.values()) * 3 // 4
    result = pictures(pictured, budget=2 * size + 200)
    assert len(result.data) == 2 and len(result.links) == 5
    whole = sum(len(base64.b64decode(url.partition(",")[2])) for url in pictures(pictured).data.values())
    assert [len(pictures(pictured, budget=whole - less).data) for less in (0, 1)] == [4, 3]


def test_images_elsewhere_are_a_remark_and_changed_data_have_none(pictured, project):
    for name in IDS:
        (project / f"{name}.jpg").unlink(missing_ok=True)
    result = pictures(pictured)
    assert not result.data and result.note.startswith("No thumbnails: the images are not where the data set names them (")
    (project / "data.jsonl").write_text('{"id": "p0", "references": ["x", "y"]}\n')
    assert pictures(pictured).note == ""
    (project / "data.jsonl").unlink()
    assert pictures(pictured).note == ""


def test_a_run_without_images_has_no_block(finished, blocks):
    assert "g0-images" not in blocks(page.build([finished()]))


@pytest.mark.slow
def test_the_page_shows_them(pictured, browse):
    with browse(page.write([pictured])) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector(".detail .picture img")
        assert view.locator(".row img").count() == 4
        view.keyboard.press("j")
        view.wait_for_selector("text=Image file")


def test_every_layout_gives_the_captions_of_the_system(finished, project):
    run = Run.open(finished())
    system = run.samples.systems[1]
    expected = [(item.id, item.candidates, item.references) for item in system.caption_sets()]
    path = project / "r" / "samples.parquet"
    table = parquet.read_table(path)
    for size in (2, 100):
        parquet.write_table(table, path, row_group_size=size)
        assert [(item.id, item.candidates, item.references) for item in stream(run, system)] == expected
    assert [item.id for item in stream(replace(run, path=None), system)] == [name for name, _, _ in expected]
    path.unlink()
    assert [item.id for item in stream(run, system)] == [name for name, _, _ in expected]


def test_a_damaged_file_is_named(finished, project):
    run = Run.open(finished())
    system = run.samples.systems[0]
    (project / "r" / "samples.parquet").write_bytes(b"PAR1" + b"\0" * 40)
    with pytest.raises(InputError, match=r"samples\.parquet: is damaged"):
        list(stream(run, system))
