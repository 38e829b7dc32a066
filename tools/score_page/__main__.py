"""Build score.html, and the files of the package for ``harness report --editable``:
``python -m tools.score_page [--output FILE]``.

``make wasm`` builds the module before.
"""

from __future__ import annotations

import argparse
import base64
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PACKAGE = ROOT / "kernels" / "js"
MODULE = PACKAGE / "caption_kernels.wasm"
_MODULES = ("caption_kernels", "lexicon", "statistics", "metrics")
SCRIPTS = (
    *(PACKAGE / f"{name}.js" for name in _MODULES),
    HERE / "files.js",
    HERE / "page.js",
)
"""ES modules, each after those that it imports."""
EDITING = PACKAGE.parent / "caption_kernels" / "browser"
"""Folder of the Python package with the module and its metrics in one script; a wheel
that is built after it has it.
"""
STYLES = (
    ROOT / "harness" / "page" / "assets" / "base.css",
    HERE / "page.css",
)
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "[./\w]*/([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(
    r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE
)


def build(output: Path) -> None:
    """Write the page; raise SystemExit where the module is not built."""
    if not MODULE.is_file():
        raise SystemExit(f"{MODULE.relative_to(ROOT)} is not built: make wasm")
    parts = {
        "style": "".join(file.read_text(encoding="utf-8") for file in STYLES),
        "script": bundle(SCRIPTS).replace("{{version}}", _version()),
        "worker": bundle([PACKAGE / "caption_kernels.js", HERE / "worker.js"]).replace(
            "import.meta.url", '""'
        ),
        "module": base64.b64encode(MODULE.read_bytes()).decode(),
    }
    page = (HERE / "page.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page, encoding="utf-8")


def write_package_files() -> None:
    """Write the module and one script, which sets ``captionScoring``,
    into the Python package.
    """
    EDITING.mkdir(exist_ok=True)
    names = ("caption_kernels", "statistics", "metrics")
    merged = "Object.assign({}, ...Object.values(modules))"
    script = (
        f"globalThis.captionScoring = (() => {{\n"
        f"{bundle([PACKAGE / f'{name}.js' for name in names])}return {merged};\n"
        f"}})();\n"
    )
    (EDITING / "scoring.js").write_text(
        script.replace("import.meta.url", "document.baseURI"), encoding="utf-8"
    )
    (EDITING / MODULE.name).write_bytes(MODULE.read_bytes())


def bundle(scripts: Sequence[Path]) -> str:
    """Return one script of ES modules, each a function that returns what it exports."""
    texts = ["const modules = {};\n"]
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        names = ", ".join(name for _, name in _EXPORT.findall(text))
        text = _IMPORT.sub(r'const \1 = modules["\2"];\n', _EXPORT.sub(r"\1", text))
        texts.append(
            f'modules["{script.name}"] = (() => {{\n{text}return {{ {names} }};\n'
            f"}})();\n"
        )
    return "".join(texts)


def _version() -> str:
    text = (ROOT / "kernels" / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^version = "(.*)"$', text, re.MULTILINE)
    assert found is not None
    return f"caption-kernels {found[1]} in WebAssembly"


def main(argv: Sequence[str] | None = None) -> int:
    """Build the page and print its size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=ROOT / "out" / "score.html", help="file to write"
    )
    args = parser.parse_args(argv)
    build(args.output)
    write_package_files()
    print(f"{args.output}: {args.output.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
