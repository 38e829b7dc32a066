"""Run the kernels under the sanitizers: ``make sanitize``.

    python kernels/driver/sanitize.py [--count 100000] [--only address memory thread
    python calls]

``address``: the C++ driver, built with AddressSanitizer and UndefinedBehaviorSanitizer,
on generated texts, on the texts of the vectors, of the golden sets and of the fuzzer's
findings. ``memory``: the same program while each allocation in turn fails. ``thread``:
four threads that share handles, under ThreadSanitizer. ``python``: the tests of the
kernels and the golden sets through Python, with an extension under AddressSanitizer.
``calls``: calls of the fuzzer with arrays that do not fit, with the same extension.
Exit code 1 at the first finding. Needed are g++ with its sanitizers, and the
environment of `make setup`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path

KERNELS = Path(__file__).resolve().parent.parent
ROOT = KERNELS.parent
STEPS = ("address", "memory", "thread", "python", "calls")
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1"
    ":strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}
TESTS = ("tests/kernels", "tests/plugins/ngram", "tests/plugins/meteor")
PHRASES = (
    "a dog",
    "the dog",
    "dog",
    "dogs",
    "next to",
    "beside",
    "in front of",
    "a",
    "runs",
    "running quickly",
    "cat",
)
FINDINGS = ("metrics", "tokenisers")
"""Folders of the fuzzer's findings that hold texts."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the steps and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--count", type=int, default=100_000, help="number of generated texts"
    )
    parser.add_argument(
        "--only", nargs="+", choices=STEPS, default=STEPS, help="some of the steps"
    )
    args = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as folder:
        lexicon = Path(folder, "lexicon")
        lexicon.write_bytes(small_lexicon())
        for step in args.only:
            start = time.perf_counter()
            if step == "python":
                run_python(build_extension())
            elif step == "calls":
                run_calls(build_extension(), args.count)
            elif step == "thread":
                run(
                    [
                        build_driver("thread", "thread"),
                        str(lexicon),
                        "threads",
                        str(args.count // 10),
                    ]
                )
            else:
                driver = [build_driver("address", "address,undefined"), str(lexicon)]
                if step == "address":
                    run_address(driver, args.count)
                else:
                    run([*driver, "memory"])

            print(
                f"{step}: no finding ({time.perf_counter() - start:.0f} s)", flush=True
            )
    return 0


def small_lexicon() -> bytes:
    """Return a lexicon with invented content, for the driver."""
    from caption_kernels.lexicon.file_format import finish_lexicon
    from caption_kernels.lexicon.word_lists import read_lists
    from caption_kernels_reference import ParaphraseReader

    table = ParaphraseReader()
    for one, other in permutations(PHRASES, 2):
        table.feed(f"0.5\n{one}\n{other}\n".encode())
    lists = read_lists(
        function_words=b"a\nthe\nof\nto\nin\non\n",
        prefixes=b"# words\nMr\nSt\nNo #NUMERIC_ONLY#\n",
        exceptions=b"dog\ndogges\nrun\nran running\n",
        synsets=b"dog\n10 20\nhound\n10\ncat\n20 30\nrun\n5\n",
    )
    return bytes(finish_lexicon(table, lists))


def run_address(driver: Sequence[str], count: int) -> None:
    """Run the driver on generated texts and on those of files."""
    run([*driver, "texts", str(count)])
    with tempfile.TemporaryDirectory() as folder:
        collected = Path(folder, "texts")
        collected.write_bytes(
            b"\n".join(text.encode("utf-8", "surrogatepass") for text in known_texts())
        )
        findings = [
            str(file)
            for name in FINDINGS
            for file in sorted((ROOT / "tests/fuzz/findings" / name).rglob("*"))
        ]
        run(
            [
                *driver,
                "files",
                str(collected),
                *(name for name in findings if Path(name).is_file()),
            ]
        )


def known_texts() -> Iterator[str]:
    """Yield the texts of the vectors and of the golden sets, without line breaks."""
    for file in sorted((KERNELS / "vectors").glob("*.json")):
        yield from strings(json.loads(file.read_text(encoding="utf-8")))
    for name in (
        "coco/ptb_golden.jsonl.gz",
        "coco/coco_metrics_golden.jsonl.gz",
        "meteor/meteor_golden.jsonl.gz",
    ):
        with gzip.open(
            ROOT / "tests" / "golden" / name, "rt", encoding="utf-8"
        ) as lines:
            for line in lines:
                yield from strings(json.loads(line))


def strings(value: object) -> Iterator[str]:
    """Yield the strings inside a JSON value, without line breaks.

    >>> list(strings({"a": ["b", 1, "c"]}))
    ['b', 'c']
    """
    if isinstance(value, str):
        yield value.replace("\n", " ")
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from strings(part)


def build_driver(name: str, sanitizers: str) -> str:
    """Build the driver with sanitizers and return its path."""
    _build(name, [f"-DCK_SANITIZE={sanitizers}", "-DCK_DRIVER=ON"])
    return str(KERNELS / "build" / name / "driver")


def build_extension() -> Path:
    """Build the extension with AddressSanitizer and UndefinedBehaviorSanitizer and
    return its path.
    """
    import nanobind

    options = [
        "-DSKBUILD=1",
        f"-Dnanobind_DIR={nanobind.cmake_dir()}",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    _build("address-python", ["-DCK_SANITIZE=address,undefined", *options])
    return next((KERNELS / "build" / "address-python").glob("_compiled*.so"))


def _build(name: str, options: Sequence[str]) -> None:
    folder = str(KERNELS / "build" / name)
    kind = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    for command in (
        ["cmake", "-S", str(KERNELS), "-B", folder, *kind, *options],
        ["cmake", "--build", folder],
    ):
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise SystemExit(
                f"{' '.join(command)} failed:\n{result.stdout[-3000:]}\n"
                f"{result.stderr[-3000:]}"
            )


def run_python(extension: Path) -> None:
    """Run the tests with the extension."""
    tests = [name for name in TESTS if (ROOT / name).exists()]
    options = [
        "-p",
        "extension_of_tests",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-m",
        "not slow and not java",
    ]
    run(
        [sys.executable, "-m", "pytest", "-q", *options, *tests],
        variables_of(extension),
    )


def run_calls(extension: Path, count: int) -> None:
    """Make calls of the kernels with arrays that do not fit,
    with axes that memory has room for.
    """
    arguments = ["fuzz_kernels", "--calls", str(count), "--longest", str(2**16)]
    start = "runpy.run_module('tools.fuzz.fuzz_kernels', run_name='__main__')"
    program = f"import extension_of_tests, runpy, sys; sys.argv = {arguments}; {start}"
    run([sys.executable, "-W", "ignore", "-c", program], variables_of(extension))


def variables_of(extension: Path) -> dict[str, str]:
    """Return the environment of an extension; the sanitizer's library and that of C++
    come first, so that both see all exceptions.
    """
    compiler = os.environ.get("CXX", "g++")
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")
    ]
    return {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter itself leaks at its end
        "CAPTION_KERNELS": "compiled",
        "CAPTION_KERNELS_EXTENSION": str(extension),
        "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        ),
    }


def run(command: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
    """Run a program whose output is shown; raise :class:`SystemExit` when it does not
    end with 0.
    """
    result = subprocess.run(
        command,
        env={**os.environ, **OPTIONS, **(variables or {})},
        cwd=ROOT,
        check=False,
    )
    if result.returncode:
        raise SystemExit(
            f"a finding: {' '.join(command[:3])} ended with {result.returncode}"
        )


if __name__ == "__main__":
    sys.exit(main())
