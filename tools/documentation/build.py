"""Build the documentation site: pages, figures and notebooks, then mkdocs in strict
mode, then a check of the pages.

    python -m tools.documentation.build [--output site]

The site has the gallery where ``make gallery`` has built one. It opens from the disk. A
page that names a script, style, font, frame or image of another host fails the build.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from tools.documentation.result_tables import stale_pages
from tools.documentation.site import GALLERY, ROOT, configuration, write_pages

_LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc=[\"']?(?P<src>(?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|icon|preload|preconnect|prefetch|dns-prefetch|modulepreload))"
    r"[^>]*?\bhref=[\"']?(?P<href>(?:https?:)?//[^\"'\s>]+)"
    r"|url\([\"']?(?P<url>(?:https?:)?//[^\"')]+)"
    r"|@import\s+[\"'](?P<imported>(?:https?:)?//[^\"']+)",
    re.IGNORECASE,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Build the site and return 1 when a page would make a request."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--output", type=Path, default=ROOT / "site", help="folder of the site"
    )
    args = parser.parse_args(argv)

    output = args.output.resolve()
    if stale := stale_pages():
        print(
            f"{stale[0]}: is not the stored results; python -m "
            "tools.documentation.result_tables --write",
            file=sys.stderr,
        )
        return 1

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "pages")
        nav = write_pages(folder)
        config = Path(name, "mkdocs.yml")
        content = configuration(folder, output, nav, [ROOT])
        config.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--clean",
            "-f",
            str(config),
        ]

        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        if subprocess.run(command, check=False, env=environment).returncode:
            return 1

    requests = outside(output)
    for file, address in requests:
        print(f"{file.relative_to(output)}: loads {address}", file=sys.stderr)

    if (GALLERY / "index.html").is_file():
        shutil.copytree(GALLERY, output / GALLERY.name)
    pages = sum(1 for _ in output.rglob("*.html"))
    size = (
        sum(file.stat().st_size for file in output.rglob("*") if file.is_file()) / 1e6
    )

    print(
        f"{output / 'index.html'}: {pages} pages, {size:.0f} MB, "
        f"{len(requests)} requests to other hosts"
    )
    return 1 if requests else 0


def outside(folder: Path) -> list[tuple[Path, str]]:
    """Return (file, address) of everything that pages and styles of a folder load from
    another host.
    """
    out: list[tuple[Path, str]] = []
    for file in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")]):
        for match in _LOADED.finditer(file.read_text(encoding="utf-8")):
            out.append((file, next(value for value in match.groups() if value)))
    return out


if __name__ == "__main__":
    sys.exit(main())
