"""score.html in a real browser: the numbers of ``harness score``, files of several
forms, edited candidates, faults.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caption_kernels.lexicon.installed import MissingSources, find_sources
from harness.cli.main import main
from harness.run.finished import Run
from tools.score_page import __main__ as score_page

WORDS = [
    "a",
    "the",
    "dog",
    "cat",
    "woman's",
    "runs",
    "sits",
    "in",
    "red",
    "street",
    "café",
    "standing",
    "next",
    "to",
    "3.5",
    "%",
    "well-known",
]
built = pytest.mark.skipif(
    not score_page.MODULE.is_file(),
    reason="kernels/js/caption_kernels.wasm is not built: make wasm",
)
FAULTS = [
    ("a.json", '{"1": "a dog"}', "a: no candidates for 11 of 12 examples"),
    ("a.json", '{"x": "a dog"}', "a: 1 of its ids have no references: 'x'"),
    ("a.json", '{"1": "a dog"', "a.json: not JSON at character 14: expected , or }"),
    ("a.json", '{"1": ""}', "a.json: '1': the caption is empty"),
    ("a.json", '{"1": 3}', "a.json: '1': expected text, found 3"),
    (
        "a.csv",
        "image_id,caption\n1,a dog,b\n",
        "a.csv: row 2 has 3 cells; expected 2, as in the header",
    ),
    (
        "a.csv",
        "a dog\n",
        "a.csv: its first line names no column of ids and of captions, "
        "such as id,caption",
    ),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "score.html"
    score_page.build(path)
    return path


def write_files(folder: Path, examples: int, seed: int = 0) -> tuple[Path, list[Path]]:
    """Write references as COCO annotations, and candidates as a COCO result file, csv,
    JSON Lines and a mapping; ids are not sorted.
    """
    rng = np.random.default_rng(seed)
    ids = [int(number) for number in rng.permutation(10 * examples)[:examples]]

    def say(size: int) -> str:
        return " ".join(rng.choice(WORDS, size)).capitalize() + "."

    references = {
        key: [say(rng.integers(4, 11)) for _ in range(5 + k % 5)]
        for k, key in enumerate(ids)
    }
    systems = [
        {
            key: texts[k][: -int(rng.integers(1, 20))] or "a"
            for key, texts in references.items()
        }
        for k in range(4)
    ]
    annotations = [
        {"image_id": key, "caption": text}
        for key, texts in references.items()
        for text in texts
    ]

    files = [
        folder / name
        for name in (
            "refs.json",
            "coco.json",
            "table.csv",
            "lines.jsonl",
            "mapping.json.gz",
        )
    ]

    files[0].write_text(
        json.dumps({"images": [{"id": key} for key in ids], "annotations": annotations})
    )
    files[1].write_text(
        json.dumps(
            [{"image_id": key, "caption": text} for key, text in systems[0].items()]
        )
    )
    with files[2].open("w", newline="") as stream:
        csv.writer(stream).writerows([("image_id", "caption"), *systems[1].items()])
    files[3].write_text(
        "".join(
            json.dumps({"id": key, "caption": text}) + "\n"
            for key, text in systems[2].items()
        )
    )
    files[4].write_bytes(
        gzip.compress(
            json.dumps({str(key): [text] for key, text in systems[3].items()}).encode()
        )
    )
    return files[0], files[1:]


def score_in_page(view: Any, files: list[Path]) -> dict[str, Any]:
    """Drop files on the page, score them, and return all numbers."""
    view.set_input_files("#files", files)
    view.locator(".files tbody tr").nth(len(files) - 1).wait_for()
    view.click("button.score")
    view.get_by_text("done in").wait_for(timeout=120_000)
    return view.evaluate("scorePage.allNumbers()")


def check_against_command(
    numbers: dict[str, Any],
    references: Path,
    candidates: list[Path],
    metrics: str,
    capsys,
) -> None:
    """Compare the numbers of the page with those of ``harness score``: equal bits,
    intervals in twelve digits.
    """
    folder = references.parent / "run"
    names = list(map(str, candidates))
    assert (
        main(
            [
                "score",
                *names,
                "--references",
                str(references),
                "-m",
                metrics,
                "--json",
                "--output",
                str(folder),
            ]
        )
        == 0
    )

    expected = json.loads(capsys.readouterr().out)
    systems = {system.label: system for system in Run.open(folder).samples.systems}
    found = {(item["metric"], item["system"]): item for item in numbers["results"]}
    assert (
        len(found)
        == len(expected["results"])
        == len(metrics.split(",")) * len(candidates)
    )

    for record in expected["results"]:
        item = found[record["metric"], record["model"]]
        assert (item["value"], item["signature"]) == (
            record["value"],
            record["signature"],
        )
        assert (
            item["scores"] == systems[record["model"]].scores(record["metric"]).tolist()
        )
        np.testing.assert_allclose(
            item["ci95"], record["ci95"], rtol=0 if record["n"] >= 500 else 1e-12
        )

    for row in expected["comparisons"]:
        comparison = found[row["metric"], row["system_a"]]["comparison"]
        assert {
            name: comparison[name]
            for name in ("difference", "p_value", "p_holm", "draws", "exact")
        } == {
            name: row[name]
            for name in ("difference", "p_value", "p_holm", "draws", "exact")
        }
        np.testing.assert_allclose(
            comparison["ci95"], row["ci95"], rtol=1e-9, atol=1e-14
        )


@built
@pytest.mark.parametrize(
    "examples", [12, 40, pytest.param(520, marks=pytest.mark.slow)]
)
def test_the_page_has_the_numbers_of_the_command(
    page, browse, tmp_path, capsys, examples
):
    references, candidates = write_files(tmp_path, examples)
    with browse(page) as view:
        numbers = score_in_page(view, [references, *candidates])
        assert "METEOR is left out" in view.inner_text(".notes")
    check_against_command(
        numbers, references, candidates, "bleu1,bleu2,bleu3,bleu4,rouge,cider", capsys
    )


@built
@pytest.mark.slow
def test_meteor_is_scored_with_the_files_of_its_distribution(
    page, browse, tmp_path, capsys
):
    try:
        sources = find_sources()
    except MissingSources as error:
        pytest.skip(str(error))
    references, candidates = write_files(tmp_path, 30)
    with browse(page) as view:
        numbers = score_in_page(view, [references, *candidates[:2], *sources])
    kept = {
        "results": [
            item for item in numbers["results"] if item["metric"] in ("meteor", "cider")
        ]
    }
    check_against_command(kept, references, candidates[:2], "meteor,cider", capsys)


@built
def test_an_edited_candidate_shows_its_scores(page, browse, violations, tmp_path):
    references, candidates = write_files(tmp_path, 12)
    with browse(page, bypass_csp=True) as view:
        score_in_page(view, [references, candidates[0]])
        example = view.locator("article.example").first
        before = example.locator("td.number").all_inner_texts()
        for text, bleu1 in (
            ("Zebra", "0.0000"),
            (f"{example.locator('li').first.inner_text()} ", "1.0000"),
        ):
            example.locator("textarea").fill(text)
            after = example.locator("td.number").all_inner_texts()
            assert float(after[0]) == pytest.approx(
                float(bleu1), abs=1e-9
            ) and example.locator("td.changed").count() == len(after)
        example.locator("textarea").fill(
            json.loads(candidates[0].read_text())[0]["caption"]
        )
        assert (
            example.locator("td.number").all_inner_texts() == before
            and not example.locator("td.changed").count()
        )
        assert violations(view) == []


@built
def test_a_bad_file_gives_one_line(page, browse, tmp_path):
    references = tmp_path / "references.json"
    references.write_text(
        json.dumps({str(k): ["a dog", "the dog"] for k in range(1, 13)})
    )
    with browse(page) as view:
        for name, text, fault in FAULTS:
            (tmp_path / name).write_text(text)
            view.set_input_files("#files", [references, tmp_path / name])
            view.locator(".files tbody tr").nth(1).wait_for()
            view.click("button.score")
            view.locator(".fault").wait_for()
            assert view.inner_text(".fault").startswith(fault)
            view.reload()


def test_a_json_object_keeps_the_order_of_its_keys(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH")
    module = json.dumps(str(score_page.HERE / "files.js"))
    text = r'{"10": [1, -2.5e3, true, null, "a\u00e9"], "9": {}, "b": []}'
    program = f"""import {{ parseJson }} from {module};
      const value = parseJson({json.dumps(text)});
      const found = [[...value.keys()], value.get("10"), value.get("9").size];
      console.log(JSON.stringify(found));"""
    (tmp_path / "p.mjs").write_text(program)
    done = subprocess.run(
        [node, str(tmp_path / "p.mjs")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [
        ["10", "9", "b"],
        [1, -2500, True, None, "aé"],
        0,
    ]


def test_without_the_module_the_build_names_the_target(tmp_path, monkeypatch):
    monkeypatch.setattr(score_page, "MODULE", score_page.ROOT / "absent.wasm")
    with pytest.raises(SystemExit, match="absent.wasm is not built: make wasm"):
        score_page.build(tmp_path / "score.html")
