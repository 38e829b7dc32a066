"""Forms of files: the recognition, the reading and examples of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.files.forms.form import Form
from harness.files.forms.sample import Sample


@dataclass(frozen=True)
class FormExample:
    """A small file of a form, for the documentation; its two items are ``42``, "a dog",
    and ``73``, "a cat".
    """

    text: str
    """Content of the file; of a form that is no text, its content in words."""
    ids: str
    """Place of the ids of the items, in words."""
    title: str = ""
    """Name of the example, where a form has several; default: the summary of the form.
    """
    is_text: bool = True
    """False for content in words."""

    @classmethod
    def of_json(cls, value: object, ids: str, title: str = "") -> FormExample:
        """Return the example of a file of one JSON value."""
        return cls(json.dumps(value), ids, title)

    @classmethod
    def of_lines(
        cls, records: Sequence[object], ids: str, title: str = ""
    ) -> FormExample:
        """Return the example of a file of JSON Lines."""
        return cls("\n".join(map(json.dumps, records)), ids, title)


@dataclass(frozen=True)
class FormKind:
    """A form of files: how it is recognised and read.

    A plug-in adds one by its manifest (``forms:``).

    The content of a file decides its form. A specific form has signs that hardly
    another file has; of the generic ones, which come last and in the order of the
    table, the first that fits is taken. A file that fits two specific forms is refused.
    """

    name: str
    summary: str
    """Programs that write such files, in a line."""
    recognise: Callable[[Sample], bool]
    """Return True for a file of the form."""
    read: Callable[[Sample], Form]
    """Return the records: with the column ``candidates`` or ``references`` by the role
    of the sample, and ``id`` where there are ids.
    """
    examples: Sequence[FormExample] = ()
    generic: bool = False
    """True for a form of records with any columns, which the names of the columns
    decide.
    """
    reading: str = ""
    """Captions that are read of a file of the form, in words."""
    splits: str = ""
    """Column that names the split of a record; empty where the form has none."""
    options: str = ""
    """Ways to choose where a file of the form may be read in several ways, in words;
    empty where there is no choice.
    """
    check: Callable[[Sample], None] | None = None
    """Raise :class:`~harness.errors.InputError` for a file that may be read in another
    way too; not called where the user names the form.
    """
    extra: str = ""
    """Extra of the distribution that reading the form needs."""
