"""Everything of a release that needs no account, and what is left for a person.

    python -m tools.release.check [--output dist] [--quick]

In order: one version in all places, links of the documentation, READMEs as an index
renders them, licences, score.html and the report page, the distributions (built twice,
``twine check --strict``, the wheels tried on each interpreter that is there) with their
SBOM. Each step prints one line; the last lines are the blanks of docs/paper.md and the
steps of docs/release.md that need an account. ``--quick`` builds and tries nothing.
Exit status 1 when a step fails; 3 when none fails, and one was not tried because no
package index can be reached.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from tools.release.artefacts import find_problems
from tools.release.building import version
from tools.release.index import STATUS, NotTried, print_problems
from tools.release.links import READMES, make_absolute, relative_targets
from tools.release.package import ROOT

BLANK = re.compile(r"\bTO-FILL-IN(?:: (?P<what>[^\n\"]*))?")
"""What a person fills in before a submission."""
PERSON = re.compile(r"^- \[ \] (?P<step>.+(?:\n  .+)*)", re.MULTILINE)
"""A step of docs/release.md that needs an account."""
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


def check_version(root: Path) -> list[str]:
    """Return the places whose version differs from that of the project."""
    expected = version(root)
    kernels = _project(root / "kernels")["version"]
    places = {
        "harness/__init__.py": (rf'^__version__ = "{re.escape(expected)}"$', expected),
        "CITATION.cff": (rf'^version: "?{re.escape(expected)}"?$', expected),
        "kernels/reference/pyproject.toml": (
            rf'^version = "{re.escape(kernels)}"$',
            kernels,
        ),
        "kernels/caption_kernels/__init__.py": (
            rf'^__version__ = "{re.escape(kernels)}"$',
            kernels,
        ),
    }
    return [
        f"{name}: no line with version {wanted}"
        for name, (pattern, wanted) in places.items()
        if not re.search(pattern, (root / name).read_text("utf-8"), re.MULTILINE)
    ]


def check_links(root: Path) -> list[str]:
    """Return the relative links of pages that lead to no file."""
    pages = [root / name for name in READMES]
    pages += sorted((root / "docs").rglob("*.md")) + sorted(
        (root / "examples").rglob("README.md")
    )
    problems: list[str] = []
    for page in pages:
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:|#", target) or "{" in target:
                continue
            file = page.parent / target.partition("#")[0]
            if not file.exists() and file.name != "api":
                problems.append(f"{page.relative_to(root)}: no file {target}")
    return problems


def check_readmes(root: Path) -> list[str]:
    """Return what an index could not render of the READMEs with absolute links."""
    from readme_renderer import markdown  # of twine

    problems: list[str] = []
    for name in READMES:
        folder = str(Path(name).parent)
        text = make_absolute(
            (root / name).read_text(encoding="utf-8"), folder, f"v{version(root)}"
        )
        rendered = markdown.render(text)
        if rendered is None:
            problems.append(
                f"{name}: not rendered without pip install 'readme-renderer[md]'"
            )
        elif "<h1" not in rendered:
            problems.append(f"{name}: no heading in what the index renders")
        problems += [
            f"{name}: the link {target} is relative"
            for target in relative_targets(text)
        ]
    return problems


def check_licences(root: Path) -> list[str]:
    """Return the distributions of the repository without the licence's text."""
    text = (root / "LICENSE").read_bytes()
    folders = [root, root / "kernels", root / "kernels" / "reference"]
    return [
        f"{folder.relative_to(root)}: no LICENSE with the text of the root"
        for folder in folders
        if not (folder / "LICENSE").is_file()
        or (folder / "LICENSE").read_bytes() != text
    ]


def find_blanks(root: Path) -> list[str]:
    """Return what a person fills in, by page."""
    pages = [root / "docs" / "paper.md", root / "CITATION.cff"]
    return [
        f"{page.relative_to(root)}: {match['what'] or 'a blank'}"
        for page in pages
        if page.is_file()
        for match in BLANK.finditer(page.read_text(encoding="utf-8"))
    ]


def find_steps(root: Path) -> list[str]:
    """Return the steps of docs/release.md that need a person."""
    text = (root / "docs" / "release.md").read_text(encoding="utf-8")
    return [" ".join(match["step"].split()) for match in PERSON.finditer(text)]


def build_and_try(root: Path, output: Path) -> list[str]:
    """Run ``make package`` and ``make sbom``; return a line for each that fails, or
    that could not reach a package index.
    """
    problems: list[str] = []
    for module in ("tools.release.package", "tools.release.sbom"):
        option = ["--output", str(output)] if module.endswith("package") else []
        done = subprocess.run([sys.executable, "-m", module, *option], cwd=root)
        if done.returncode:
            line = f"python -m {module}: exit status {done.returncode}"
            problems.append(NotTried(line) if done.returncode == STATUS else line)
    return problems


def check_artefacts(root: Path) -> list[str]:
    """Return the committed pages whose sources changed since they were built."""
    return find_problems(root, root / "docs" / "artefacts")


CHECKS: dict[str, Callable[[Path], list[str]]] = {
    "one version in all places": check_version,
    "links": check_links,
    "READMEs as an index renders them": check_readmes,
    "licences of the distributions": check_licences,
    "score.html and the report page": check_artefacts,
}


def main() -> int:
    """Run all steps; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--quick", action="store_true", help="build and try nothing")
    args = parser.parse_args()

    found: list[str] = []
    for name, check in CHECKS.items():
        problems = check(ROOT)
        found += problems
        print(f"{name}: {'holds' if not problems else 'FAILS'}", flush=True)
        for problem in problems:
            print(f"  {problem}")
    if not args.quick:
        problems = build_and_try(ROOT, args.output)
        found += problems
        if not problems:
            print("distributions and SBOM: hold")

    print("\nleft for a person (docs/release.md):")
    for line in [*find_blanks(ROOT), *find_steps(ROOT)]:
        print(f"  {line}")
    print()
    return print_problems(found)


def _project(folder: Path) -> dict[str, str]:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]


if __name__ == "__main__":
    sys.exit(main())
