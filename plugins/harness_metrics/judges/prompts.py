"""Prompts of judges: templates with places for captions.

Captions enter a prompt as JSON texts, so that quotation marks, line breaks and braces
in a caption stay inside it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.errors import HarnessError

_TEMPLATES = Path(__file__).parent / "templates"
CLAIR, RUBRIC, ARENA, SUMMARY, FLEUR = (
    (_TEMPLATES / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n")
    for name in ("clair", "rubric", "arena", "summary", "fleur")
)


def with_image(template: str) -> str:
    """Return a template for a judge that sees the image.

    >>> with_image("Grade one caption of an image that you cannot see. Ignore it.")
    'Grade one caption of the image above. Ignore it.'
    """
    text = template.replace("an image that you cannot see", "the image above")
    text = text.replace("You cannot see the image. ", "")
    return text.replace("of the same image follow", "of the image above follow")


def listing(captions: Sequence[str]) -> str:
    """Return captions as JSON texts, one per line, sorted:
    a judge sees no order of the captions.

    >>> print(listing(["a dog", 'a "dog"']))
    - "a \\"dog\\""
    - "a dog"
    """
    return "\n".join(
        f"- {json.dumps(caption, ensure_ascii=False)}" for caption in sorted(captions)
    )


def quote_caption(caption: str) -> str:
    """Return one caption as a JSON text."""
    return json.dumps(caption, ensure_ascii=False)


def context(references: Sequence[str], source: str | None) -> str:
    """Return the paragraphs with references and source text, empty without both."""
    paragraphs: list[str] = []
    if source is not None:
        text = quote_caption(source)
        paragraphs.append(f"\nText that the caption is based on:\n{text}\n")
    if references:
        text = listing(references)
        paragraphs.append(f"\nCaptions by people of the same image:\n{text}\n")
    return "\n".join(paragraphs)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with ``{name}`` replaced for each name of ``values``;
    all other braces stay.

    >>> fill('{a} {"a": {b}}', {"a": "{b}", "b": "2"})
    '{b} {"a": 2}'
    """
    # one pass over the template: braces in the values stay as they are
    pattern = r"\{(" + "|".join(map(re.escape, values)) + r")\}"
    return re.sub(pattern, lambda match: values[match[1]], template)


def check_template(template: str, names: Sequence[str], metric: str) -> str:
    """Return a template; raise :class:`HarnessError` where the place for one of the
    names is missing.
    """
    missing = [name for name in names if f"{{{name}}}" not in template]
    if missing:
        raise HarnessError(
            f"{metric}: prompt has no {{{missing[0]}}}; "
            f"expected a text with {' and '.join(f'{{{n}}}' for n in names)}",
            parameter="prompt",
            value=template,
        )
    return template


def prompt_key(prompt: str) -> str:
    """Return ``prompt:`` and a short hash of a template, for signatures."""
    return f"prompt:{hashlib.sha256(prompt.encode()).hexdigest()[:8]}"
