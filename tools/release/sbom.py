"""List the dependencies of a bare installation: versions, licences,
a CycloneDX file, known vulnerabilities.

    python -m tools.release.sbom [--wheel dist/X.whl] [--output dist/sbom.cdx.json]
    [--no-audit]

The list is that of a new environment, not of the machine. ``pip-audit`` asks a service;
where it cannot be reached, that is printed, and the exit code stays 0. The exit code is
1 when a dependency has a known vulnerability or no licence in its metadata; 3 where no
package index can be reached.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.release.building import build
from tools.release.environments import installed
from tools.release.index import run_step
from tools.release.kernels import build_sdist
from tools.release.package import ROOT

PROBE = """
import importlib.metadata, json
keys = ("Name", "Version", "License-Expression", "License")
rows = []
for found in importlib.metadata.distributions():
    row = {key: found.metadata.get(key) or "" for key in keys}
    row["classifiers"] = found.metadata.get_all("Classifier") or []
    rows.append(row)
print(json.dumps(rows))
"""
NOTES = {
    "pycocoevalcap": "not in its metadata: COCO caption toolkit, "
    "with the jars of METEOR, SPICE and CoreNLP under their own licences"
}
"""Notes on packages whose metadata have no licence."""
INSTALLERS = {"pip", "setuptools", "wheel"}


@dataclass(frozen=True)
class Row:
    """One installed distribution."""

    name: str
    version: str
    licence: str


def licence(values: dict[str, str], classifiers: Sequence[str]) -> str:
    """Return the licence of metadata: the SPDX expression, else the classifiers, else a
    licence text on one line.

    >>> licence({"License-Expression": "MIT", "License": ""}, [])
    'MIT'
    >>> licence({"License": "x"}, ["License :: OSI Approved :: BSD License"])
    'BSD License'
    """
    if values.get("License-Expression"):
        return values["License-Expression"]
    approved = [
        line.rpartition(" :: ")[2]
        for line in classifiers
        if line.startswith("License :: ")
    ]
    text = values.get("License", "").strip().partition("\n")[0]
    return ", ".join(approved) or text.replace("UNKNOWN", "")


def rows_of(python: Path) -> list[Row]:
    """Return the distributions of an environment, without the installers, by name."""
    output = subprocess.run(
        [python, "-I", "-c", PROBE], capture_output=True, check=True, text=True
    ).stdout
    rows = [
        Row(row["Name"], row["Version"], licence(row, row["classifiers"]))
        for row in json.loads(output)
    ]
    rows = [
        Row(row.name, row.version, row.licence or NOTES.get(row.name.lower(), ""))
        for row in rows
    ]
    return sorted(
        (row for row in rows if row.name.lower() not in INSTALLERS),
        key=lambda row: row.name.lower(),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the list, write the CycloneDX file,
    run the audit and return the exit code.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--wheel", type=Path, help="wheel to install (default: a new build)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "dist" / "sbom.cdx.json",
        help="CycloneDX file",
    )
    parser.add_argument("--no-audit", action="store_true", help="leave pip-audit out")
    args = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as folder:
        wheel = args.wheel or _built(Path(folder, "dist"))
        python = (
            installed(Path(sys.executable), Path(folder, "environment"), wheel).bin
            / "python"
        )
        rows = rows_of(python)

        width = max(len(row.name) for row in rows)
        for row in rows:
            print(
                f"{row.name:<{width}}  {row.version:<12}  "
                f"{row.licence or 'NO LICENCE IN THE METADATA'}"
            )

        _write(python, args.output)
        vulnerable = (
            False if args.no_audit else _audit(rows, Path(folder, "requirements.txt"))
        )

    return 1 if vulnerable or not all(row.licence for row in rows) else 0


def _built(output: Path) -> Path:
    """Build the distributions into ``output``, where pip finds the kernels beside the
    wheel, and return the wheel.
    """
    wheel = build(ROOT, output).wheel
    build_sdist(ROOT, output)
    return wheel


def _write(python: Path, output: Path) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "cyclonedx_py",
        "environment",
        "--output-reproducible",
        "-o",
        str(output),
        str(python),
    ]
    subprocess.run(command, check=True, capture_output=True)
    print(
        f"{output}: CycloneDX, {len(json.loads(output.read_text())['components'])} "
        "components"
    )


def _audit(rows: Sequence[Row], requirements: Path) -> bool:
    """Run ``pip-audit`` on exact versions; return True when one has a known
    vulnerability.
    """
    lines = [
        f"{row.name}=={row.version}\n"
        for row in rows
        if row.name not in ("caption-harness", "caption-kernels")
    ]
    requirements.write_text("".join(lines))
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--no-deps",
        "--disable-pip",
        "--progress-spinner",
        "off",
    ]
    result = subprocess.run(
        [*command, "-r", str(requirements)], capture_output=True, text=True, check=False
    )
    if result.returncode == 0:
        print(f"pip-audit: no known vulnerability in {len(lines)} packages")
        return False
    if "vulnerabilit" in result.stderr and "Found" in result.stderr:
        print(f"pip-audit: {result.stderr.strip()}\n{result.stdout}")
        return True
    reason = (result.stderr.strip().splitlines() or ["no output"])[-1]
    print(f"pip-audit: not run, its service cannot be reached ({reason[:200]})")
    return False


if __name__ == "__main__":
    sys.exit(run_step("make sbom", main))
