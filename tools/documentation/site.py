"""The pages of the site: those of docs/, one per component, the verbs, the API;
and their navigation.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from harness.cli.main import commands
from tools.documentation import components, notebooks
from tools.documentation.drawing import draw_all

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "gallery"
"""Folder of ``make gallery``."""
GALLERY_LINK = (
    '<p><a class="md-button md-button--primary" href="gallery/index.html">Open pages '
    "of real captions</a></p>"
)
"""Text that replaces the comment ``<!-- gallery -->`` of the home where there is a
gallery.
"""
SECTIONS: dict[str, dict[str, str]] = {
    "Home": {"index.md": "Home"},
    "Tutorial": {"tutorial.md": "Tutorial"},
    "How to": {
        "how-to": "Tasks",
        "quickstart.md": "Quick start",
        "installation.md": "Installation",
        "python.md": "From Python",
        "rewards.md": "Rewards",
        "figures.md": "Figures, tables, notebooks",
        "browser.md": "In the browser",
        "hugging-face.md": "Hugging Face",
        "libraries.md": "torchmetrics, evaluate",
        "loggers.md": "Loggers",
        "editors.md": "Editor and shell",
        "coming-from": "Coming from",
        "notebooks": "Notebooks",
    },
    "Explanation": {
        "concepts.md": "Concepts",
        "comparisons.md": "Comparisons",
        "power.md": "Power",
        "estimate.md": "Human scores from few labels",
        "same.md": "Same",
        "judgments.md": "Human judgments",
        "dense.md": "Timed and located captions",
        "scale.md": "Scale",
        "methods.md": "Methods",
        "promises.md": "Promises",
    },
    "Forms and specs": {
        "commands.md": "All commands",
        "contents.md": "What is in it",
        "specs.md": "Specs",
        "data-formats.md": "Data formats",
        "outputs.md": "Outputs of models",
        "report-page.md": "Report page",
        "results.md": "Finished runs",
        "plugins.md": "Plugins",
        "protocol.md": "Programs in any language",
        "encoders.md": "Encoders",
        "kernels.md": "The text kernels",
        "metrics": "Cards of metrics",
        "adapters": "Cards of models",
    },
    "Studies": {"studies": "Studies"},
    "Maintainers": {
        "release.md": "Release",
        "testing.md": "Testing",
        "paper.md": "Paper",
    },
}
"""Tab -> pages and folders of docs/ with their titles, by what a reader wants. Pages
that are named nowhere come last under *Explanation*.
"""
REST = "Explanation"
TASKS = ("Tutorial", "How to")
"""Tabs whose pages a reader follows step by step."""
REPOSITORY_FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
API = {
    "Python API": [
        "harness.api",
        "harness.results",
        "harness.analysis.compare",
        "harness.decisions.correlate.correlate",
        "harness.decisions.power.power",
        "harness.decisions.estimate",
        "harness.run.tasks",
        "harness.page.report",
        "harness.reporting.foreign_files",
    ],
    "Runs and results": [
        "harness.run.finished",
        "harness.run.text_scores",
        "harness.rundir.samples",
        "harness.rundir.records",
    ],
    "Contracts": [
        "harness.contracts.data",
        "harness.contracts.metrics",
        "harness.contracts.token_metrics",
        "harness.contracts.models",
        "harness.contracts.bases",
        "harness.contracts.features",
        "harness.contracts.parameters",
    ],
    "Plugins": [
        "harness.registry.catalogue",
        "harness.registry.in_use",
        "harness.registry.hooks",
        "harness.testing",
    ],
    "Statistics": [
        f"harness.stats.{name}"
        for name in (
            "bootstrap",
            "combine",
            "permutation",
            "permutation_p_values",
            "significance",
            "correlation",
        )
    ],
    "Other libraries": [
        "harness.wrappers.torch_metric",
        "harness.wrappers.evaluate_module",
        "harness.files.media",
    ],
    "Errors": ["harness.errors"],
}
"""Title -> modules of the API reference."""
Nav = list[dict[str, Any]]


def write_pages(folder: Path) -> Nav:
    """Write the Markdown of the site into an empty folder and return its navigation."""
    shutil.copytree(
        ROOT / "docs",
        folder,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("*.ipynb"),
    )

    for name in REPOSITORY_FILES:
        shutil.copy(ROOT / name, folder / name)
    (folder / "assets").mkdir(exist_ok=True)
    shutil.copy(
        Path(__file__).parent / "vendor" / "iframe-worker" / "shim.js",
        folder / "assets" / "iframe-worker.js",
    )
    shutil.copy(Path(__file__).parent / "site.css", folder / "assets" / "site.css")

    draw_all(folder / "figures")
    notebooks.write_pages(ROOT / "docs" / "notebooks", folder / "notebooks")

    for file in folder.rglob("*.md"):
        text = relinked(file.read_text(encoding="utf-8"), file.relative_to(folder))
        file.write_text(in_both_schemes(text, file.parent), encoding="utf-8")

    # The link to the gallery stands on the home page only where there is a gallery.
    home = folder / "index.md"
    text = home.read_text(encoding="utf-8").replace(
        "<!-- gallery -->", GALLERY_LINK if (GALLERY / "index.html").is_file() else ""
    )
    home.write_text(f"---\nhide: [navigation, toc]\n---\n{text}", encoding="utf-8")

    nav = guide_nav(folder)
    nav.append({"Reference": [*_components(folder), *_verbs(folder), *_api(folder)]})
    nav.append(
        {
            "Project": [
                {name.removesuffix(".md").capitalize(): name}
                for name in REPOSITORY_FILES
            ]
        }
    )
    return nav


def relinked(text: str, path: Path) -> str:
    """Return a page whose links to files of the repository lead to the copies of the
    site, or to the repository.

    >>> relinked("[a](docs/specs.md) [b](../SECURITY.md)", Path("x.md"))
    '[a](specs.md) [b](SECURITY.md)'
    """
    depth = len(path.parts) - 1

    def target(match: re.Match[str]) -> str:
        link = match[1]
        if "://" in link or link.startswith("#"):
            return match[0]
        above = "../" * (depth + 1)
        link = link.removeprefix("docs/") if depth == 0 else link
        if link.startswith(above):
            inside = link.removeprefix(above)
            return (
                f"]({'../' * depth}{inside})"
                if inside.partition("#")[0] in REPOSITORY_FILES
                else f"]({repository()}{inside})"
            )
        return f"]({link})"

    return re.sub(r"\]\(([^)\s]+)\)", target, text)


def in_both_schemes(text: str, folder: Path) -> str:
    """Return a page whose pictures ``NAME.png`` with a file ``NAME-dark.png`` beside
    them show that one in the dark scheme of the theme.
    """

    def both(match: re.Match[str]) -> str:
        dark = match[2].replace(".png", "-dark.png")
        return (
            f"{match[1]}({match[2]}#only-light){match[1]}({dark}#only-dark)"
            if (folder / dark).is_file()
            else match[0]
        )

    return re.sub(r"(!\[[^\]]*\])\(([^)\s]+\.png)\)", both, text)


def repository() -> str:
    """Return the address of the repository's files, from the metadata."""
    import tomllib

    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]["urls"]
    return f"{urls['Repository']}/blob/main/"


def guide_nav(folder: Path) -> Nav:
    """Return the navigation of the hand-written pages by :data:`SECTIONS`."""
    present = {
        item.name
        for item in folder.iterdir()
        if item.suffix == ".md" or (item.is_dir() and any(item.glob("*.md")))
    }
    present -= set(REPOSITORY_FILES)
    named = {name for pages in SECTIONS.values() for name in pages}
    nav: Nav = []
    for tab, pages in SECTIONS.items():
        entries = {name: title for name, title in pages.items() if name in present}
        if tab == REST:
            entries |= {
                name: Path(name).stem.replace("-", " ").capitalize()
                for name in sorted(present - named)
            }
        items: Nav = [
            {title: name if name.endswith(".md") else _section(folder, name)}
            for name, title in entries.items()
        ]
        if not items:
            continue
        # A tab of one page or one folder is that page or folder.
        nav.append(
            {tab: next(iter(items[0].values()))} if len(items) == 1 else {tab: items}
        )
    return nav


def _section(folder: Path, name: str) -> list[Any]:
    """Return the pages of a folder: its index, then the others by their titles."""
    pages = sorted(
        (folder / name).glob("*.md"),
        key=lambda file: (file.name not in ("README.md", "index.md"), file.name),
    )
    return [
        f"{name}/{file.name}"
        if file.stem in ("README", "index")
        else {title_of(file): f"{name}/{file.name}"}
        for file in pages
    ]


def title_of(file: Path) -> str:
    """Return the first heading of a page without markup, or its name."""
    match = re.search(r"^# (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return re.sub(r"[`*]", "", match[1]) if match else file.stem


def _components(folder: Path) -> Nav:
    guides = components.guides(ROOT / "docs")
    nav: Nav = []
    for kind in components.KINDS:
        target = folder / "reference" / kind
        target.mkdir(parents=True)
        entries = components.built_in(kind)
        rows = [
            f"| [`{entry.name}`]({components.page_name(entry)}) | {entry.summary} |"
            for entry in entries
        ]
        (target / "index.md").write_text(
            "\n".join([f"# All {kind}", "", "| name | |", "| --- | --- |", *rows, ""])
        )
        pages: list[Any] = [f"reference/{kind}/index.md"]
        for entry in entries:
            text = components.page(entry, guides.get((kind, entry.name)))
            (target / components.page_name(entry)).write_text(text, encoding="utf-8")
            pages.append(
                {entry.name: f"reference/{kind}/{components.page_name(entry)}"}
            )
        nav.append({kind.capitalize(): pages})
    return nav


def _verbs(folder: Path) -> Nav:
    """Write one page of all verbs with their ``--help``."""
    lines = ["# Command line", ""]
    for verb, summary in commands().items():
        command = [sys.executable, "-m", "harness", verb, "--help"]
        result = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=folder
        )
        lines += [
            f"## harness {verb}",
            "",
            f"{summary[:1].upper()}{summary[1:]}.",
            "",
            "```text",
            result.stdout.rstrip(),
            "```",
            "",
        ]
    (folder / "reference" / "command-line.md").write_text(
        "\n".join(lines), encoding="utf-8"
    )
    return [{"Command line": "reference/command-line.md"}]


def _api(folder: Path) -> Nav:
    pages: Nav = []
    for title, modules in API.items():
        name = f"reference/api/{title.lower().replace(' ', '-')}.md"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(
            "\n".join([f"# {title}", "", *(f"::: {module}\n" for module in modules)]),
            encoding="utf-8",
        )
        pages.append({title: name})
    return [{"Python": pages}]


def configuration(
    source: Path, output: Path, nav: Nav, packages: Iterable[Path]
) -> dict[str, Any]:
    """Return the configuration of mkdocs: that of ``mkdocs.yml`` with the folders, the
    navigation and the packages of the API.
    """
    content = yaml.safe_load(
        (Path(__file__).parent / "mkdocs.yml").read_text(encoding="utf-8")
    )
    content |= {"docs_dir": str(source), "site_dir": str(output), "nav": nav}
    for plugin in content["plugins"]:
        if isinstance(plugin, dict) and "mkdocstrings" in plugin:
            plugin["mkdocstrings"]["handlers"]["python"]["paths"] = [
                str(path) for path in packages
            ]
    return content
