"""Forms of the logs of other harnesses: samples of lm-eval and lmms-eval, logs of
inspect.
"""

from __future__ import annotations

from harness.contracts import Parameters
from harness.errors import InputError
from harness.files.columns import FILE_ID_COLUMNS
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.record_forms import items, mapping
from harness.files.forms.sample import Sample
from harness.files.inspect_logs import (
    has_samples,
    inspect_archive,
    inspect_rows,
    is_inspect_log,
)
from harness.files.lm_eval_samples import LM_EVAL_RESPONSES, lm_eval_rows


def is_lm_eval(fields: Parameters) -> bool:
    """Return True for the fields of a line of samples of lm-eval."""
    return "doc_id" in fields and bool(fields.keys() & LM_EVAL_RESPONSES)


def _ids(prefix: str, document: object) -> tuple[str, ...]:
    """Return the id of a sample and the columns of ids of its document."""
    fields = mapping(document)
    names = [n for n in FILE_ID_COLUMNS if isinstance(fields.get(n), (str, int))]
    return ("id", *(f"{prefix}.{name}" for name in names))


def _read_lm_eval(sample: Sample) -> Form:
    document = sample.records[0].get("doc") if sample.records else None
    return Form(
        "lm-eval",
        lm_eval_rows(sample.rows(constants=True)),
        key=sample.key,
        ids=_ids("doc", document),
    )


def _is_inspect(sample: Sample) -> bool:
    if is_inspect_log(sample.document):
        return True
    if sample.container != "archive" or sample.spreadsheet:
        return False
    return has_samples(sample.path)


def _read_inspect(sample: Sample) -> Form:
    if sample.container == "archive":
        return Form("inspect", inspect_archive(sample.path), ids=("id",))
    log = mapping(sample.document)
    if not is_inspect_log(log):
        raise InputError(
            "is no log of inspect: it lacks 'eval' and 'samples'", str(sample.path)
        )
    first = next(iter(items(log["samples"])), None)
    return Form(
        "inspect",
        inspect_rows(log, str(sample.path)),
        ids=_ids("metadata", mapping(first).get("metadata")),
    )


LM_EVAL = FormKind(
    "lm-eval",
    "samples of lm-eval and lmms-eval (`samples_TASK_DATE.jsonl`)",
    lambda sample: bool(sample.records) and is_lm_eval(sample.records[0]),
    _read_lm_eval,
    [
        FormExample.of_lines(
            [
                {
                    "doc_id": 42,
                    "target": "a dog",
                    "resps": [["a dog"]],
                    "filtered_resps": ["a dog"],
                },
                {
                    "doc_id": 73,
                    "target": "a cat",
                    "resps": [["a cat"]],
                    "filtered_resps": ["a cat"],
                },
            ],
            "`doc_id`; also the columns of the document, `doc.NAME`",
        )
    ],
    options="each filter is a system (`--system`)",
    reading="candidates: `filtered_resps`; references: `target`",
)
INSPECT = FormKind(
    "inspect",
    "logs of inspect (JSON; also `.eval`)",
    _is_inspect,
    _read_inspect,
    [
        FormExample.of_json(
            {
                "version": 2,
                "status": "success",
                "eval": {},
                "samples": [
                    {
                        "id": 42,
                        "epoch": 1,
                        "input": "describe",
                        "target": ["a dog"],
                        "output": {"choices": [{"message": {"content": "a dog"}}]},
                    },
                    {
                        "id": 73,
                        "epoch": 1,
                        "input": "describe",
                        "target": "a cat",
                        "output": {"completion": "a cat"},
                    },
                ],
            },
            "`id`; also the metadata of a sample, `metadata.NAME`",
        )
    ],
    reading="candidates: the choices of all epochs; references: `target`",
)
