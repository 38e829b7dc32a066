"""The table of forms, and the reading of a file by it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.contracts import Parameters, Role
from harness.errors import InputError
from harness.files.captions import quote_list
from harness.files.forms import generic_documents, generic_tables
from harness.files.forms.anthropic_batches import ANTHROPIC
from harness.files.forms.argilla import ARGILLA
from harness.files.forms.by_language import BY_LANGUAGE
from harness.files.forms.conversations import CHAT, CONVERSATION
from harness.files.forms.data_frames import PANDAS
from harness.files.forms.dense_captions import ACTIVITYNET
from harness.files.forms.evaluations import LLAMA_FACTORY, MS_SWIFT, VLMEVALKIT
from harness.files.forms.folders import FOLDER
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormKind
from harness.files.forms.gemini_batches import GEMINI
from harness.files.forms.given_objects import GIVEN_OBJECTS
from harness.files.forms.grounding_lines import GROUNDING
from harness.files.forms.image_regions import DENSECAP, VISUAL_GENOME
from harness.files.forms.label_studio import LABEL_STUDIO
from harness.files.forms.logs import INSPECT, LM_EVAL, is_lm_eval
from harness.files.forms.mechanical_turk import MECHANICAL_TURK
from harness.files.forms.openai_batches import OPENAI
from harness.files.forms.pipelines import PIPELINE
from harness.files.forms.promptfoo import PROMPTFOO
from harness.files.forms.sample import Sample
from harness.files.forms.scene_objects import SCENE_OBJECTS
from harness.files.forms.soccernet import SOCCERNET
from harness.files.forms.subtitles import SRT, WEBVTT
from harness.files.forms.timeline_tags import VITT
from harness.files.inspect_logs import is_inspect_log
from harness.files.records import kind
from harness.files.streams import readable

FORM_TABLE: Sequence[FormKind] = (
    LM_EVAL,
    INSPECT,
    VLMEVALKIT,
    MS_SWIFT,
    LLAMA_FACTORY,
    PROMPTFOO,
    OPENAI,
    ANTHROPIC,
    GEMINI,
    CHAT,
    CONVERSATION,
    PIPELINE,
    LABEL_STUDIO,
    ARGILLA,
    MECHANICAL_TURK,
    PANDAS,
    BY_LANGUAGE,
    ACTIVITYNET,
    VITT,
    GROUNDING,
    SOCCERNET,
    SRT,
    WEBVTT,
    VISUAL_GENOME,
    DENSECAP,
    SCENE_OBJECTS,
    GIVEN_OBJECTS,
    generic_tables.VIDEO_LINES,
    FOLDER,
    generic_documents.MAPPING,
    generic_documents.LIST,
    generic_documents.JSON,
    generic_documents.JSON_LINES,
    generic_tables.CSV,
    generic_tables.TSV,
    generic_tables.PARQUET,
    generic_tables.XLSX,
    generic_tables.ODS,
    generic_tables.FLICKR,
    generic_tables.PAIRS,
    generic_tables.TEXT,
)
"""All forms; the generic ones come last."""
FORMS: Mapping[str, FormKind] = {form.name: form for form in FORM_TABLE}
"""Forms by the name by which a user can choose one."""


def read_form(
    path: Path | Sample,
    role: Role,
    names: Sequence[str] = (),
    form: str | None = None,
    *,
    further: Iterable[FormKind] = (),
) -> Form:
    """Return the records of a file.

    Parameters
    ----------
    path : Path or Sample
        An existing file, a folder of text files or a part of a file
        (:func:`~harness.files.forms.folders.existing_captions`); all but Parquet and
        spreadsheets may be compressed with gzip or Zstandard. Or a sample of one, in
        its own role and with its own names.
    role : {"candidates", "references"}
        Captions to read, where a file holds both.
    names : sequence of str
        Names of columns in parameters of the user; a line or object with one of them is
        a header or a record.
    form : str, optional
        Name of the form; default: the part of the path where it is the name of a form,
        else the content decides.
    further : iterable of FormKind
        Forms of plug-ins, beside those of :data:`FORM_TABLE`.

    Raises
    ------
    InputError
        For an empty file, text that is not UTF-8, invalid JSON, an unknown form, and a
        file that fits several specific forms.
    """
    sample = path if isinstance(path, Sample) else Sample(path, role, names)
    further = tuple(further)
    table = {**{item.name: item for item in further}, **FORMS}
    if form is None and sample.part in table:
        form = sample.part
    if form is None:
        return _read_by_content(sample, [*further, *FORM_TABLE])
    if form not in table:
        raise InputError.of_name("unknown format", form, table, "formats are")
    return table[form].read(sample)


def _read_by_content(sample: Sample, table: Sequence[FormKind]) -> Form:
    """Return the records of a file whose form its content decides."""
    # Specific forms are sought in the whole document, then in the records that it holds
    # below a key, and generic ones last.
    specific = [item for item in table if not item.generic]
    for part in (sample, sample.below()):
        if part is None:
            continue
        fitting = [item for item in specific if item.recognise(part)]
        if len(fitting) > 1:
            names = quote_list(item.name for item in fitting)
            raise InputError(
                f"fits {len(fitting)} forms: {names}; "
                "name the one that it has after the path: "
                f"'{sample.path}#{fitting[0].name}'",
                str(sample.path),
            )
        if fitting:
            return fitting[0].read(part)

    for item in table:
        if item.generic and item.recognise(sample):
            if item.check is not None:
                item.check(sample)
            return item.read(sample)
    raise _unknown_form(sample)


def _unknown_form(sample: Sample) -> InputError:
    """Return the error for a file of no form: an archive of other files, or an old file
    of Excel.
    """
    path = sample.path
    if sample.container == "old-excel":
        return InputError(
            "is a file of Excel 97 (.xls), or has a password; "
            "save it as .xlsx without one, or as CSV (UTF-8)",
            str(path),
        )

    with readable(path, "zip archive"), zipfile.ZipFile(path) as archive:
        names = [item.filename for item in archive.infolist() if not item.is_dir()]
    noun = "file" if len(names) == 1 else "files"
    return InputError(
        f"is a zip archive of {len(names)} {noun} ({quote_list(names, 5)}); expected a "
        f"file of captions: unpack it (unzip {path.name}) and name one of them",
        str(path),
    )


def single_object(path: Path | Sample) -> Parameters | None:
    """Return the object of a file that holds exactly one JSON object, or None for JSON
    Lines with several records.

    NaN, which inspect writes for a sample without a score, is read in its logs alone.
    """
    sample = path if isinstance(path, Sample) else Sample(path, "references")
    value = sample.document
    if sample.container == "jsonl":
        return None
    if sample.constants is not None:
        # One document of lm-eval is JSON Lines of one line.
        if isinstance(value, dict) and is_lm_eval(value):
            return None
        if not is_inspect_log(value):
            raise sample.constants
    if not isinstance(value, dict):
        raise InputError(f"found {kind(value)}; expected an object", str(sample.path))
    return value
