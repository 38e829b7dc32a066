"""``harness completion``: scripts that shells can read and that know verbs,
options and names.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest

from harness.cli.completion import SHELLS
from harness.cli.main import VERBS, main

pytest.importorskip("shtab")

COMPLETE = """source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
_shtab_harness
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    def write(shell):
        file = tmp_path_factory.mktemp("completion") / f"harness.{shell}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", file.open("w"))
            assert main(["completion", shell]) == 0
        return file

    return write


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_can_read_its_script(script, shell):
    file = script(shell)
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    subprocess.run([shell, "-n", str(file)], check=True)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_every_verb(script, shell):
    text = script(shell).read_text()
    assert not [verb for verb in VERBS if verb not in text]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("harness compa", {"compare"}),
        ("harness run coc", {"coco", "coco-captions.yaml"}),
        ("harness run --lim", {"--limit"}),
        ("harness score A.json -m cide", {"cider", "cider-r", "ciderd"}),
        ("harness list ada", {"adapters"}),
        ("harness convert --t", {"--to"}),
        ("harness compare run --format mark", {"markdown"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_bash_completes(script, tmp_path, words, expected):
    (tmp_path / "coco-captions.yaml").touch()
    text = COMPLETE.format(script=script("bash"), words=words)
    result = subprocess.run(
        ["bash", "-c", text], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert set(result.stdout.split()) == expected


def test_another_shell_is_refused_with_the_nearest_one(capsys):
    assert main(["completion", "bsh"]) == 2
    assert "no shell 'bsh'; did you mean 'bash'?" in capsys.readouterr().err
