"""Usual names of the columns of tables of examples and captions, by role.

Names are compared without regard to case, blanks, ``-`` and ``_``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from harness.contracts import Parameters, Role
from harness.files.yaml_source import YamlValue

ID_COLUMNS = (
    "image_id",
    "video_id",
    "audio_id",
    "question_id",
    "cocoid",
    "img_id",
    "imgid",
    "youtube_id",
    "clip_id",
    "id",
    "custom_id",
    "file_name",
    "filename",
    "index",
    "sample_id",
    "doc_id",
    "image_name",
)
"""Usual names of the id column, in order of preference: what a caption describes comes
before the number of its record.
"""
FILE_ID_COLUMNS = (
    *ID_COLUMNS,
    "image",
    "video",
    "audio",
    "key",
    "name",
    "example",
    "image_path",
    "video_path",
    "audio_path",
    "image_file",
    "video_file",
    "audio_file",
    "file",
    "path",
    "image_filename",
    "video_name",
    "video_filename",
    "audio_name",
    "audio_filename",
    "img",
    "img_path",
    "img_name",
    "img_file",
    "image_url",
    "img_url",
    "video_url",
    "audio_url",
    "url",
    "item_id",
    "example_id",
    "uid",
    "uuid",
    "idx",
)
"""Usual names of the id column in files; a column of a data set may hold the image
itself under some of them.
"""
REFERENCE_COLUMNS = (
    "references",
    "reference",
    "refs",
    "ref",
    "reference_strs",
    "reference_captions",
    "reference_caption",
    "reference_texts",
    "reference_text",
    "reference_answers",
    "reference_answer",
    "ground_truths",
    "ground_truth",
    "ground_truth_captions",
    "ground_truth_caption",
    "gts",
    "gt",
    "gt_captions",
    "gt_caption",
    "gt_answers",
    "gt_answer",
    "gold",
    "gold_captions",
    "gold_caption",
    "gold_answers",
    "gold_answer",
    "expected_output",
    "expected",
    "targets",
    "target",
    "captions",
    "caption",
    "sentences",
    "sentence",
    "raw",
    "caption_str",
    "enCap",
    "answers",
    "answer",
    "labels",
    "label",
    "descriptions",
    "description",
    "summaries",
    "summary",
    "text",
    "comment",
    "response",
    "output",
)
"""Usual names of the column of references, in order of preference; likewise for the
columns below.
"""
CANDIDATE_COLUMNS = (
    "candidates",
    "candidate",
    "predictions",
    "prediction",
    "predict",
    "predicted",
    "predicted_caption",
    "caption_predicted",
    "pred_captions",
    "pred_caption",
    "predicted_captions",
    "predicted_answer",
    "preds",
    "pred",
    "generated_captions",
    "generated_caption",
    "generated_answer",
    "generated_summary",
    "gen_captions",
    "gen_caption",
    "generated_text",
    "hypotheses",
    "hypothesis",
    "hyp",
    "generations",
    "generation",
    "generated",
    "model_output",
    "model_response",
    "outputs",
    "output",
    "responses",
    "response",
    "completions",
    "completion",
    "captions",
    "caption",
    "caption_str",
    "systems",
    "enCap",
    "sentences",
    "sentence",
    "raw",
    "summaries",
    "summary",
    "text",
    "descriptions",
    "description",
    "comment",
    "answers",
    "answer",
    "labels",
    "label",
)
CAPTION_COLUMNS: Mapping[Role, tuple[str, ...]] = {
    "candidates": CANDIDATE_COLUMNS,
    "references": REFERENCE_COLUMNS,
}
PIPELINE_COLUMNS = ("generated_text", "summary_text", "translation_text")
"""Columns of the answers of pipelines of transformers."""
MEDIA_COLUMNS = (
    "media",
    "media_path",
    "file_name",
    "filename",
    "filepath",
    "image_path",
    "video_path",
    "audio_path",
    "image",
)
SOURCE_COLUMNS = ("source", "context")
PROMPT_COLUMNS = ("prompt", "question", *SOURCE_COLUMNS)
"""Usual names of the column of prompts."""


@lru_cache(maxsize=4096)
def normalise(name: str) -> str:
    """Return a column name without case, blanks, ``-`` and ``_``.

    >>> normalise("Image ID"), normalise("caption_predicted")
    ('imageid', 'captionpredicted')
    """
    return re.sub(r"[\s_-]", "", name).casefold()


def find_name(names: Iterable[str], present: Collection[str]) -> str | None:
    """Return the first column that has one of some names, exactly or by
    :func:`normalise`; None where there is none.

    >>> find_name(["id", "caption"], ["ID", "Caption"])
    'ID'
    """
    spelled: dict[str, str] = {}
    for column in present:
        spelled.setdefault(normalise(column), column)
    for name in names:
        if name in present:
            return name
        if (column := spelled.get(normalise(name))) is not None:
            return column
    return None


def id_columns(fields: Parameters, names: Sequence[str] = FILE_ID_COLUMNS) -> list[str]:
    """Return the columns of a record that have usual names of ids and hold an id, in
    order of preference.

    The fields of a document, named ``doc.NAME`` by a log, follow those of the log.
    """
    spelled: dict[str, list[str]] = {}
    for column in fields:
        spelled.setdefault(normalise(column.rpartition(".")[2]), []).append(column)

    # Of columns that differ in their spelling alone, the usual one comes first.
    ordered: dict[str, None] = {}
    for nested in (False, True):
        for name in FILE_ID_COLUMNS if nested else names:
            alike = spelled.get(normalise(name), ())
            columns = [column for column in alike if ("." in column) == nested]
            columns.sort(key=lambda column: column != name)
            ordered.update(dict.fromkeys(columns))

    # A null in the first record says nothing of the others.
    usable = [column for column in ordered if is_id(fields[column])]
    return usable or [column for column in ordered if fields[column] is None]


def scalar_columns(fields: Parameters, captions: Collection[str]) -> list[str]:
    """Return the columns of a record that hold a possible id, and are named neither as
    captions nor as prompts.
    """
    others = {
        normalise(name)
        for names in (*CAPTION_COLUMNS.values(), PROMPT_COLUMNS)
        for name in names
    }
    return [
        name
        for name, value in fields.items()
        if name not in captions
        and normalise(name) not in others
        and is_id(value)
        and not isinstance(value, float)
    ]


def is_id(value: YamlValue) -> bool:
    """Return True for a value that can be an id: a text that is not empty, or a whole
    number.
    """
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)
