"""Forms of captions in several languages: Crossmodal-3600
(https://google.github.io/crossmodal-3600/), and objects of languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from harness.contracts import Parameters, Values
from harness.errors import InputError, did_you_mean
from harness.files.captions import quote_list
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.json_shape import mapping_rows
from harness.files.forms.record_forms import mapping
from harness.files.forms.sample import HEAD, Sample
from harness.files.records import Record
from harness.files.yaml_source import YamlValue

KEYS = ("image/key", "image_key", "image_id", "video_id", "key", "id")
"""Columns of ids of records of languages, in order of preference."""
_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4}|[-_][0-9]{3})?")
_INNER = ("caption", "captions", "references")


def _caption_of(value: YamlValue) -> YamlValue:
    """Return the captions of a language in a record: an object with them, a list of
    texts or a text.
    """
    if not isinstance(value, Mapping):
        return value
    for name in _INNER:
        if name in value:
            return value[name]
    return None


def _languages(fields: Parameters) -> list[str]:
    """Return the languages of a record with an object of captions for each."""
    return [
        name
        for name, value in fields.items()
        if _LANGUAGE.fullmatch(name) and any(key in mapping(value) for key in _INNER)
    ]


def _is_record(fields: Parameters) -> bool:
    return any(key in fields for key in KEYS) and bool(_languages(fields))


def _is_object(document: object) -> bool:
    """Return True for an object language -> id -> captions, of two languages or
    more.
    """
    outer = mapping(document)
    if len(outer) < 2 or not all(map(_LANGUAGE.fullmatch, outer)):
        return False
    return all(map(_is_language_object, outer.values()))


def _is_language_object(inner: object) -> bool:
    """Return True for an object id -> captions, by its first ones."""
    by_id = mapping(inner)
    if not by_id or set(by_id) & set(_INNER):
        return False
    for value in list(by_id.values())[:HEAD]:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
            return False
    return True


def _recognise(sample: Sample) -> bool:
    if sample.records and all(map(_is_record, sample.records)):
        return True
    return _is_object(sample.document)


def _choose(languages: list[str], sample: Sample) -> str:
    """Return the language that the user names, or the only one; raise
    :class:`InputError` where there are others to choose from.
    """
    listed = quote_list(languages, 40)
    if sample.part:
        if sample.part not in languages:
            raise InputError(
                f"no language '{sample.part}'{did_you_mean(sample.part, languages)}; "
                f"found {listed}",
                str(sample.path),
            )
        return sample.part
    if len(languages) != 1:
        example = f"{sample.path}#{languages[0]}"
        raise InputError(
            f"has captions in {len(languages)} languages: {listed}; "
            f"name one of them: {example}",
            str(sample.path),
        )
    return languages[0]


def _read(sample: Sample) -> Form:
    if _is_object(sample.document):
        document = mapping(sample.document)
        language = _choose(list(document), sample)
        captions = mapping_rows(document[language], f"{sample.location}: {language}")
        return Form("by-language", captions, ids=("id",))
    if not sample.records or not _is_record(sample.records[0]):
        raise InputError(
            "is no file of captions by language: expected records with an object of "
            "captions per language",
            sample.location,
        )

    languages = [name for fields in sample.records for name in _languages(fields)]
    language = _choose(list(dict.fromkeys(languages)), sample)

    def rows() -> Iterator[Record]:
        for row in sample.rows():
            own_languages = _languages(row.fields)
            others: Values = {
                name: value
                for name, value in row.fields.items()
                if name not in own_languages
            }
            key = next((row.fields[name] for name in KEYS if name in row.fields), None)
            captions = _caption_of(row.fields.get(language))

            # References may be in some of the languages alone.
            if captions is not None or sample.role == "candidates":
                yield Record(row.where, {**others, "id": key, sample.role: captions})

    return Form("by-language", rows(), ids=("id",))


BY_LANGUAGE = FormKind(
    "by-language",
    "Crossmodal-3600 (XM3600) and other files with captions in several languages",
    _recognise,
    _read,
    [
        FormExample.of_lines(
            [
                {"image/key": "42", "en": {"caption": ["a dog"]}},
                {"image/key": "73", "en": {"caption": ["a cat"]}},
            ],
            "`image/key`, `image_id`, `id`",
        )
    ],
    options="the language after `#`: `FILE#de`",
    reading="`caption` of the language, as it was written, not its tokens",
)
