"""One page per component, from its manifest entry,
its docstring and the types of its parameters.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.registry import current
from harness.registry.component_kinds import SINGULAR
from harness.registry.manifest_schema import Entry
from harness.spec.schema import parameters_schema
from harness.verbs.cards import card, plain

KINDS = ("metrics", "distances", "embeddings", "adapters", "readers", "tasks")
"""Kinds with pages, in the order of the site."""
MENTIONS = {
    "metrics": ("metrics/*.md", "studies/*.md"),
    "distances": ("metrics/*.md",),
    "embeddings": ("metrics/embeddings.md", "metrics/*.md"),
    "readers": ("data-formats.md", "studies/*.md"),
    "tasks": (
        "studies/*.md",
        "metrics/*.md",
        "adapters/*.md",
        "commands.md",
        "dense.md",
    ),
}
"""Kind -> hand-written pages that explain components without a page of their own; the
first that names a component is its guide.
"""
DIRECTION = {True: "higher is better", False: "lower is better", None: "no direction"}
LEVELS = {
    "item": "a caption",
    "set": "the captions of an example",
    "corpus": "all captions of a run",
    "model": "the probabilities of a model",
}
_SECTIONS = re.compile(
    r"\n(Parameters|Returns|Raises|Examples|References|Notes)\n-{3,}\n"
)


def page_name(entry: Entry) -> str:
    """Return the file name of a component's page:
    ``trm.md``, ``studies-central.md``.
    """
    return f"{entry.name.replace('/', '-')}.md"


def built_in(kind: str) -> list[Entry]:
    """Return the built-in entries of a kind, by name."""
    return [entry for entry in current().entries(kind) if entry.provider == "harness"]


def guides(docs: Path) -> dict[tuple[str, str], str]:
    """Return (kind, name) -> path of the hand-written page, relative to ``docs``: the
    file of the name, or that of its title or links.
    """
    out: dict[tuple[str, str], str] = {}
    index = (docs / "metrics" / "README.md").read_text(encoding="utf-8")
    for names, file in re.findall(r"\[((?:`[\w-]+`(?:, )?)+)\]\(([\w-]+\.md)\)", index):
        for name in re.findall(r"`([\w-]+)`", names):
            out.setdefault(("metrics", name), f"metrics/{file}")

    # The page of the component's name comes before one that has the name in its title.
    for kind in KINDS:
        folder = docs / ("metrics" if kind in ("distances", "embeddings") else kind)
        for entry in built_in(kind):
            if (folder / f"{entry.name}.md").is_file():
                out[kind, entry.name] = f"{folder.name}/{entry.name}.md"
                continue
            alone = re.compile(rf"(?<![\w-]){re.escape(entry.name)}(?![\w-])")
            for file in sorted(folder.glob("*.md")):
                title = file.read_text(encoding="utf-8").partition("\n")[0]
                if alone.search(title) and "README" not in file.name:
                    out.setdefault((kind, entry.name), f"{folder.name}/{file.name}")

    for entry in built_in("tasks"):
        for file in sorted((docs / "studies").glob("*.md")):
            if (
                f"{entry.name.removeprefix('studies/')}"
                in file.read_text(encoding="utf-8")
                and "studies/" in entry.name
            ):
                out.setdefault(("tasks", entry.name), f"studies/{file.name}")
        if entry.name.startswith("judgments/"):
            out["tasks", entry.name] = "judgments.md"

    # Whatever has no page of its own: the first page that mentions it.
    for kind, patterns in MENTIONS.items():
        pages = [
            file
            for pattern in patterns
            for file in sorted(docs.glob(pattern))
            if file.name != "README.md"
        ]
        texts = {file: file.read_text(encoding="utf-8") for file in pages}

        for entry in built_in(kind):
            name = re.compile(
                rf"(?<![\w-]){re.escape(entry.name.removeprefix('studies/'))}(?![\w-])"
            )
            file = next(
                (file for file, text in texts.items() if name.search(text)), None
            )
            if file is not None:
                out.setdefault((kind, entry.name), file.relative_to(docs).as_posix())
    return out


def page(entry: Entry, guide: str | None) -> str:
    """Return the Markdown of a component's page; ``guide`` is the path of its
    hand-written page below the root of the site.
    """
    lines = [f"# {entry.name}", "", f"{entry.summary}.", ""]
    if guide:
        lines += [
            "Explanation, formula and examples: "
            f"[{guide.rpartition('/')[2].removesuffix('.md')}](../../{guide}).",
            "",
        ]
    lines += [*_facts(entry), ""]
    if entry.kind == "tasks":
        return "\n".join([*lines, *_task(entry)])
    return "\n".join([*lines, *_usage(entry), *_parameters(entry), *_docstring(entry)])


def _facts(entry: Entry) -> list[str]:
    rows = {
        "kind": SINGULAR[entry.kind],
        "judges": LEVELS.get(entry.level, ""),
        "direction": DIRECTION[entry.higher_is_better]
        if entry.kind == "metrics"
        else "",
        "question": entry.question,
        "reads": ", ".join(entry.needs),
        "other names": ", ".join(f"`{alias}`" for alias in entry.aliases),
        "install": f"`pip install 'caption-harness[{entry.extra}]'`"
        if entry.extra
        else "part of the bare installation",
        "code": f"`{entry.target or entry.path}`",
    }
    return [
        "| | |",
        "| --- | --- |",
        *(f"| {name} | {value} |" for name, value in rows.items() if value),
    ]


def _task(entry: Entry) -> list[str]:
    text = entry.file.read_text(encoding="utf-8").rstrip()
    content = yaml.safe_load(text)
    description = (
        [str(content["description"]).strip(), ""]
        if isinstance(content, dict) and content.get("description")
        else []
    )
    return [
        *description,
        "```",
        f"harness run {entry.name}",
        "```",
        "",
        "## The spec",
        "",
        "```yaml",
        text,
        "```",
        "",
    ]


def _usage(entry: Entry) -> list[str]:
    schema = parameters_schema(entry)
    required = ", ".join(f"{name}: ..." for name in schema.get("required", ()))
    value = f"{{{required}}}" if required else ""
    with_value = f"{entry.name}: {value}" if value else entry.name
    reader = f"{entry.name}, {required}" if required else entry.name
    blocks = {
        "metrics": f"metrics:\n  - {with_value}",
        "adapters": f"models:\n  - {with_value}",
        "readers": f"dataset: {{reader: {reader}}}",
        "distances": f"metrics:\n  - trm: {{distance: {entry.name}}}",
        "embeddings": f"metrics:\n  - mmd: {{embedding: {entry.name}}}",
    }
    return ["```yaml", blocks[entry.kind], "```", ""]


def _parameters(entry: Entry) -> list[str]:
    schema = parameters_schema(entry)
    rows: list[str] = []
    for name, values in schema["properties"].items():
        default = (
            "required"
            if name in schema.get("required", ())
            else _code(values.get("default"))
        )
        rows.append(
            f"| `{name}` | {_cell(type_text(values))} | {default} | "
            f"{_cell(values.get('description', ''))} |"
        )
    if not rows:
        return ["No parameters.", ""]
    return [
        "## Parameters",
        "",
        "| name | values | default | |",
        "| --- | --- | --- | --- |",
        *rows,
        "",
    ]


def type_text(schema: Mapping[str, Any]) -> str:
    """Return the values that a parameter's schema accepts, in words.

    >>> type_text(
    ...     {
    ...         "anyOf": [
    ...             {"type": "integer"},
    ...             {"type": "null"},
    ...             {"$ref": "#/$defs/Variable"},
    ...         ]
    ...     }
    ... )
    'whole number or null'
    """
    words = {
        "integer": "whole number",
        "number": "number",
        "string": "text",
        "boolean": "true, false",
        "object": "mapping",
        "null": "null",
    }
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        parts = [
            type_text(part)
            for part in schema["anyOf"]
            if "$ref" not in part and part.get("type") != "array"
        ]
        parts = parts or [
            type_text(part) for part in schema["anyOf"] if "$ref" not in part
        ]
        return " or ".join(dict.fromkeys(part for part in parts if part))
    if schema.get("type") == "array":
        inner = type_text(schema.get("items", {}))
        return f"list of {inner}" if inner else "list"
    return words.get(str(schema.get("type", "")), "")


def _code(value: object) -> str:
    return "" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _docstring(entry: Entry) -> list[str]:
    """Return the first paragraphs of the docstring, before its sections."""
    text = plain(inspect.cleandoc(str(card(entry).get("text", ""))))
    body = _SECTIONS.split(f"\n{text}", maxsplit=1)[0].strip()
    return (
        ["## Documentation of the class", "", "```text", _wrapped(body), "```", ""]
        if body
        else []
    )


def _wrapped(text: str, width: int = 84) -> str:
    """Return a text with its paragraphs wrapped; lists,
    examples and indented lines are unchanged.

    >>> print(_wrapped("one two three\\n\\n  a   b\\n- c", width=8))
    one two
    three
    <BLANKLINE>
      a   b
    - c
    """
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        part
        if re.search(r"^(\s|[-*>|])", part, re.MULTILINE)
        else textwrap.fill(part, width, break_long_words=False)
        for part in paragraphs
    )
