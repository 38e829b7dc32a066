"""The card of a component: description, origin, parameters and their defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence

from harness.contracts import Values, VerbResult
from harness.contracts.parameters import literal_names, type_hints
from harness.errors import HarnessError, UnknownName, nearest_name
from harness.registry import Registry, current, parameters
from harness.registry.component_kinds import KINDS
from harness.registry.manifest_schema import Entry


class Cards(VerbResult, list[Values]):
    """Cards of the components with a name, one per kind."""

    def to_dict(self) -> list[Values]:
        """Return the cards."""
        return list(self)

    def blocks(self) -> Iterator[str]:
        """Yield the cards as texts."""
        yield "\n\n".join(map(card_text, self))


def show(name: str) -> Cards:
    """Return the cards of the components with a name.

    Parameters
    ----------
    name : str
        A name of :func:`harness.list`, or ``KIND/NAME`` for a name that several kinds
        have.

    Raises
    ------
    UnknownName
        Nothing has this name.
    HarnessError
        Two plugins share the name.
    """
    return Cards(card(entry) for entry in find_entries(current(), name))


def find_entries(registry: Registry, text: str) -> list[Entry]:
    """Return the entries that ``NAME`` or ``KIND/NAME`` reaches, at most one per kind,
    as a spec would find them.

    Raises :class:`UnknownName` with the nearest name when there is none,
    :class:`HarnessError` when two plugins share the name.
    """
    kind, _, bare_name = text.partition("/")
    if kind == "forms" and bare_name:
        from harness.registry.file_forms import form_entries

        forms = form_entries()
        for entry in forms:
            if bare_name in (entry.name, entry.full_name):
                return [entry]
        raise UnknownName.of_name(
            "there is no form called", bare_name, [entry.name for entry in forms]
        )

    # A name without a kind may have slashes of its own.
    kinds = list(KINDS)
    name = text
    if kind in KINDS and bare_name:
        kinds = [kind]
        name = bare_name
    entries = [
        registry.get(kind, name) for kind in kinds if registry.match_entries(kind, name)
    ]
    if not entries:
        names = _names_like(registry, kinds, name)
        raise UnknownName.of_name("there is nothing called", name, names)
    return entries


def _names_like(registry: Registry, kinds: Sequence[str], name: str) -> list[str]:
    """Return the names of components of some kinds; the nearest one as ``KIND/NAME``
    where a name has a misspelled kind.
    """
    prefix, _, bare_name = name.partition("/")
    kind = nearest_name(prefix, kinds) if bare_name else None
    nearest = nearest_name(bare_name, _bare_names(registry, [kind])) if kind else None
    return [f"{kind}/{nearest}"] if nearest else _bare_names(registry, kinds)


def _bare_names(registry: Registry, kinds: Sequence[str]) -> list[str]:
    return [
        registry.bare_name(entry) for entry in registry.entries() if entry.kind in kinds
    ]


def card(entry: Entry) -> Values:
    """Return the catalogue entry of a component with its docstring and parameters,
    as JSON-compatible values.

    Docstring and parameters of a component of a local registry are read from its
    source, which is not imported. For a component that cannot be imported or read,
    ``not_available`` gives the reason.
    """
    from harness.registry.source_description import describe

    values: Values = {
        "name": current().bare_name(entry),
        "kind": entry.kind,
        "provider": entry.provider,
        "summary": entry.summary,
        "target": entry.target or entry.path or entry.command_line,
        "extra": entry.extra,
        "level": entry.level,
        "higher_is_better": entry.higher_is_better,
        "aliases": list(entry.aliases),
    }
    if entry.path and not entry.target:
        return {**values, "text": entry.file.read_text(encoding="utf-8")}
    try:
        if entry.kind == "forms":
            from harness.registry.file_forms import describe_form, form_of

            return {**values, "text": describe_form(form_of(entry))}
        if entry.local and not entry.declaration:
            text, defaults = describe(entry.folder, entry.target)
            return {**values, "text": text, "parameters": defaults}
        factory = current().load(entry.kind, entry.full_name)
    except HarnessError as error:
        return {**values, "not_available": str(error)}

    defaults: dict[str, str] = {}
    for name, parameter in parameters(factory).items():
        is_required = parameter.default is inspect.Parameter.empty
        defaults[name] = "(required)" if is_required else repr(parameter.default)
    choices = {
        name: list(names)
        for name, hint in type_hints(factory).items()
        if (names := literal_names(hint)) and name in defaults
    }
    return {
        **values,
        "text": inspect.getdoc(factory) or "",
        "parameters": defaults,
        "choices": choices,
    }


def card_text(values: Values) -> str:
    """Return a card as people read it."""
    directions = {True: ", higher is better", False: ", lower is better", None: ""}
    direction = directions[values["higher_is_better"]]
    level = f", level {values['level']}" if values["level"] else ""
    kind = values["kind"][:-1]
    lines = [f"{values['name']} ({kind} of {values['provider']}{level}{direction})"]
    if values["summary"]:
        lines.append(f"  {values['summary']}")
    lines.append(f"  {values['target']}")
    if values["extra"] and values["provider"] == "harness":
        lines.append(f"  needs: pip install 'caption-harness[{values['extra']}]'")
    if values["aliases"]:
        lines.append(f"  aliases: {', '.join(values['aliases'])}")
    if "not_available" in values:
        lines.append(f"  not available here: {values['not_available']}")

    if values.get("parameters"):
        lines += ["", "parameters:"]
        for name, default in values["parameters"].items():
            names = values.get("choices", {}).get(name, ())
            choices = f"  ({', '.join(names)})" if names else ""
            lines.append(f"  {name} = {default}{choices}")

    # Without parameters the text is a file, such as a task, and stays as it is.
    text = values.get("text")
    if text:
        lines += ["", plain(text) if "parameters" in values else text]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Return a docstring without its reStructuredText markup.

    >>> plain("``n`` of :class:`~harness.contracts.Batch`, :func:`stats`")
    'n of Batch, stats'
    """
    text = re.sub(r":[a-z]+(?::[a-z]+)*:`~(?:[\w.]*\.)?(\w+)`", r"\1", text)
    text = re.sub(r":[a-z]+(?::[a-z]+)*:`([^`]*)`", r"\1", text)
    return re.sub(r"``([^`]*)``", r"\1", text).replace("::\n", ":\n")
