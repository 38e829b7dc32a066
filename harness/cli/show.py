"""Show one thing's card: what it is, where it comes from, its parameters and their defaults."""

from __future__ import annotations

import argparse
import inspect
import re

from harness.cli.options import add_json, add_registry, print_json, use_registry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="a name that 'harness list' shows; KIND/NAME where several kinds have it")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    use_registry(args)
    from harness.errors import UnknownName, did_you_mean
    from harness.registry import current
    from harness.registry.component_kinds import KINDS

    registry = current()
    kind, _, rest = args.name.partition("/")
    kinds, name = ([kind], rest) if kind in KINDS and rest else (list(KINDS), args.name)
    entries = [e for e in registry.entries() if e.kind in kinds and name in (e.name, e.full_name, *e.aliases)]
    if not entries:
        raise UnknownName(f"there is nothing called '{name}'{did_you_mean(name, [e.name for e in registry.entries()])}")
    cards = [card(entry) for entry in entries]
    if args.json:
        print_json(cards)
    else:
        print("\n\n".join(_text(item) for item in cards))
    return 0


def card(entry) -> dict:  # type: ignore[no-untyped-def]
    """Everything known about an entry; a component that cannot be imported keeps its catalogue part and the reason."""
    from harness.errors import HarnessError
    from harness.registry import current, parameters

    made = {
        "name": entry.name, "kind": entry.kind, "provider": entry.provider, "summary": entry.summary, "target": entry.target or entry.path,
        "extra": entry.extra, "level": entry.level, "higher_is_better": entry.higher_is_better, "aliases": list(entry.aliases),
    }  # fmt: skip
    if not entry.target:
        made["text"] = entry.file.read_text(encoding="utf-8")
        return made
    try:
        factory = current().load(entry.kind, entry.full_name)
    except HarnessError as error:
        made["not_available"] = str(error)
        return made
    made["text"] = inspect.getdoc(factory) or ""
    made["parameters"] = {
        name: ("(needed)" if p.default is inspect.Parameter.empty else repr(p.default))
        for name, p in parameters(factory).items()
    }
    return made


def _text(made: dict) -> str:  # type: ignore[type-arg]
    direction = {True: ", higher is better", False: ", lower is better", None: ""}[made["higher_is_better"]]
    lines = [
        f"{made['name']} ({made['kind'][:-1]} of {made['provider']}{', level ' + made['level'] if made['level'] else ''}{direction})"
    ]
    lines += [f"  {made['summary']}"] if made["summary"] else []
    lines += [f"  {made['target']}"]
    lines += (
        [f"  needs: pip install 'caption-harness[{made['extra']}]'"]
        if made["extra"] and made["provider"] == "harness"
        else []
    )
    lines += [f"  also called: {', '.join(made['aliases'])}"] if made["aliases"] else []
    lines += [f"  not available here: {made['not_available']}"] if "not_available" in made else []
    if made.get("parameters"):
        lines += ["", "parameters:", *(f"  {name} = {default}" for name, default in made["parameters"].items())]
    if made.get("text"):
        lines += ["", plain(made["text"]) if "parameters" in made else made["text"]]
    return "\n".join(lines)


def plain(text: str) -> str:
    """A docstring without its markup.

    >>> plain("``n`` of :class:`~harness.contracts.Batch`, :func:`stats`")
    'n of Batch, stats'
    """
    text = re.sub(r":[a-z]+(?::[a-z]+)*:`~(?:[\w.]*\.)?(\w+)`", r"\1", text)
    text = re.sub(r":[a-z]+(?::[a-z]+)*:`([^`]*)`", r"\1", text)
    return re.sub(r"``([^`]*)``", r"\1", text).replace("::\n", ":\n")
