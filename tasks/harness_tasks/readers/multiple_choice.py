"""The ``multiple-choice`` reader: records with several options and the correct one,
for choices by likelihood.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.contracts import Example, PathParam, Values
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.examples import with_root
from harness.files.records import Record, records
from harness.files.strict_json import load_json
from harness.files.user_files import (
    existing,
    fingerprint,
    first_byte,
    is_parquet,
    open_binary,
)

COLUMNS = ("id", "options", "answer", "media", "source")
"""Parts of an example that ``columns`` may rename."""


class ChoiceReader:
    """Examples whose references are the options of a choice, the correct one first.

    A record of JSON Lines, a JSON list or Parquet has options (a list), the answer (an
    option, or its index from 0), and optionally an id (the number of the record by
    default), media and source. Other fields go to ``Example.meta``.

    Parameters
    ----------
    path : path or list of paths
        File of records, or several (the kinds of SugarCrepe): the ids are then
        ``NAME/ID``, and the name of the file without its ending is the metadata
        ``file``.
    options : list of str, optional
        Options of every record, such as ``[yes, no]``; by default the column of
        options.
    columns : mapping, optional
        Names of columns: ``id``, ``options`` (a name, or a list of names with one
        option each), ``answer``, ``media``, ``source``. A list of names for ``media``
        (``[image_0, image_1]``, as in Winoground) makes one example per image,
        ``ID/0``, ``ID/1``, ...: the i-th option is the caption of the i-th image, and
        there is no answer.
    answer : int, optional
        Index of the correct option of every record, in place of the column.
    blind : bool, default False
        After every example, repeat it without its media under the id ``ID/blind``.
    blank : str, optional
        Media name of the repetitions, such as a grey image, for models that need an
        image; none by default.
    media_root : str, optional
        Folder put before the media names.

    Raises
    ------
    InputError
        For a missing file, and for a record without options or with an answer that is
        none of them.
    """

    def __init__(
        self,
        *,
        path: PathParam | Sequence[PathParam],
        options: Sequence[str] | None = None,
        columns: Mapping[str, Any] | None = None,
        answer: int | None = None,
        blind: bool = False,
        blank: str | None = None,
        media_root: str | None = None,
    ) -> None:
        if isinstance(path, str) or not isinstance(path, Sequence):
            paths = [path]
        else:
            paths = list(path)
        self.paths = [existing(item, "file of choices") for item in paths]

        names = [_stem(item) for item in self.paths]
        if not names or len(set(names)) < len(names):
            raise InputError(
                f"the files of choices are {', '.join(names) or 'none'}; "
                "expected one or several of different names",
                parameter="path",
            )

        self.options = None if options is None else list(options)
        self.columns: Values = {name: name for name in COLUMNS}
        for name, column in (columns or {}).items():
            if name not in COLUMNS:
                raise InputError.of_name(
                    "columns has no", name, COLUMNS, "expected", parameter="columns"
                )
            self.columns[name] = column
        self.answer = answer
        self.blind = bool(blind)
        self.media_root = media_root

        if blank is not None and not blind:
            raise InputError(
                "blank is the media of the repetitions of blind: true; blind is false",
                parameter="blank",
                value=blank,
            )

        self.blank = with_root(blank, media_root)

    def fingerprint(self) -> str:
        """Return the reader's name and a hash of the file's bytes and of the
        parameters.
        """
        params = {
            "options": self.options,
            "columns": self.columns,
            "answer": self.answer,
            "blind": self.blind,
            "media": self.media_root,
            "blank": self.blank,
        }
        if len(self.paths) > 1:
            params["files"] = [_stem(path) for path in self.paths]
        return fingerprint("multiple-choice", self.paths, params)

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples, each followed by its companion where ``blind`` is set."""
        seen: set[str] = set()
        for number, record, file in self._number_records():
            for example in self._examples(number, record.fields, record.where):
                if file:
                    example = replace(
                        example,
                        id=f"{file}/{example.id}",
                        meta={**example.meta, "file": file},
                    )
                if example.id in seen:
                    raise InputError(
                        f"the id '{example.id}' occurs twice", record.where
                    )
                seen.add(example.id)
                yield example
                if self.blind:
                    yield Example(
                        f"{example.id}/blind",
                        example.references,
                        self.blank,
                        example.source,
                        example.meta,
                    )

    def _number_records(self) -> Iterator[tuple[int, Record, str]]:
        """Yield each record with its number in its file and,
        where there are several, the name of the file.
        """
        for path in self.paths:
            for number, record in enumerate(self._records(path)):
                yield number, record, _stem(path) if len(self.paths) > 1 else ""

    def _records(self, path: Path) -> Iterator[Record]:
        """Yield the records of a file; an object of objects (SugarCrepe's files) is a
        list whose ids are its keys.
        """
        if not _is_one_object(path):
            yield from records(path)
            return

        value = load_json(path)
        if not isinstance(value, dict) or not all(
            isinstance(item, dict) for item in value.values()
        ):
            raise InputError(
                "found one object; expected a list of records, "
                "or an object of records by their ids",
                str(path),
            )

        name = self.columns["id"]
        for key, item in value.items():
            yield Record(f"{path}: {key}", {name: key, **item})

    def _examples(
        self, number: int, fields: Mapping[str, Any], location: str
    ) -> Iterator[Example]:
        """Yield the example of a record, or one example per image of a record with
        several images and as many captions.
        """
        names = self.columns["media"]
        if isinstance(names, str):
            yield self._example(number, fields, location)
            return

        options = self._options(fields, location)
        if len(names) != len(options):
            raise InputError(
                f"the record has {len(names)} images and {len(options)} options; "
                "expected one option per image",
                location,
            )

        identity = fields.get(self.columns["id"])
        name = str(number if identity is None else identity)
        used = {
            self.columns["id"],
            self.columns["source"],
            *names,
            *_as_list(self.columns["options"]),
        }
        meta = {key: value for key, value in fields.items() if key not in used}

        for k, column in enumerate(names):
            media = checks.check_text(fields.get(column), location, what="media name")
            media = with_root(media, self.media_root)
            wrong_options = (text for i, text in enumerate(options) if i != k)
            references = (options[k], *wrong_options)
            yield Example(f"{name}/{k}", references, media, None, meta)

    def _example(
        self, number: int, fields: Mapping[str, Any], location: str
    ) -> Example:
        """Return the example of a record."""
        options = self._options(fields, location)
        first = self._correct(options, fields, location)
        names = self.columns

        identity = fields.get(names["id"])
        used = {
            names["id"],
            names["answer"],
            names["media"],
            names["source"],
            *_as_list(names["options"]),
        }

        media = fields.get(names["media"])
        if media is not None:
            media = checks.check_text(media, location, what="media name")
            media = with_root(media, self.media_root)
        source = fields.get(names["source"])
        if source is not None:
            source = checks.check_text(source, location, what="source")
        return Example(
            str(number if identity is None else identity),
            (options[first], *(text for k, text in enumerate(options) if k != first)),
            media,
            source,
            {key: value for key, value in fields.items() if key not in used},
        )

    def _options(self, fields: Mapping[str, Any], location: str) -> list[str]:
        """Return the options of a record in their order in the file."""
        if self.options is not None:
            values: Any = self.options
        elif isinstance(self.columns["options"], str):
            values = fields.get(self.columns["options"])
        else:
            values = [fields.get(name) for name in self.columns["options"]]

        if not isinstance(values, (list, tuple)) or len(values) < 2:
            raise InputError(
                f"the options (column {self.columns['options']!r}) "
                f"are {values!r:.60}; expected a list of at least 2 texts",
                location,
            )

        texts = [checks.caption(value, location, what="option") for value in values]
        if len(set(texts)) != len(texts):
            raise InputError("two options of the record are equal", location)
        return texts

    def _correct(
        self, options: Sequence[str], fields: Mapping[str, Any], location: str
    ) -> int:
        """Return the index of the correct option."""
        value = self.answer
        if value is None:
            value = fields.get(self.columns["answer"])
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and 0 <= value < len(options)
        ):
            return value

        if isinstance(value, str) and value in options:
            return options.index(value)
        raise InputError(
            f"the answer (column '{self.columns['answer']}') is {value!r:.60}; "
            f"expected one of the options or an index from 0 to {len(options) - 1}",
            location,
        )


def _stem(path: Path) -> str:
    """Return the name of a file without its endings (``swap_att`` of
    ``swap_att.json.gz``).
    """
    return path.name.partition(".")[0]


def _is_one_object(path: Path) -> bool:
    """Return True for a JSON file that is one object of records, False for a list,
    JSON Lines and Parquet.
    """
    if is_parquet(path) or first_byte(path) != b"{":
        return False

    with open_binary(path) as file:
        line = file.readline()
    try:
        value = json.loads(line)
    except ValueError:
        return True  # the object goes on in the next lines
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(item, dict) for item in value.values())
    )


def _as_list(names: Any) -> Sequence[str]:
    """Return one name or several as a list."""
    return [names] if isinstance(names, str) else list(names)
