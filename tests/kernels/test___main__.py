"""``python -m caption_kernels score``: the toolkit's table, and one line for files that
cannot be scored.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from caption_kernels import __main__ as command
from caption_kernels.coco import COCOEvalCap

ANNOTATIONS = {
    "images": [{"id": 1}, {"id": 2}, {"id": 3}],
    "annotations": [
        {"image_id": 1, "id": 1, "caption": "A dog is running on grass."},
        {"image_id": 1, "id": 2, "caption": "The brown dog runs fast."},
        {"image_id": 2, "id": 3, "caption": "A cat sits on a mat."},
        {"image_id": 3, "id": 4, "caption": "A bird."},
    ],
}
RESULTS = [
    {"image_id": 2, "caption": "a cat on a mat"},
    {"image_id": 1, "caption": "A dog runs on the grass."},
]


def write(folder, results=RESULTS, annotations=ANNOTATIONS):
    files = [folder / "results.json", folder / "annotations.json"]
    for file, content in zip(files, (results, annotations)):
        file.write_text(content if isinstance(content, str) else json.dumps(content))
    return files


def test_table_is_that_of_the_classes(tmp_path):
    results, annotations = write(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "caption_kernels", "score", results, annotations],
        capture_output=True,
        text=True,
        check=True,
    )
    evaluation = COCOEvalCap(
        command.CaptionFile(ANNOTATIONS["annotations"]), command.CaptionFile(RESULTS)
    )
    evaluation.params["image_id"] = [2, 1]
    evaluation.evaluate()
    expected = [f"{name}: {value:.3f}" for name, value in evaluation.eval.items()]
    assert done.stdout.splitlines() == expected
    assert "Bleu_4" in done.stdout and "CIDEr" in done.stdout
    assert "1 without one are not scored" in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"results": "{"}, "results.json: not JSON"),
        ({"results": {}}, "no list of captions; expected [{"),
        ({"results": [{"caption": "a"}]}, "caption 1 has no image_id"),
        ({"results": [{"image_id": 1, "caption": 7}]}, "expected a text, found 7"),
        ({"results": [{"image_id": [1], "caption": "a"}]}, "a number or a text"),
        ({"results": [RESULTS[0]] * 2}, "image 2 has 2 captions"),
        ({"results": [{"image_id": 9, "caption": "a"}]}, "the first is 9"),
        ({"annotations": RESULTS}, "annotations.json: no list of captions"),
    ],
)
def test_other_files_are_one_line(content, message, tmp_path, capsys):
    results, annotations = write(tmp_path, **content)
    assert command.main(["score", str(results), str(annotations)]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


def test_missing_file_is_one_line(tmp_path, capsys):
    absent = str(tmp_path / "absent.json")
    assert command.main(["score", absent, absent]) == 2
    assert capsys.readouterr().err == f"error: {absent}: No such file or directory\n"
