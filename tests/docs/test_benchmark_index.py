"""benchmarks/README.md lists every benchmark with the command of its docstring; no
benchmark changes ``sys.path``.
"""

from __future__ import annotations

import ast
import gzip
import importlib.util
import json
import re
import sys

import pytest

PARTS = {
    "caption_detail",
    "captions",
    "compare_sacrebleu",
    "coverage_cases",
    "crnrr_tables",
    "decide_data",
    "decide_sequences",
    "drop_in_entries",
    "drop_in_peers",
    "hostile_checkpoints",
    "hostile_pages",
    "hostile_registries",
    "hostile_trace",
    "language_drift",
    "metric_exchanges",
    "papers_checks",
    "papers_a3ds",
    "papers_chan",
    "papers_fresh",
    "papers_li",
    "papers_rule",
    "papers_stored",
    "papers_tanti",
    "pregen_tables",
    "same_sources",
    "scene_tables",
    "text_tables",
    "timing",
    "toolkit_pairs",
}


@pytest.fixture(scope="module")
def folder(root):
    return root / "benchmarks"


@pytest.fixture(scope="module")
def modules(folder):
    # Peers run in environments of their own; the modules of the promises are parts of
    # one benchmark.
    files = [
        file
        for file in folder.rglob("*.py")
        if file.parent.name not in ("peers", "promises")
    ]
    texts = {file.stem: file.read_text(encoding="utf-8") for file in files}
    return {
        **texts,
        "promises": (folder / "promises" / "__main__.py").read_text(encoding="utf-8"),
    }


def test_every_benchmark_is_listed_with_its_command(folder, modules):
    index = (folder / "README.md").read_text(encoding="utf-8")
    listed = dict(
        re.findall(
            r"^\| `(\w+)` \|.*?`([^`]*python -m benchmarks[^`]*)`", index, re.MULTILINE
        )
    )
    assert listed.keys() == modules.keys() - PARTS
    for name, command in listed.items():
        docstring = ast.get_docstring(ast.parse(modules[name])) or ""
        # A long command goes on in the next line.
        assert f" {command} " in " ".join(docstring.split()) + " ", name
    for name in PARTS:
        assert re.search(rf"`(sections/)?{name}`", index), name


def test_benchmarks_import_one_another_by_their_full_name(modules):
    for name, text in modules.items():
        assert "sys.path" not in text, name


@pytest.fixture
def captions(folder, monkeypatch, tmp_path):
    """The module that loads captions, with a data folder of two images."""
    spec = importlib.util.spec_from_file_location(
        "benchmark_captions", folder / "captions.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "benchmark_captions", module)
    spec.loader.exec_module(module)

    rows = {
        module.REFERENCES: [
            {"image_id": k, "references": [f"reference {k} {m}" for m in range(6)]}
            for k in (1, 2)
        ],
        module.CAPTIONERS: [
            {
                "image_id": k,
                "candidates": {
                    "human_1": "human",
                    **{f"merge_{m}": f"caption {k} {m}" for m in range(12)},
                },
            }
            for k in (2, 1)
        ],
    }

    for name, values in rows.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in values)
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    return module


def test_captioners_are_matched_with_the_references_of_their_image(captions):
    first, second = captions.captioner_sets()
    assert (first.id, first.candidates[0], first.references) == (
        "2",
        "caption 2 0",
        tuple(f"reference 2 {m}" for m in range(5)),
    )
    assert (len(second.candidates), len(second.references)) == (10, 5)
    assert "human" not in first.candidates
    assert len(captions.captioner_sets(1)) == 1
    assert captions.one_candidate() == ["caption 2 3", "caption 1 3"]
    assert [len(texts) for texts in captions.references()] == [5, 5]


def test_a_missing_data_folder_ends_the_script(captions, monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "none"))
    assert captions.find_data_folder() is None
    with pytest.raises(SystemExit, match="no real captions: set HARNESS_DATA"):
        captions.data_folder()


def test_sets_of_the_shipped_sample(captions):
    sets = captions.shipped_sets(3)
    assert [(len(item.candidates), len(item.references)) for item in sets] == [
        (10, 5)
    ] * 3
    assert not set(sets[0].candidates) & set(sets[0].references)


def test_texts_of_records(captions, tmp_path):
    assert captions.plain_words("A dog's ball.") == "a dog's ball"
    assert list(captions.strings({"a": ["x", {"b": "y"}], "c": 1})) == ["x", "y"]
    with gzip.open(
        tmp_path / "lines.txt.gz", "wt", encoding="utf-8", newline="\n"
    ) as file:
        file.write("one\n\ntwo\u2028three\n")
    assert list(captions.records_of(tmp_path / "lines.txt.gz")) == [
        "one",
        "",
        "two\u2028three",
    ]
