"""Forms of files of captions: the content decides how the records of a file are read.

:func:`read_form` brings every form to records with columns, which the readers of data
sets and the adapter for predictions share. The table of forms is :data:`FORM_TABLE`;
``docs/data-formats.md`` shows it.
"""

from harness.contracts import Role
from harness.files.forms.folders import existing_captions
from harness.files.forms.form import FORMS_OF_KEYS, FORMS_WITHOUT_COLUMNS, Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.json_shape import WRAPPERS, is_mapping, mapping_rows
from harness.files.forms.sample import JSON_SUFFIXES, Sample
from harness.files.forms.table import FORM_TABLE, FORMS, read_form, single_object
from harness.files.forms.text import (
    flickr_rows,
    line_rows,
    read_lines,
    table_rows,
    text_form,
    two_column_rows,
)

__all__ = [
    "FORMS",
    "FORMS_OF_KEYS",
    "FORMS_WITHOUT_COLUMNS",
    "FORM_TABLE",
    "JSON_SUFFIXES",
    "WRAPPERS",
    "Form",
    "FormExample",
    "FormKind",
    "Role",
    "Sample",
    "existing_captions",
    "flickr_rows",
    "is_mapping",
    "line_rows",
    "mapping_rows",
    "read_form",
    "read_lines",
    "single_object",
    "table_rows",
    "text_form",
    "two_column_rows",
]
