"""What the Dockerfile removes is what the measurement of the image removes."""

from __future__ import annotations

import subprocess

from tools.release.image import removals


def test_the_commands_of_the_dockerfile_remove_tests_headers_and_what_needs_java(
    tmp_path,
):
    kept = [
        "numpy/core.py",
        "scipy/stats/a.py",
        "pyarrow/lib.so",
        "pycocoevalcap/meteor/data/p.gz",
    ]
    removed = [
        "numpy/lib/tests/a.py",
        "scipy/tests/b.py",
        "pyarrow/include/a.h",
        "pyarrow/_flight.so",
        "pycocoevalcap/spice/a.jar",
        "pycocoevalcap/tokenizer/b.jar",
    ]
    for name in (*kept, *removed):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subprocess.run(
        ["sh", "-e", "-c", removals()],
        check=True,
        env={"site": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert sorted(
        str(file.relative_to(tmp_path))
        for file in tmp_path.rglob("*")
        if file.is_file()
    ) == sorted(kept)
