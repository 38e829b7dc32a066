"""Forms of files, those of the harness and those of plug-ins: manifests name them under
``forms``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import cast

from harness.contracts import Role
from harness.errors import HarnessError
from harness.files import forms
from harness.files.forms import Form, FormKind, Sample
from harness.registry.catalogue import Registry
from harness.registry.in_use import current
from harness.registry.manifest_files import BUILT_IN
from harness.registry.manifest_schema import Entry

KIND = "forms"
"""Kind of the components that are forms."""


def read_form(
    path: Path | Sample, role: Role, names: Sequence[str] = (), form: str | None = None
) -> Form:
    """Return the records of a file, as :func:`harness.files.forms.read_form` does,
    with the forms of plug-ins.

    Raises
    ------
    HarnessError
        A form of a plug-in cannot be imported, or is none.
    """
    return forms.read_form(path, role, names, form, further=plugin_forms())


def plugin_forms() -> Sequence[FormKind]:
    """Return the forms of the plug-ins that are in use."""
    return _plugin_forms(current())


@lru_cache(maxsize=8)
def _plugin_forms(registry: Registry) -> Sequence[FormKind]:
    return tuple(form_of(entry, registry) for entry in registry.entries(KIND))


def form_names() -> list[str]:
    """Return the names by which a user can choose a form."""
    return [*forms.FORMS, *(form.name for form in plugin_forms())]


def is_specific(name: str) -> bool:
    """Return True for a form that says itself which columns hold what, such as a log of
    another program.
    """
    kinds = {form.name: form for form in (*forms.FORM_TABLE, *plugin_forms())}
    return name in kinds and not kinds[name].generic


def form_of(entry: Entry, registry: Registry | None = None) -> FormKind:
    """Return the form of an entry; raise :class:`HarnessError` for an object of a
    plug-in that is none, or has another name.
    """
    if entry.provider == BUILT_IN:
        return forms.FORMS[entry.name]
    form = cast(object, (registry or current()).load(KIND, entry.full_name))
    if not isinstance(form, FormKind):
        raise HarnessError(
            f"form '{entry.full_name}' ({entry.target}) is a {type(form).__name__}; "
            "expected a FormKind"
        )
    if form.name != entry.name:
        raise HarnessError(
            f"form '{entry.full_name}' ({entry.target}) has the name '{form.name}'; "
            f"expected '{entry.name}'"
        )
    return form


def form_entries() -> list[Entry]:
    """Return the entries of all forms: those of the harness, as a manifest would
    declare them, and those of plug-ins.
    """
    folder = Path(forms.__file__).parent
    own = [
        Entry(
            KIND,
            form.name,
            BUILT_IN,
            str(folder),
            folder,
            target="harness.files.forms:FORMS",
            summary=form.summary,
            extra=form.extra,
        )
        for form in forms.FORM_TABLE
    ]
    return own + current().entries(KIND)


def describe_form(form: FormKind) -> str:
    """Return how a form is read, with the choices that a user has, and small files of
    it.
    """
    lines = [f"captions: {form.reading}"] if form.reading else []
    lines += [f"choice: {form.options}"] if form.options else []
    lines += [f"column of splits: {form.splits}"] if form.splits else []
    for example in form.examples:
        lines += [
            "",
            f"{example.title or 'example'} (ids: {example.ids}):",
            *(f"  {line}" for line in example.text.split("\n")),
        ]
    return "\n".join(lines)
