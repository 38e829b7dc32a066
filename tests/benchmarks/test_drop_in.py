"""The drop-in proof on small programs in the manner of its peers."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from benchmarks import drop_in, drop_in_entries, drop_in_peers

LINES = """\
import json
from pycocoevalcap.bleu.bleu import Bleu
def make():
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
    from pycocoevalcap.spice.spice import Spice
# from pycocoevalcap.cider.cider import Cider
"""
CHANGED = """\
import json
from caption_kernels.coco import Bleu
def make():
    from caption_kernels.coco import PTBTokenizer
    from pycocoevalcap.spice.spice import Spice
# from pycocoevalcap.cider.cider import Cider
"""
EXAMPLE = """\
from pycocotools.coco import COCO
from pycocoevalcap.eval import COCOEvalCap

coco = COCO("captions_val2014.json")
coco_eval = COCOEvalCap(coco, coco.loadRes("captions_val2014_fakecap_results.json"))
coco_eval.evaluate()
"""


def test_import_lines_alone_change(tmp_path):
    (tmp_path / "score.py").write_text(LINES)
    changed = drop_in.apply_changes(tmp_path, [drop_in_peers.Change("score.py")])
    assert (tmp_path / "score.py").read_text() == CHANGED
    assert [(file, new.strip()) for file, _, new in changed] == [
        ("score.py", "from caption_kernels.coco import Bleu"),
        ("score.py", "from caption_kernels.coco import PTBTokenizer"),
    ]


def test_a_folder_that_is_no_checkout_is_named(tmp_path):
    with pytest.raises(drop_in.NoCheckout, match=r"no file score\.py"):
        drop_in.apply_changes(tmp_path, [drop_in_peers.Change("score.py")])
    (tmp_path / "score.py").write_text("import json\n")
    with pytest.raises(drop_in.NoCheckout, match="no line like"):
        drop_in.apply_changes(tmp_path, [drop_in_peers.Change("score.py")])


def test_captions_are_generated_by_the_seed():
    first = drop_in_entries.generate_captions(20, 3)
    assert first == drop_in_entries.generate_captions(20, 3)
    assert first != drop_in_entries.generate_captions(20, 4)
    assert len(first.candidates) == len(first.references) == 20
    assert {len(texts) for texts in first.references} == {5}


@pytest.mark.parametrize(
    ("new", "java", "verdict"),
    [(1.0, 0, True), (1.0 + 1e-14, 0, True), (1.001, 0, False), (1.0, 1, False)],
)
def test_verdict_is_of_digits_and_java(new, java, verdict, capsys):
    before = drop_in.Outcome({"CIDEr": 1.0}, 2.0, 3)
    after = drop_in.Outcome({"CIDEr": new}, 0.5, java)
    assert drop_in.print_outcomes(before, after) is verdict
    assert "CIDEr" in capsys.readouterr().out


def test_a_metric_that_is_missing_after_the_change_differs(capsys):
    before = drop_in.Outcome({"CIDEr": 1.0, "METEOR": 0.3}, 2.0, 3)
    assert not drop_in.print_outcomes(before, drop_in.Outcome({"CIDEr": 1.0}))


@pytest.mark.slow
def test_a_program_that_uses_the_toolkit_has_equal_digits(root, tmp_path):
    pytest.importorskip("pycocoevalcap")
    if shutil.which("java") is None:
        pytest.skip("no Java")
    installed = drop_in_entries.find_toolkit()
    shutil.copytree(installed, tmp_path / "source", ignore=lambda *_: ["spice"])
    (tmp_path / "source" / "example").mkdir(exist_ok=True)
    example = tmp_path / "source" / "example" / "coco_eval_example.py"
    example.write_text(EXAMPLE)
    (tmp_path / "source" / "spice").mkdir()
    (tmp_path / "source" / "spice" / "spice.py").write_text("class Spice: pass\n")

    command = [sys.executable, "-m", "benchmarks.drop_in", "--peer", "pycocoevalcap"]
    done = subprocess.run(
        [*command, "--source", tmp_path / "source", "--images", "10"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (java,) = (
        line.split()[2:] for line in done.stdout.splitlines() if "java started" in line
    )
    assert java == ["3", "0"]
    assert "+ from caption_kernels.coco import COCOEvalCap" in done.stdout
