"""The choice of the engine: by the environment, else the extension where it is
installed, else the reference with one line.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name == "caption_kernels._compiled":
            raise {error}
sys.meta_path.insert(0, Blocked())
"""
GONE = BLOCKED.format(error="ModuleNotFoundError('gone', name=name)")
BROKEN = BLOCKED.format(error="ImportError('libstdc++.so.6: not found')")
NO_REFERENCE = """
import importlib.util
found = importlib.util.find_spec
def find_spec(name, package=None):
    return None if name == "caption_kernels_reference" else found(name, package)
importlib.util.find_spec = find_spec
"""
COMPILER = "install a C++20 compiler or `pip install ziglang`"
NAME = "import caption_kernels as k; print(k.engine, k.build_hash, k.stem(['running']))"


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    keep = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("CAPTION_KERNELS")
    }
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=keep | variables,
        check=False,
    )


def test_the_reference_engine_can_be_chosen_and_has_a_hash_of_its_own():
    result = python(NAME, CAPTION_KERNELS="reference")
    assert result.stdout.startswith("reference ")
    assert result.stdout.endswith("['run']\n")
    assert result.stderr == ""


def test_the_extension_is_chosen_by_itself():
    pytest.importorskip("caption_kernels._compiled")
    result = python(NAME)
    assert result.stdout.startswith("compiled ")
    assert (
        result.stdout.split()[1]
        != python(NAME, CAPTION_KERNELS="reference").stdout.split()[1]
    )


@pytest.mark.parametrize(
    ("blocked", "reason"),
    [
        (GONE, "is not installed"),
        (BROKEN, "cannot be loaded (libstdc++.so.6: not found)"),
    ],
)
def test_without_extension_the_reference_engine_runs_after_one_line(blocked, reason):
    result = python(blocked + NAME)
    assert result.stdout.startswith("reference ")
    assert result.stderr.count("\n") == 1
    assert reason in result.stderr
    assert COMPILER in result.stderr


def test_child_processes_do_not_repeat_the_line():
    code = (
        f"{GONE}import subprocess\nimport caption_kernels\n"
        f"subprocess.run([sys.executable, '-c', {GONE + NAME!r}], check=True)"
    )
    result = python(code)
    assert result.stdout.startswith("reference ")
    assert result.stderr.count("\n") == 1


def test_an_extension_that_is_demanded_and_missing_is_an_error():
    result = python(GONE + NAME, CAPTION_KERNELS="compiled")
    assert result.returncode == 1
    assert (
        "ImportError: caption_kernels: the compiled extension is not installed; "
        "install a C++20 compiler" in result.stderr
    )


@pytest.mark.parametrize(
    ("removed", "setting", "message"),
    [
        (
            GONE,
            "",
            f"the compiled extension is not installed; {COMPILER}, "
            "then the package again, or ",
        ),
        ("", "reference", "the reference engine is not installed; "),
    ],
)
def test_without_any_engine_the_error_says_what_to_install(removed, setting, message):
    result = python(removed + NO_REFERENCE + NAME, CAPTION_KERNELS=setting)
    assert result.returncode == 1
    (line,) = [
        line for line in result.stderr.splitlines() if line.startswith("ImportError: ")
    ]
    assert line.startswith(
        f"ImportError: caption_kernels: {message}`pip install "
        "caption-kernels-reference`"
    )


@pytest.mark.parametrize(
    "first",
    [
        "caption_kernels",
        "caption_kernels_reference",
        "caption_kernels_reference.meteor.lexicon",
    ],
)
def test_the_reference_engine_and_the_package_are_imported_in_any_order(first):
    result = python(
        f"import {first}\n{NAME}; print(hasattr(k, 'text_index'))",
        CAPTION_KERNELS="reference",
    )
    assert result.stdout.startswith("reference ")
    assert result.stdout.endswith("['run']\nFalse\n")


def test_another_name_is_an_error():
    result = python(NAME, CAPTION_KERNELS="fast")
    assert (
        "ImportError: CAPTION_KERNELS is 'fast'; expected 'compiled' or 'reference'"
        in result.stderr
    )


def test_both_engines_have_the_same_names():
    compiled = pytest.importorskip("caption_kernels._compiled")
    import caption_kernels
    import caption_kernels_reference as reference

    assert {name for name in dir(compiled) if not name.startswith("_")} == {
        *reference.__all__,
        "build_hash",
    }
    assert all(
        hasattr(caption_kernels, name)
        for name in [*reference.__all__, "build_hash", "engine"]
    )


def test_importing_costs_numpy_and_the_extension():
    pytest.importorskip("caption_kernels._compiled")
    code = (
        "import sys, caption_kernels; print(*sorted(name for name in sys.modules if "
        "'caption' in name), 'concurrent' in sys.modules)"
    )
    # Names that begin with an underscore belong to the editable install.
    names = [name for name in python(code).stdout.split() if not name.startswith("_")]
    modules = [
        "caption_kernels",
        "caption_kernels._compiled",
        "caption_kernels.binding",
        "caption_kernels.binding.engine",
    ]
    assert names == [*modules, "False"]
