"""``harness describe``: numbers of a data set and the agreement of people, as a table
and as JSON, and mistakes in one line.
"""

from __future__ import annotations

import json

import pytest

from harness.cli.main import main


@pytest.fixture
def references(tmp_path):
    path = tmp_path / "references.json"
    rows = [
        {
            "id": "1",
            "references": ["A dog runs.", "a dog runs.", "The brown dog is running"],
        },
        {"id": "2", "references": ["a cat sits on a mat", "A dog runs."]},
        {"id": "3", "references": ["people's hats"]},
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return str(path)


def test_the_table_and_the_agreement(references, capsys):
    assert main(["describe", references, "-m", "rouge"]) == 0
    text = capsys.readouterr().out
    assert (
        "agreement, ROUGE-L (COCO) ↑" in text
        and "one caption of each of 2 examples with two or more against its others"
        in text
    )


def test_json(references, capsys):
    assert main(["describe", references, "-m", "bleu1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (
        found["numbers"]["captions"] == 6
        and 0 <= found["agreement"]["bleu1"]["value"] <= 1
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["none.json"], "none.json"), (["{file}", "-m", "roug"], "did you mean 'rouge'")],
)
def test_mistakes_are_one_line(references, capsys, arguments, message):
    assert (
        main(
            [
                "describe",
                *(references if item == "{file}" else item for item in arguments),
            ]
        )
        == 2
    )
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_examples_without_references_are_an_error(tmp_path, capsys):
    path = tmp_path / "candidates.json"
    path.write_text('[{"id": "1", "references": []}]', encoding="utf-8")
    assert main(["describe", str(path)]) == 2
    assert "reference" in capsys.readouterr().err


def test_captions_without_words_are_counted_and_left_out_of_the_agreement(
    tmp_path, capsys
):
    path = tmp_path / "references.json"
    path.write_text(
        '[{"id": "1", "references": ["", "a dog", "a cat"]}, {"id": "2", '
        '"references": ["...", ""]}]',
        encoding="utf-8",
    )
    assert main(["describe", str(path), "-m", "rouge", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (
        found["numbers"]["captions without a word"] == 3
        and found["agreement"]["rouge"]["value"] > 0
    )


def test_agreement_of_single_captions_is_an_error_where_a_metric_is_named(
    tmp_path, capsys
):
    path = tmp_path / "references.json"
    path.write_text('[{"id": "1", "references": ["a dog"]}]', encoding="utf-8")
    assert main(["describe", str(path)]) == 0
    assert "one caption of each of 0 examples" in capsys.readouterr().out
    assert main(["describe", str(path), "-m", "rouge"]) == 2
    assert "needs an example with two captions" in capsys.readouterr().err
