"""Notes on captions before they are scored: of ``harness score``, of runs,
and of lists in Python.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.cli.main import main
from harness.contracts import Decoding, Example, Generation, TaskView
from harness.errors import InputError
from harness.run.generate import generate
from harness.run.metric_plan import ModelPlan
from harness.run.output_notes import notes_of_system

REFERENCES = {
    "1": ["a dog is running on grass", "a brown dog runs outside"],
    "2": ["the cat is on the mat", "a cat sitting on a rug"],
    "3": ["two people are riding bicycles", "a couple on bikes"],
}
CAPTIONS = ["a dog runs on the grass", "a cat sits on a mat", "two people ride bikes"]
CIDER_D = 1.5654
"""Of these captions against these references."""


@pytest.fixture
def score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """A function that scores captions or records against references and returns exit
    code, values by metric, notes and errors.
    """
    monkeypatch.chdir(tmp_path)

    def run(
        captions: object, references: Mapping[str, object], *arguments: str
    ) -> tuple[int, dict[str, float], list[str], str]:
        Path("A.json").write_text(json.dumps(captions), encoding="utf-8")
        Path("R.json").write_text(json.dumps(references), encoding="utf-8")
        code = main(["score", "A.json", "--references", "R.json", "--json", *arguments])
        captured = capsys.readouterr()
        content: dict[str, Any] = (
            json.loads(captured.out) if captured.out else {"results": [], "notes": []}
        )
        return (
            code,
            {row["metric"]: row["value"] for row in content["results"]},
            content["notes"],
            captured.err,
        )

    return run


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ("<think>The user wants a caption.</think>\n\n", "", "think"),
        ("hm, I see it.</think>", "", "think"),
        ("◁think▷hm◁/think▷", "<|im_end|>", "think,marks"),
        ("<think>hm</think>**Caption:** ", "", "prefix,think"),
        ("USER: Describe. ASSISTANT: ", "</s>", "echo,marks"),
    ],
)
def test_captions_have_their_value_without_what_stands_around_them(
    score, before: str, after: str, kinds: str
):
    outputs = {key: f"{before}{text}{after}" for key, text in zip(REFERENCES, CAPTIONS)}
    _, values, notes, _ = score(outputs, REFERENCES, "-m", "cider")
    assert values["cider"] < 0.6 * CIDER_D
    assert len(notes) == len(kinds.split(","))
    for kind in kinds.split(","):
        assert any(
            note.startswith("A: 3 of 3 captions ")
            and f"--clean {kind}, or clean: [{kind}] in a spec, removes it" in note
            for note in notes
        )

    code, values, notes, _ = score(outputs, REFERENCES, "-m", "cider", "--clean", kinds)
    assert code == 0
    assert values["cider"] == pytest.approx(CIDER_D, abs=5e-5)
    shown = [kind for kind in ("think", "marks", "echo", "prefix") if kind in kinds]
    assert notes == [f"A: cleaned 3 of 3 captions ({', '.join(shown)})"]


@pytest.mark.parametrize(
    ("captions", "signs"),
    [
        (
            [
                "a dog <eos> <pad> <pad>",
                "<start> a cat <end>",
                "<|im_start|>assistant\na red bus<|im_end|>",
            ],
            "(<eos>, <pad>, <start>, <end>, <|im_start|>, <|im_end|>)",
        ),
        (["startseq a dog endseq", "a cat [PAD]"], "(startseq, endseq, [PAD])"),
        (
            ["<|user|>Describe<|assistant|>a dog<|end|>"],
            "(<|user|>, <|assistant|>, <|end|>)",
        ),
    ],
)
def test_marks_are_listed(score, captions: list[str], signs: str):
    ids = [str(k) for k in range(len(captions))]
    _, _, notes, _ = score(
        dict(zip(ids, captions)), {key: ["a dog runs"] for key in ids}, "-m", "bleu1"
    )
    assert len(notes) == 1
    assert signs in notes[0]


def test_a_refusal_is_noted_and_stays(score):
    outputs = dict(
        zip(REFERENCES, ["I'm sorry, I can't help with that.", *CAPTIONS[1:]])
    )
    _, values, notes, _ = score(outputs, REFERENCES, "-m", "bleu1")
    assert notes == [
        "A: 1 of 3 captions refuses to describe, as '1': \"I'm sorry, "
        "I can't help with that.\""
    ]
    assert (
        score(
            outputs,
            REFERENCES,
            "-m",
            "bleu1",
            "--clean",
            "think,marks,echo,prefix,markdown,repeats",
        )[1]
        == values
    )


def test_a_caption_that_is_nothing_but_thinking_is_an_empty_one(score):
    outputs = dict(zip(REFERENCES, ["<think>The user", *CAPTIONS[1:]]))
    code, _, _, error = score(outputs, REFERENCES, "-m", "bleu1", "--clean", "think")
    assert code == 2
    assert (
        'empty without think: "<think>The user" (--allow-empty keeps an empty caption)'
        in error
    )
    assert (
        score(outputs, REFERENCES, "-m", "bleu1", "--clean", "think", "--allow-empty")[
            0
        ]
        == 0
    )


def test_an_unknown_kind_is_refused(score):
    code, _, _, error = score({"1": "a"}, {"1": ["a"]}, "--clean", "thinking")
    assert code == 2
    assert "clean has no 'thinking'; did you mean 'think'?" in error


@pytest.mark.parametrize(
    ("records", "identical"),
    [
        (
            [
                (1, "a dog runs in a park"),
                (2, "two cats sleep on a sofa"),
                (2, "two cats sleep on a sofa"),
                (3, "a boat on a lake"),
            ],
            "the 2 captions of id '2'",
        ),
        (
            [
                ("x", "a red bus"),
                ("x", "a red bus"),
                ("x", "a red bus"),
                ("y", "a man"),
            ],
            "the 3 captions of id 'x'",
        ),
        (
            [
                ("p", "a plate"),
                ("q", "a fork"),
                ("p", "a plate"),
                ("q", "a fork"),
                ("r", "a cup of tea"),
            ],
            "the 2 captions of each of 2 ids ('p', ...)",
        ),
    ],
)
def test_repeated_records_are_named_and_count_once_when_asked(
    score, records: list[tuple[object, str]], identical: str
):
    references = {str(key): [f"{text} with people"] for key, text in records}
    padded = [{"image_id": key, "caption": text} for key, text in records]
    _, values, notes, error = score(padded, references, "-m", "bleu1,bleu4")
    assert len(notes) == 1
    assert identical in notes[0]
    assert notes[0].endswith(
        "(--clean repeats, or clean: [repeats] in a spec, keeps one)"
    )
    assert "more than once" not in error

    _, cleaned, notes, _ = score(
        padded, references, "-m", "bleu1,bleu4", "--clean", "repeats"
    )
    assert (
        cleaned
        == score(
            {str(key): text for key, text in records}, references, "-m", "bleu1,bleu4"
        )[1]
    )
    assert cleaned != values
    assert notes == [
        f"A: left out {len(records) - len(references)} of {len(records)} captions "
        "(repeats)"
    ]


@pytest.mark.parametrize(
    ("captions", "references"),
    [
        (
            ["a dog runs", "a cat", "a red bus"],
            [["a dog runs"], ["a cat"], ["a red bus"]],
        ),
        (["a dog runs", "a cat"], [["the dog", "A dog runs."], ["A cat .", "the cat"]]),
        (
            ["a boat", "it is n't a boat", "a plane"],
            [["A boat!"], ["It isn't a boat."], ["A plane"]],
        ),
    ],
)
def test_references_as_candidates_are_named(
    score, captions: list[str], references: list[list[str]]
):
    outputs = {str(k): text for k, text in enumerate(captions)}
    _, _, notes, _ = score(
        outputs, {str(k): texts for k, texts in enumerate(references)}, "-m", "bleu1"
    )
    assert len(notes) == 1
    assert notes[0].startswith("A: every candidate equals a reference of its example")


@pytest.mark.parametrize(
    ("captions", "name"),
    [
        ({"a": "一个男人骑着自行车", "b": "一只猫睡觉"}, "zh"),
        ({"a": "猫が寝ている", "b": "犬が芝生を走っている"}, "characters"),
        ({"a": "แมวนอนหลับ", "b": "ผู้ชายกำลังขี่จักรยาน"}, "characters"),
    ],
)
def test_texts_without_blanks_have_a_note_where_a_metric_splits_at_blanks(
    score, captions: dict[str, str], name: str
):
    references = {key: [f"{text}了"] for key, text in captions.items()}
    _, _, notes, _ = score(captions, references, "-m", "bleu1,rouge,cider")
    assert len(notes) == 1
    assert f"-m bleu:tokenizer={name}, or tokenizer: {name} in a spec" in notes[0]
    assert score(captions, references, "-m", "chrf")[2] == []
    assert score(captions, references, "-m", "bleu:tokenizer=none")[2] == []


@pytest.mark.parametrize(
    "record",
    [
        {"finish_reason": "length"},
        {"usage": {"completion_tokens": 4}, "max_tokens": 4},
        {"choices": [{"finish_reason": "length"}]},
    ],
)
def test_captions_that_were_cut_off_are_counted(score, record: dict[str, object]):
    records = [{"id": key, "caption": text} for key, text in zip(REFERENCES, CAPTIONS)]
    records[1] |= record | {"caption": "a cat sits in"}
    _, _, notes, _ = score(records, REFERENCES, "-m", "bleu1")
    assert notes == [
        "A: 1 of 3 captions was cut off at the largest number of tokens, as A.json: "
        'record 2: "a cat sits in"'
    ]


def test_the_prompt_of_a_record_is_noted_and_removed(score):
    records = [
        {
            "id": key,
            "caption": f"Describe it in words. {text}",
            "prompt": "Describe it in words.",
        }
        for key, text in zip(REFERENCES, CAPTIONS)
    ]
    _, _, notes, _ = score(records, REFERENCES, "-m", "cider")
    assert notes[0].startswith(
        "A: 3 of 3 captions begin with the prompt, as A.json: record 1: "
    )
    assert "--clean echo" in notes[0]
    assert score(records, REFERENCES, "-m", "cider", "--clean", "echo")[1][
        "cider"
    ] == pytest.approx(CIDER_D, abs=5e-5)


def test_captions_as_they_should_be_have_no_note(score):
    _, _, notes, error = score(
        dict(zip(REFERENCES, ["a dog", "a cat: it sits", "two (2) people"])),
        REFERENCES,
        "-m",
        "bleu1",
    )
    assert notes == []
    assert error == ""


def test_a_spec_cleans_and_its_run_keeps_the_notes(tmp_path: Path):
    (tmp_path / "A.json").write_text(
        json.dumps(
            {key: f"<think>hm</think>{text}" for key, text in zip(REFERENCES, CAPTIONS)}
        )
    )
    (tmp_path / "R.json").write_text(json.dumps(REFERENCES))
    adapter: dict[str, Any] = {"path": str(tmp_path / "A.json"), "label": "A"}
    spec = {
        "task": "t",
        "dataset": {"reader": "auto", "path": str(tmp_path / "R.json")},
        "metrics": ["cider"],
    }
    plain = harness.evaluate(
        {**spec, "models": [{"predictions": adapter}]}, output=str(tmp_path / "run")
    )
    assert "3 of 3 captions hold thinking" in plain.notes[0]
    assert json.loads((tmp_path / "run" / "results.json").read_text())["notes"] == list(
        plain.notes
    )

    cleaned = harness.evaluate(
        {**spec, "models": [{"predictions": adapter | {"clean": ["think"]}}]}
    )
    assert cleaned.records[0].value == pytest.approx(CIDER_D, abs=5e-5)
    assert plain.provenance.digest != cleaned.provenance.digest


class Server:
    """An adapter that answers with given texts."""

    def __init__(self, texts: Sequence[str], stop_reasons: tuple[str, ...]) -> None:
        self.texts = texts
        self.stop_reasons = stop_reasons

    def fingerprint(self) -> str:
        return "server"

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ):
        return (
            Generation((text,), stop_reasons=(reason,))
            for text, reason in zip(self.texts, self.stop_reasons)
        )


def test_captions_of_other_adapters_are_cleaned_by_a_wrapper():
    examples = [Example(str(k), ("a dog",)) for k in range(3)]
    adapter = Server(
        ["<think>hm</think>a dog", "a dog", "a dog"], ("stop", "length", "length")
    )
    system = generate(
        ModelPlan("server", "openai", {}, adapter),
        TaskView(examples, Decoding()),
        seed=0,
    )
    assert notes_of_system(system, adapter, []) == [
        "server: 1 of 3 captions holds thinking (<think>, </think>), as '0': "
        '"<think>hm</think>a dog" '
        "(the adapter cleaned with clean: [think] removes it)",
        "server: 2 of 3 captions were cut off at the largest number of tokens, "
        "as '1': \"a dog\"",
    ]


def test_lists_are_looked_at_and_cleaned(caplog: pytest.LogCaptureFixture):
    outputs = [f"<think>hm</think>{text}" for text in CAPTIONS]
    references = list(REFERENCES.values())
    with caplog.at_level(logging.WARNING):
        harness.score(outputs, references, "cider")
    assert (
        "note: 3 of 3 captions hold thinking (<think>, </think>), as '0': "
        '"<think>hm</think>a dog runs on the grass" (clean="think" removes it)'
        in caplog.messages
    )

    caplog.clear()
    scores = harness.score(
        dict(zip("abc", outputs)), dict(zip("abc", references)), "cider", clean="think"
    )
    assert scores["cider"].value == pytest.approx(CIDER_D, abs=5e-5)
    assert "note: cleaned 3 of 3 captions (think)" in caplog.messages
    padded = [["a dog", "a dog"], ["a red cat"]]
    once = harness.score([["a dog"], ["a red cat"]], [["a bird"], ["a cow"]], "bleu1")[
        "bleu1"
    ].value
    assert (
        harness.score(padded, [["a bird"], ["a cow"]], "bleu1")["bleu1"].value != once
    )
    assert (
        harness.score(padded, [["a bird"], ["a cow"]], "bleu1", clean=["repeats"])[
            "bleu1"
        ].value
        == once
    )
    with pytest.raises(
        InputError, match="candidates: '0': empty without think.*allow_empty=True"
    ):
        harness.score(["<think>hm"], [["a dog"]], "bleu1", clean="think")


def test_files_are_cleaned_from_python(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "A.json").write_text(
        json.dumps({key: f"Caption: {text}" for key, text in zip(REFERENCES, CAPTIONS)})
    )
    (tmp_path / "R.json").write_text(json.dumps(REFERENCES))
    scores = harness.score(
        tmp_path / "A.json", tmp_path / "R.json", "cider", clean="prefix"
    )
    assert scores["cider"].value == pytest.approx(CIDER_D, abs=5e-5)
    assert "note: cleaned 3 of 3 captions (prefix)" in caplog.messages
