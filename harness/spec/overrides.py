"""Values of a spec that ``KEY=VALUE`` texts replace."""

from __future__ import annotations

import re
from typing import Any, cast

from harness.errors import InputError
from harness.files.yaml_source import MAX_DEPTH, Located, YamlValue, loads


def apply_override(tree: Located, text: str) -> None:
    """Apply a ``KEY=VALUE`` text to the tree; raise :class:`InputError` for a key that
    does not fit.
    """
    name, equals, raw = text.partition("=")
    if not equals or not name:
        raise InputError(
            "expected KEY=VALUE (for example decoding.temperature=0.7); "
            f"found '{text}'",
            "--set",
        )
    value = loads(raw, "--set").data if raw.strip() else ""
    steps = [
        int(step) if re.fullmatch(r"[0-9]{1,9}", step) else step
        for step in name.split(".")
    ]
    if len(steps) > MAX_DEPTH:
        raise InputError(
            f"a key has at most {MAX_DEPTH} parts; found {len(steps)}", "--set"
        )

    here: YamlValue = tree.data
    for depth, step in enumerate(steps):
        last = depth == len(steps) - 1
        try:
            if last:
                here[step] = value
            elif isinstance(here, dict):
                mapping = cast("dict[Any, Any]", here)
                # A component name without parameters becomes a mapping.
                if isinstance(mapping.get(step), str):
                    mapping[step] = {mapping[step]: {}}
                here = mapping.setdefault(step, {})
            else:
                if isinstance(here[step], str):
                    here[step] = {here[step]: {}}
                here = here[step]
        except (TypeError, IndexError, KeyError):
            raise InputError(
                f"'{name}' is no key of the spec: no '{step}' in "
                f"{type(cast(object, here)).__name__}",
                "--set",
            ) from None

    # What stood at the key, with all below it, comes from the text now.
    tree.locations = {
        path: location
        for path, location in tree.locations.items()
        if path[: len(steps)] != tuple(steps)
    }
    short = text if len(text) <= 100 else f"{text[:97]}..."
    tree.locations[tuple(steps)] = (f"--set {short}", 0)
