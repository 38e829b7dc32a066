"""Blocks of examples: what a script reads from them is what the run holds."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as parquet
import pytest

import harness
from harness.analysis.pairs import ComparedRun
from harness.contracts import Example
from harness.errors import InputError
from harness.reporting import page
from harness.reporting.page import examples
from harness.reporting.page.examples import _numbers, examples_of, stream, thumbnails
from harness.reporting.page.groups import Group, groups_of, open_run
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


@pytest.fixture
def read(monkeypatch):
    """``read(run, limit)``: name -> content of the blocks,
    in parts of four examples.
    """
    monkeypatch.setattr(examples, "PART", 4)

    def blocks(*names: str, limit: int | None = None) -> dict[str, bytes]:
        (group,) = groups_of([(name, open_run(name)) for name in names])
        result = examples.example_blocks(group, "g", limit)
        return {
            block.name: gzip.decompress(base64.b64decode(block.data))
            for block in result.blocks
        }

    return blocks


def numbers(content: bytes, systems: int) -> np.ndarray:
    planes = np.frombuffer(content, np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<f4").reshape(systems, -1)


def test_captions_references_and_scores_of_every_system(read, finished):
    blocks = read(finished())
    index = json.loads(blocks["g-index"])
    assert index["ids"] == [f"e{k}" for k in range(6)] and index["part"] == 4
    assert [metric["name"] for metric in index["metrics"]] == ["length"] and index[
        "metrics"
    ][0]["p"]
    assert json.loads(blocks["g-refs-1"])[0] == ["a dog number 4", "the dog 4 runs"]
    assert json.loads(blocks["g-caps-0-1"])["c"][1] == [
        "a dog number 5",
        "the dog 5 runs x",
    ]
    scores = numbers(blocks["g-score-0"], 4)
    assert scores.shape == (4, 6) and np.isnan(scores[1, 1]) and scores[0, 0] == 4.5
    assert numbers(blocks["g-p-0"], 4)[0, 0] <= 1


def test_a_system_with_fewer_examples_has_rows_and_own_references_are_kept(
    read, finished
):
    blocks = read(finished())
    assert np.frombuffer(blocks["g-rows-1"], "<i4").tolist() == [0, -1, 1, 2, 3, 4]
    assert "g-rows-0" not in blocks
    own = json.loads(blocks["g-caps-2-0"])
    assert len(own["r"]["0"]) == 1, (
        "held-out people are compared with the other reference"
    )


def test_fewer_examples_are_spread_over_the_data(read, finished):
    blocks = read(finished(), limit=2)
    index = json.loads(blocks["g-index"])
    assert index["ids"] == ["e1", "e4"] and index["total"] == 6
    assert json.loads(blocks["g-caps-0-0"])["c"][1][0] == "a dog number 4"
    assert json.loads(blocks["g-caps-1-0"])["c"][0][0] == "a dog number 4", (
        "the second model failed for e1"
    )
    for limit, places in ((3, (1, 3, 5)), (6, range(6)), (7, range(6))):
        assert json.loads(read("r", limit=limit)["g-index"])["ids"] == [
            f"e{k}" for k in places
        ]


def made(columns: dict, *records: ResultRecord):
    """A group of one run in memory."""
    return Group(
        (
            ComparedRun(
                Run(Provenance({"task": "t"}), records, SampleTable(columns)), name="r"
            ),
        )
    )


def contents(group: Group) -> dict[str, object]:
    """Name -> content of the JSON blocks of a group."""
    result = examples.example_blocks(group, "g")
    names = ("index", "refs", "caps")
    texts = {
        block.name: gzip.decompress(base64.b64decode(block.data))
        for block in result.blocks
    }
    return {
        name: json.loads(text)
        for name, text in texts.items()
        if name.split("-")[1] in names
    }


def test_full_parts_have_no_empty_one_behind_them(monkeypatch):
    monkeypatch.setattr(examples, "PART", 4)
    texts = [[f"text {k}"] for k in range(8)]
    ids = [f"e{k}" for k in range(8)]
    columns = {
        "model": ["a"] * 8,
        "decoding": ["{}"] * 8,
        "example": ids,
        "candidates": texts,
        "references": texts,
    }
    blocks = contents(made(columns, ResultRecord(model="a", metric="m")))
    assert list(blocks) == [
        "g-index",
        "g-caps-0-0",
        "g-caps-0-1",
        "g-refs-0",
        "g-refs-1",
    ]
    assert blocks["g-caps-0-1"] == {"c": texts[4:]} and blocks["g-refs-1"] == texts[4:]


@pytest.mark.parametrize("part", [2, 3, 100])
def test_own_references_belong_to_the_place_of_the_example_in_its_part(
    monkeypatch, part
):
    """The second system has its examples in another order and lacks one, and references
    of its own for all but ``e2``.
    """
    monkeypatch.setattr(examples, "PART", part)
    order = [4, 2, 0, 3]
    ids = [f"e{k}" for k in (*range(5), *order)]
    columns = {
        "model": ["a"] * 5 + ["b"] * 4,
        "decoding": ["{}"] * 9,
        "example": ids,
        "candidates": [[f"text {name}"] for name in ids],
        "references": [[f"shared {k}"] for k in range(5)]
        + [[f"shared {k}" if k == 2 else f"own {k}"] for k in order],
    }
    records = [
        ResultRecord(model=name, metric="m", sizes={"references": [size]})
        for name, size in (("a", 2), ("b", 1))
    ]
    blocks = contents(made(columns, *records))
    found = {}
    for number in range(-(-4 // part)):
        block = blocks[f"g-caps-1-{number}"]
        for place, candidates in enumerate(block["c"]):
            found[candidates[0]] = block.get("r", {}).get(str(place))
    assert found == {
        "text e4": ["own 4"],
        "text e2": None,
        "text e0": ["own 0"],
        "text e3": ["own 3"],
    }


def test_references_are_of_the_system_with_most_and_the_index_describes_metrics():
    columns = {
        "model": ["a", "b"],
        "decoding": ["{}"] * 2,
        "example": ["x"] * 2,
        "candidates": [["one"], ["two"]],
        "references": [["r"], ["s"]],
        "bare": [np.nan, np.nan],
        "m": [1.0, 2.0],
        "p:m": [0.5, 0.25],
    }
    records = [
        ResultRecord(model="a", metric="bare", value=0.0),
        ResultRecord(model="a", metric="m", value=1.0, signature="m|1"),
        ResultRecord(
            model="b",
            metric="m",
            value=2.0,
            signature="m|1",
            higher_is_better=False,
            sizes={"references": [1]},
        ),
    ]
    blocks = contents(made(columns, *records))
    assert blocks["g-refs-0"] == [["s"]] and blocks["g-caps-0-0"] == {
        "c": [["one"]],
        "r": {"0": ["r"]},
    }
    assert blocks["g-caps-1-0"] == {"c": [["two"]]}
    assert blocks["g-index"] == {
        "ids": ["x"],
        "total": 1,
        "part": examples.PART,
        "systems": [
            {"model": name, "label": name, "run": "", "decoding": ""} for name in "ab"
        ],
        "metrics": [
            {"label": "m", "name": "m", "p": True, "higher": False, "signature": "m|1"},
            {
                "label": "bare",
                "name": "bare",
                "p": False,
                "higher": None,
                "signature": "",
            },
        ],
    }, "a metric without a score comes last"


def test_systems_of_two_runs_share_the_examples(read, finished):
    blocks = read(finished("a"), finished("b", models=[{"echo": {"label": "third"}}]))
    index = json.loads(blocks["g-index"])
    assert [system["run"] for system in index["systems"]] == ["a", "a", "a", "a", "b"]
    assert numbers(blocks["g-score-0"], 5)[4, 0] == 4.5


def test_numbers_that_are_no_means_of_scores_come_last(read, finished):
    metrics = [
        {"bleu": {"tokenizer": "none"}},
        {"rouge": {"tokenizer": "none"}},
        "mine/length",
    ]
    models = [{"human": {"held_out": 1}}, {"shuffled": {}}]
    index = json.loads(
        read(finished(metrics=metrics, models=models, views=[]))["g-index"]
    )
    assert [metric["label"] for metric in index["metrics"]] == [
        "rouge",
        "length",
        "bleu4",
    ], "BLEU of a corpus is none of its sentences"


def test_scores_of_examples_that_are_not_on_the_page_are_left_out():
    table = SimpleNamespace(names=["a"], numbers=lambda name: np.array([1.0, 2.0]))
    block = _numbers(
        "g-score-0",
        "a",
        [SimpleNamespace(table=table, rows=np.arange(2), examples=["x", "gone"])],
        {"x": 0, "y": 1},
    )
    values = numbers(gzip.decompress(base64.b64decode(block.data)), 1)[0]
    assert values[0] == 1.0 and np.isnan(values[1])


def test_a_system_without_a_column_has_no_scores_and_the_next_one_has_its_own():
    tables = [
        SimpleNamespace(names=names, numbers=lambda name: np.array([3.0]))
        for names in (["b"], ["a"])
    ]
    systems = [
        SimpleNamespace(table=table, rows=np.arange(1), examples=["x"])
        for table in tables
    ]
    without, with_column = numbers(
        gzip.decompress(
            base64.b64decode(_numbers("g-score-0", "a", systems, {"x": 0}).data)
        ),
        2,
    )
    assert np.isnan(without).all() and with_column.tolist() == [3.0]


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
        {
            "task": "t",
            "dataset": {"reader": "jsonl", "path": "data.jsonl"},
            "models": models,
            "metrics": ["mine/length"],
        },
        output="r",
    )
    return "r"


def pictures(run: str, **options):
    return thumbnails(IDS, examples_of(Run.open(run)), **options)


def test_images_are_embedded_and_others_named(pictured):
    result = pictures(pictured)
    assert list(result.data) == ["p0", "p3", "p4", "p5"]
    assert all(
        url.startswith("data:image/webp;base64,") for url in result.data.values()
    )
    assert list(result.links) == ["p0", "p1", "p3", "p4", "p5"], (
        "a click on a thumbnail leads to the file"
    )
    assert (
        result.links["p0"] == "p0.jpg"
        and pictures(pictured, folder=Path("my pages")).links["p0"] == "../p0.jpg"
    )
    assert (
        result.note
        == "Images of 6 examples: 4 as thumbnails, 1 linked to their files, 1 missing."
    )


def test_images_that_are_linked_alone_have_a_block():
    assert (
        len(examples.Thumbnails({}, {"a": "a.jpg"}).blocks("g")) == 1
        and examples.Thumbnails().blocks("g") == []
    )


def test_files_that_are_all_there_are_not_missing(pictured):
    examples = [
        example
        for example in examples_of(Run.open(pictured))
        if Path(example.media).is_file()
    ]
    assert len(examples) == 5
    assert (
        thumbnails(IDS, examples).note
        == "Images of 6 examples: 4 as thumbnails, 1 linked to their files."
    )
    some = thumbnails(["p0", "p3"], examples)
    assert list(some.data) == list(some.links) == ["p0", "p3"], (
        "those on the page alone"
    )
    assert some.note == "", "nothing is missing"


def test_media_that_are_no_images_have_no_thumbnail(project):
    (project / "a.mp4").write_text("a video")
    medias = [None, str(project / "a.mp4"), str(project / "gone.PNG")]
    data = [Example(name, ("a b",), media) for name, media in zip("xyz", medias)]
    assert thumbnails(["x", "y"], data) == examples.Thumbnails()
    assert (
        "gone.PNG); media_root of the data set, or images of a model, is their folder."
        in thumbnails(["x", "y", "z"], data).note
    )


@pytest.mark.parametrize("media", ["a.png", "images/a.png", "{}/images/a.png"])
def test_thumbnails_come_from_the_folder_that_a_model_read(project, media):
    (project / "images").mkdir()
    Image.effect_noise((60, 40), 40).save(project / "images" / "a.png")
    (project / "secret.png").write_bytes((project / "images" / "a.png").read_bytes())
    data = [
        Example("x", ("a b",), media.format(project)),
        Example("y", ("a b",), "../secret.png"),
    ]
    made = thumbnails(
        ["x", "y"], data, project, places=[project / "nothing", project / "images"]
    )
    assert list(made.data) == ["x"] and made.links == {"x": "images/a.png"}
    run = SimpleNamespace(
        provenance=SimpleNamespace(
            models=[
                SimpleNamespace(params={"images": "images"}),
                SimpleNamespace(params={}),
            ],
            metrics=[SimpleNamespace(params={"images": 3})],
        )
    )
    assert examples.image_folders([run, run]) == [Path("images")]


def test_an_image_of_too_many_pixels_is_named_and_not_decoded(
    project, monkeypatch, recwarn
):
    files = {"large": (13_000, 13_000), "bomb": (60_000, 60_000), "fair": (60, 40)}
    for name, size in files.items():
        width, height = (part.to_bytes(4, "big") for part in size)
        header = b"IHDR" + width + height + bytes([1, 0, 0, 0, 0])
        if name == "fair":
            Image.effect_noise(size, 40).save(project / "fair.png")
        else:  # the header alone: what says more is not decoded
            chunk = (
                (13).to_bytes(4, "big") + header + zlib.crc32(header).to_bytes(4, "big")
            )
            data = zlib.compress(bytes(1000))
            block = (
                len(data).to_bytes(4, "big")
                + b"IDAT"
                + data
                + zlib.crc32(b"IDAT" + data).to_bytes(4, "big")
            )
            (project / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + block)
    data = [Example(name, ("a b",), str(project / f"{name}.png")) for name in files]
    result = thumbnails(list(files), data)
    assert list(result.data) == ["fair"] and list(result.links) == list(files)
    assert result.note.endswith(
        "2 linked to their files. 2 images of more than 40 million pixels: "
        "no thumbnail."
    )
    assert not recwarn.list


def test_a_damaged_image_is_linked_alone(project):
    file = project / "a.png"
    Image.effect_noise((64, 48), 40).save(file)
    content = file.read_bytes()
    start = content.index(b"IDAT")
    file.write_bytes(
        content[: start - 4]
        + (10).to_bytes(4, "big")
        + content[start : start + 14]
        + zlib.crc32(content[start : start + 14]).to_bytes(4, "big")
        + b"no chunk at all"
    )
    result = thumbnails(["x"], [Example("x", ("a b",), str(file))])
    assert result.data == {} and list(result.links) == ["x"]
    assert (
        result.note == "Images of 1 examples: 0 as thumbnails, 1 linked to their files."
    )


def test_the_budget_bounds_the_embedded_bytes(pictured):
    size = max(len(url) for url in pictures(pictured).data.values()) * 3 // 4
    result = pictures(pictured, budget=2 * size + 200)
    assert len(result.data) == 2 and len(result.links) == 5
    assert list(result.data) == ["p0", "p3"], "spread over the examples"
    assert list(pictures(pictured, budget=3 * size + 200).data) == ["p0", "p3", "p5"]
    first = pictures(pictured, budget=size + 200)
    assert list(first.data) == ["p0"]
    assert (
        first.note
        == "Images of 6 examples: 1 as thumbnails, 4 linked to their files, 1 missing."
    )
    whole = sum(
        len(base64.b64decode(url.partition(",")[2]))
        for url in pictures(pictured).data.values()
    )
    assert [len(pictures(pictured, budget=whole - less).data) for less in (0, 1)] == [
        4,
        3,
    ]


def test_images_elsewhere_are_a_remark_and_changed_data_have_none(pictured, project):
    for name in IDS:
        (project / f"{name}.jpg").unlink(missing_ok=True)
    result = pictures(pictured)
    assert not result.data and result.note.startswith(
        "No thumbnails: the images are not where the data set names them ("
    )
    (project / "data.jsonl").write_text('{"id": "p0", "references": ["x", "y"]}\n')
    assert pictures(pictured).note == ""
    (project / "data.jsonl").unlink()
    assert pictures(pictured).note == ""


def test_data_of_another_fingerprint_or_without_a_reader_are_not_read(pictured):
    run = Run.open(pictured)
    content = run.provenance.content
    assert len(examples_of(run)) == 6
    for fingerprint in ("", "~"):
        changed = {**content, "data": {**content["data"], "fingerprint": fingerprint}}
        assert examples_of(replace(run, provenance=Provenance(changed))) == []
    for dataset in ({**content["spec"]["dataset"], "reader": "gone"}, None):
        changed = {**content, "spec": {**content["spec"], "dataset": dataset}}
        assert examples_of(replace(run, provenance=Provenance(changed))) == []


def test_images_are_on_the_page_unless_it_is_asked_for_without(pictured, blocks):
    assert len(json.loads(blocks(page.build([pictured]))["g0-images"])["data"]) == 4
    assert "g0-images" not in blocks(
        page.build([pictured], page.PageOptions(images=False))
    )


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
    expected = [
        (item.id, item.candidates, item.references) for item in system.caption_sets()
    ]
    path = project / "r" / "samples.parquet"
    table = parquet.read_table(path)
    for size in (2, 100):
        parquet.write_table(table, path, row_group_size=size)
        assert [
            (item.id, item.candidates, item.references) for item in stream(run, system)
        ] == expected
    assert [item.id for item in stream(replace(run, path=None), system)] == [
        name for name, _, _ in expected
    ]
    path.unlink()
    assert [item.id for item in stream(run, system)] == [
        name for name, _, _ in expected
    ]


def test_a_damaged_file_is_named(finished, project):
    run = Run.open(finished())
    system = run.samples.systems[0]
    (project / "r" / "samples.parquet").write_bytes(b"PAR1" + b"\0" * 40)
    with pytest.raises(InputError, match=r"samples\.parquet: is damaged"):
        list(stream(run, system))
