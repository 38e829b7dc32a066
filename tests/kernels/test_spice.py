"""SPICE runs where Java and the jars are; a program of the tests stands for Java."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from caption_kernels.coco import spice
from caption_kernels.coco.spice import JARS, Spice, Unavailable

PROGRAM = """#!{python}
import json, sys
if sys.argv[1] == "-version":
    sys.exit('openjdk version "{version}" 2020-01-01')
items = json.load(open("in.json"))
wanted = "edu.anu.spice.SpiceScorer in.json -cache cache -out out.json -subset -silent"
assert sys.argv[-8:] == wanted.split()
rows = []
for item in reversed(items):
    scores = {{"All": {{"f": len(item["refs"]) / 4}}, "Color": {{"f": None}}}}
    rows.append({{"image_id": item["image_id"], "scores": scores}})
json.dump(rows, open("out.json", "w"))
"""


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Put a stand-in for Java 11 on the path, and the jars into a folder."""

    def install(version="11.0.2", jars=JARS):
        (tmp_path / "java").write_text(
            PROGRAM.format(python=sys.executable, version=version)
        )
        (tmp_path / "java").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        for name in jars:
            (tmp_path / name).touch()
        monkeypatch.setenv("HARNESS_SPICE_JARS", str(tmp_path))

    pytest.importorskip("pycocoevalcap.eval")
    return install


def test_scores_are_those_of_the_program_by_sorted_ids(java):
    java()
    score, scores = Spice().compute_score(
        {5: ["a", "b"], 2: ["c"]}, {5: ["d"], 2: ["e"]}
    )
    assert score == 0.375
    assert type(score) is np.float64
    assert [row["All"]["f"] for row in scores] == [0.25, 0.5]
    assert np.isnan(scores[0]["Color"]["f"])
    assert Spice().method() == "SPICE"


def test_what_is_missing_is_named(java, monkeypatch):
    java(jars=JARS[:1])
    with pytest.raises(Unavailable, match=r"needs stanford-corenlp-3\.6\.0\.jar and"):
        Spice()
    java("17.0.1")
    with pytest.raises(
        Unavailable, match="needs javac beside Java 17, or Java 8 to 14"
    ):
        Spice()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(spice.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="needs Java; none is on the path"):
        Spice()


@pytest.mark.parametrize(
    ("text", "version"), [("1.8.0_292", 8), ("11.0.2", 11), ("25", 25)]
)
def test_versions_of_java(java, tmp_path, text, version):
    java(text)
    assert spice.java_version(str(tmp_path / "java")) == version


def test_a_program_that_is_no_java_is_refused(tmp_path):
    (tmp_path / "java").write_text(f"#!{sys.executable}\n")
    (tmp_path / "java").chmod(0o755)
    with pytest.raises(Unavailable, match="is none"):
        spice.java_version(str(tmp_path / "java"))


def test_a_failing_program_is_one_line(java, tmp_path):
    java()
    scorer = Spice()
    (tmp_path / "java").write_text(
        f"#!{sys.executable}\nimport sys\nsys.exit('at x\\njava.lang.Error: "
        "broken\\nat y')\n"
    )
    with pytest.raises(RuntimeError, match="exit code 1: java.lang.Error: broken$"):
        scorer.compute_score({1: ["a"]}, {1: ["b"]})


def test_other_images_are_refused(java):
    java()
    with pytest.raises(AssertionError, match="different images"):
        Spice().compute_score({1: ["a"]}, {2: ["b"]})


@pytest.mark.slow
def test_the_class_that_stands_for_the_script_engine_compiles(tmp_path):
    import shutil

    if shutil.which("javac") is None:
        pytest.skip("no javac")
    scorer = Spice.__new__(Spice)
    scorer._version = 17
    (folder,) = scorer._engine(tmp_path)
    assert (folder / "PassThrough.class").is_file()
    assert (
        json.dumps(
            (folder / "META-INF/services/javax.script.ScriptEngineFactory").read_text()
        )
        == '"PassThrough\\n"'
    )
