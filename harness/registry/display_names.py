"""Names of metrics for people, as manifests declare them, and metrics by any of their
spellings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.registry import current
from harness.registry.catalogue import spelling
from harness.registry.manifest_files import BUILT_IN

PARTS = ("distances", "embeddings", "metrics")
"""Kinds of the components that stand in the brackets of a composed label, in the order
in which they are looked up.
"""
OTHER_WEIGHTS = "other weights"
"""Name of an encoder that the signature of a metric does not call by a declared name.
"""
_SLOT = re.compile(r"\{(\w+)(?:=([^}]*))?\}")
"""Slot of a declared name, with values that are left out: ``{embedding=minilm}``."""
_FINGERPRINT = re.compile(r"(\.\w+)?(:[0-9a-f]{7,})+(?=:|$)")
"""Ending and hashes of a file in a signature."""
_JUDGE = re.compile(r'judge\[(?:.*"model": "([^"]*)"|([^|:\]]*))')
"""Model of a judge in a signature."""
_BRACKET = re.compile(r" ?\[([^\]]*)\]$")
"""Bracket with the models at the end of a declared name."""


def display_name(label: str, signature: str = "") -> str:
    """Return the name of a metric for tables and charts; the code label where no
    manifest declares one.

    The name has the model of the metric in square brackets, which the signature tells,
    unless it is the published default. A composed label has the names of its parts.

    Parameters
    ----------
    label : str
        Label of the metric in results, such as ``trm(meteor)`` or ``distinct2[n=2]``.
    signature : str
        Its signature; without one, models are left out.

    Examples
    --------
    >>> display_name("bleu4"), display_name("trm(meteor)"), display_name("mine")
    ('BLEU-4', 'TRM (METEOR)', 'mine')
    >>> display_name("trm(bert)", "trm|pooled|cosine|minilm")
    'TRM (MiniLM-L6)'
    """
    # Numbers of another program, which their file or the user names.
    if signature.startswith("scores|"):
        return label

    # Axes of a grid stand behind the name: trm(meteor)[n=2].
    parameters = re.search(r"\[[^\[\]]*=.*\]$", label)
    code = label[: parameters.start()].rstrip() if parameters else label
    name = _name(code, ("metrics",), signature.split("|") if signature else [])
    return f"{name} {parameters[0]}" if parameters else name


def is_percent(label: str) -> bool:
    """Return True for a metric whose values papers print times 100, as its manifest
    says; of a composed label, that of the whole.

    >>> (
    ...     is_percent("cider"),
    ...     is_percent("bleu4"),
    ...     is_percent("trm(cider)"),
    ...     is_percent("perplexity"),
    ... )
    (True, True, False, False)
    """
    code = re.sub(r"\[[^\[\]]*=.*\]$", "", label).rstrip()
    stems = [
        code,
        code.partition("(")[0],
        re.sub(r"(\d+|-(?:precision|recall|f1))$", "", code),
    ]
    # Of two components of one name that of the engine's own counts, as for names.
    ordered = sorted(
        current().entries("metrics"), key=lambda entry: entry.provider == BUILT_IN
    )
    entries = {entry.name: entry for entry in ordered}
    entry = next((entries[stem] for stem in stems if stem in entries), None)
    return entry is not None and entry.percent


def labels_by_spelling(labels: Iterable[str]) -> dict[str, str]:
    """Return spelling -> label for the labels of metrics, their names in tables and
    their aliases; a label goes before a name.

    Labels and aliases are there as they are written too. A spelling that is the label
    of one metric and an alias of another is neither.

    >>> labels_by_spelling(["cider"])
    {'ciderd': 'cider', 'cider': 'cider'}
    """
    names = list(labels)
    declared = {
        entry.name: entry.aliases
        for entry in current().entries("metrics")
        if entry.provider == BUILT_IN
    }
    aliases: dict[str, str] = {}
    for label in names:
        for alias in declared.get(label, ()):
            aliases[alias] = label

    spelled = {spelling(alias): label for alias, label in aliases.items()}
    spelled |= {spelling(display_name(label)): label for label in names}
    own = {spelling(label): label for label in names}
    shared = {
        spelling(alias)
        for alias, label in aliases.items()
        if own.get(spelling(alias), label) != label
    }
    by_spelling = spelled | own
    for text in shared:
        by_spelling.pop(text, None)
    return by_spelling | aliases | {label: label for label in names}


def _name(code: str, kinds: Sequence[str], fields: Sequence[str]) -> str:
    """Return the name of a label or of a part of one; ``fields`` are those of the
    signature.
    """
    for kind in kinds:
        declared = _declared(kind, code)
        if declared is not None:
            return _fill(declared, code, kind, fields) if declared else code

    # A composed label: trm(meteor).
    composed = re.fullmatch(r"([^()]+)\((.*)\)", code)
    if composed:
        head = _name(composed[1], ("metrics",), fields)
        components = composed[2].split(", ")
        arguments = ", ".join(_name(text, PARTS, fields) for text in components)
        return code if head == composed[1] else f"{head} ({arguments})"

    # A variant of a metric: distinct3, rougeL-recall.
    match = re.fullmatch(r"(.*?)(\d+|\++|-(?:precision|recall|f1))?( [^()]*)?", code)
    stem, variant, remark = match.groups("") if match else (code, "", "")
    declared = _declared("metrics", stem) if variant or remark else None
    if not declared:
        return code
    of_stem = [stem if field == code else field for field in fields]
    filled = _fill(declared, stem, "metrics", of_stem)
    name, bracket, models = filled.partition(" [")
    text = f"-{variant}" if variant.isdigit() else variant.replace("-", " ")
    return f"{name}{text}{remark}{bracket}{models}"


def _declared(kind: str, name: str) -> str | None:
    """Return the declared name of a component, that of the engine's own first; empty
    without one, None without a component.
    """
    entries = [entry for entry in current().entries(kind) if entry.name == name]
    if not entries:
        return None
    return max(entries, key=lambda entry: entry.provider == BUILT_IN).display


def _fill(declared: str, code: str, kind: str, fields: Sequence[str]) -> str:
    """Return a declared name with its slots filled from the fields of a signature."""
    start = fields.index(code) if code in fields else None
    if kind == "embeddings" and fields and start is None:
        return f"{code} with {OTHER_WEIGHTS}"

    def field(slot: str, default: str) -> str:
        if slot == "embedding":
            encoder = next((f for f in fields if _declared("embeddings", f)), None)
            if fields and encoder is None:
                text = OTHER_WEIGHTS
            else:
                text = _name(encoder or "", ("embeddings",), fields)
        elif slot == "judge":
            judge = _JUDGE.search("|".join(fields))
            text = (judge[1] or judge[2]) if judge else ""
        else:
            # The slot is a number: that field of the signature after the code.
            position = len(fields) if start is None else start + int(slot)
            text = ""
            if position < len(fields):
                text = _FINGERPRINT.sub("", fields[position]).replace(":", " ")
            text = _name(text, ("embeddings",), fields=())
        return "" if text in default.split("/") else text

    bracket = _BRACKET.search(declared)
    models = [field(*slot) for slot in _SLOT.findall(bracket[1])] if bracket else []
    plain = _BRACKET.sub("", declared)
    texts = [field(*slot) for slot in _SLOT.findall(plain)]
    if not all(texts):
        return code
    for text in texts:
        plain = _SLOT.sub(text, plain, count=1)
    listed = ", ".join(filter(None, models))
    return f"{plain} [{listed}]" if listed else plain
