"""Variants of a spec that fit this machine, environment variables, and paths beside the
file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, cast

from harness.contracts import Values
from harness.errors import InputError
from harness.files.secrets import (
    MIN_LENGTH,
    is_secret_variable,
    looks_like_key,
    remember,
)
from harness.files.yaml_source import Key, Located, YamlValue
from harness.registry.permissions import check_secret
from harness.spec.conditions import VARIABLE, drop_unmet, extend_notice, holds
from harness.spec.path_parameters import is_path
from harness.spec.published import resolve_references


def settle_variant(tree: Located, folder: Path) -> Located:
    """Return the tree with its variant merged in, environment variables expanded and
    paths resolved beside ``folder``.
    """
    variants: YamlValue = tree.data.pop("variants", None)
    if variants is not None:
        _merge_variant(tree, variants, folder)

    # Notes on what is left out name variables as they are written.
    notes = drop_unmet(tree, folder)
    tree.data = expand_variables(tree, tree.data, (), folder)
    extend_notice(tree, notes)
    resolve_references(tree, folder)
    return tree


def _merge_variant(tree: Located, variants: YamlValue, folder: Path) -> None:
    """Merge the first variant that holds into the tree."""
    variants_tree = Located(None, tree.part(("variants",)))
    if not isinstance(variants, list) or not all(
        isinstance(item, dict) for item in cast("list[YamlValue]", variants)
    ):
        raise InputError("variants is a list of mappings", variants_tree.where(()))
    for index, item in enumerate(cast("list[Values]", variants)):
        location = variants_tree.where((index, "when"))
        if holds(item.pop("when", None), folder, location):
            item["variant"] = item.pop("name", f"variant {index + 1}")
            for key, value in item.items():
                tree.put((key,), value, variants_tree.part((index, key)))
            return
    raise InputError("no variant's 'when' holds", variants_tree.where(()))


def expand_variables(
    tree: Located, value: YamlValue, key: Key, folder: Path
) -> YamlValue:
    """Return a value with environment variables expanded and path parameters resolved
    beside ``folder``.
    """
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {
            name: expand_variables(tree, item, (*key, name), folder)
            for name, item in items
        }
    if isinstance(value, list):
        return [
            expand_variables(tree, item, (*key, index), folder)
            for index, item in enumerate(cast("list[YamlValue]", value))
        ]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        text = os.environ.get(name) or match["default"]
        if text is None:
            raise InputError(
                f"the environment variable {name} is not set", tree.where(key)
            )
        if match["secret"] and len(text) < MIN_LENGTH:
            raise InputError(
                f"the secret {name} has {len(text)} characters; "
                f"expected at least {MIN_LENGTH}",
                tree.where(key),
            )
        # A default in the spec is no secret of the user, but is kept out of files too.
        if match["secret"] or is_secret_variable(name) or looks_like_key(text):
            if os.environ.get(name):
                check_secret(name, tree.where(key))
            remember(text, f"${{secret:{name}}}")
        return text

    text = VARIABLE.sub(replace, value)
    if not text or not is_path(tree.data, key) or Path(text).is_absolute():
        return text
    # A relative path is one beside the spec file, if there is one.
    return str(folder / text) if os.path.exists(folder / text) else text
