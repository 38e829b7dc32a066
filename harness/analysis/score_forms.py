"""Form of the log of another harness, by its content: lm-eval, lmms-eval, inspect or
every-eval-ever.

Python's JSON writes NaN for a sample without a score, so that the constant is read.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import cast

from harness.analysis.every_eval_ever_log import read_every_eval_ever
from harness.analysis.inspect_log import read_inspect
from harness.analysis.lm_eval_log import read_lm_eval
from harness.analysis.logged_samples import ScoreForm, mapping_of
from harness.errors import InputError
from harness.files.inspect_logs import archive_members
from harness.files.records import records
from harness.files.strict_json import load_json
from harness.files.user_files import existing, first_byte
from harness.files.yaml_source import YamlValue


def read_score_form(path: Path) -> ScoreForm:
    """Return the samples of a log; raise :class:`InputError` for a file that is no log
    of one of the forms.
    """
    if zipfile.is_zipfile(existing(path)):
        headers = [header for _, header in archive_members(path, "header.json")]
        header = mapping_of(headers[0] if headers else None)
        return read_inspect(header.get("eval"), archive_members(path, "samples/"))

    if path.suffix != ".jsonl" and first_byte(path) == b"{":
        log = mapping_of(load_json(path, constants=True))
        if isinstance(log.get("samples"), list):
            items = cast("list[YamlValue]", log["samples"])
            samples = (
                (f"{path}: samples: record {k}", item)
                for k, item in enumerate(items, 1)
            )
            return read_inspect(log.get("eval"), samples)

    rows = list(records(path, constants=True))
    if rows and "doc_id" in rows[0].fields:
        return read_lm_eval(path, rows)
    if rows and "evaluation" in rows[0].fields:
        return read_every_eval_ever(path, rows)
    raise InputError(
        "no log of lm-eval, lmms-eval, inspect or every-eval-ever: "
        "a line has no 'doc_id' or 'evaluation' (captions are scored first: "
        "harness score FILE --references R.json --output runs/NAME)",
        str(path),
    )
