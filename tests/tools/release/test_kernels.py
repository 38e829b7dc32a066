"""Wheels of the kernels: which interpreter takes which, and what they may hold."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from tools.release import kernels
from tools.release.environments import free_threaded
from tools.release.kernels import KernelDistributions, fitting, problems_of, try_kernels

MACHINE = os.uname().machine
NAMES = [
    f"caption_kernels-0.1.0-{tags}-manylinux2014_{machine}.whl"
    for tags in ("cp311-cp311", "cp312-abi3", "cp313-cp313t")
    for machine in ("x86_64", "aarch64")
]


def wheel(folder: Path, files: dict[str, int]) -> Path:
    path = folder / "caption_kernels-0.1.0-cp312-abi3-linux.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, size in files.items():
            archive.writestr(name, os.urandom(size))
    return path


@pytest.mark.parametrize(
    ("python", "tags"),
    [
        ("3.11", "cp311-cp311"),
        ("3.12", "cp312-abi3"),
        ("3.14", "cp312-abi3"),
        ("3.13t", "cp313-cp313t"),
    ],
)
def test_each_interpreter_takes_one_wheel_of_this_machine(python, tags):
    (found,) = fitting([Path(name) for name in NAMES], python)
    assert f"-{tags}-" in found.name
    assert MACHINE in found.name


def test_free_threaded_python_without_a_wheel_takes_none():
    assert fitting([Path(name) for name in NAMES[:4]], "3.13t") == []


def test_the_files_of_the_package_may_be_in_a_wheel(root):
    """A new kind of file is seen before the wheels of a release are built."""
    package = root / "kernels" / "caption_kernels"
    names = [
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert [name for name in names if not kernels.ALLOWED.fullmatch(name)] == []
    assert "caption_kernels/coco/PassThrough.java" in names


def test_a_wheel_of_code_has_no_problem(tmp_path):
    files = {
        "caption_kernels/_compiled.abi3.so": 10,
        "caption_kernels/scorers/fitted.py": 10,
        "caption_kernels/py.typed": 0,
        "caption_kernels/vectors/cider.json": 10,
        "caption_kernels/_compiled.pyi": 10,
        "caption_kernels-0.1.0.dist-info/licenses/LICENSE": 10,
    }
    assert problems_of(wheel(tmp_path, files)) == []
    assert (
        problems_of(
            wheel(
                tmp_path,
                {"caption_kernels/_compiled.cpython-311-x86_64-linux-gnu.so": 1},
            )
        )
        == []
    )


@pytest.mark.parametrize(
    ("printed", "problems"),
    [
        ({"compiled": "compiled 12 [1.0]", "reference": "reference 34 [1.0]"}, []),
        (
            {"compiled": "compiled 12 [1.0]", "reference": "reference 34 [2.0]"},
            ["caption-kernels: the environments have different values"],
        ),
    ],
)
def test_the_reference_engine_has_the_digits_of_the_compiled_one(
    printed, problems, monkeypatch
):
    monkeypatch.setattr(
        kernels, "tried", lambda python, distribution, engine: printed[engine]
    )
    built = KernelDistributions(Path("caption_kernels-0.1.0.tar.gz"), ())
    assert (
        try_kernels(
            built,
            Path("caption_kernels_reference-0.1.0-py3-none-any.whl"),
            {"3.11": Path("python")},
        )
        == problems
    )


def test_data_a_missing_extension_and_size_are_problems(tmp_path):
    path = wheel(
        tmp_path,
        {
            "caption_kernels/paraphrase-en.gz": 3_100_000,
            "caption_kernels/words.py": 400_000,
        },
    )
    lines = problems_of(path)
    assert [line.partition(": ")[2] for line in lines[1:]] == [
        "without the compiled extension",
        "holds caption_kernels/paraphrase-en.gz",
        "holds caption_kernels/words.py",
    ]
    assert "more than 3000000" in lines[0]


def test_wheels_are_built_with_the_oldest_interpreter_of_each_abi():
    found = {
        "3.11": Path("a"),
        "3.12": None,
        "3.13": Path("c"),
        "3.14": Path("d"),
        "3.13t": None,
        "3.14t": Path("e"),
    }
    assert kernels._builders(found) == [Path("a"), Path("c"), Path("e")]


def test_an_interpreter_with_its_lock_is_no_free_threaded_one(tmp_path, monkeypatch):
    (tmp_path / "python3.13t").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert free_threaded() == {"3.13t": None, "3.14t": None}
