"""Forms of programs that evaluate or train models: records with the output of a model
beside what was expected.

Layouts: https://github.com/open-compass/VLMEvalKit,
https://github.com/modelscope/ms-swift and https://github.com/hiyouga/LLaMA-Factory.
"""

from __future__ import annotations

from harness.contracts import Parameters, Values
from harness.files.forms.form_kind import FormExample
from harness.files.forms.messages import is_conversation
from harness.files.forms.record_forms import (
    Conversion,
    has,
    items,
    mapping,
    record_kind,
)
from harness.files.records import Record

OWN_IDS = ("image_id", "video_id", "audio_id", "question_id")
"""Columns of ids that say more than the number of a row."""


def _convert_vlmevalkit(row: Record, conversion: Conversion) -> Values:
    values = dict(row.fields)
    if not any(name in values for name in OWN_IDS):
        values["id"] = values.get("index")
    values["candidates"] = values.get("prediction")
    if "answer" in values:
        values["references"] = values["answer"]
    else:
        values |= conversion.captions(values.get("prediction"))
    return values


VLMEVALKIT = record_kind(
    "vlmevalkit",
    "VLMEvalKit: predictions of a data set as tsv, xlsx or JSON",
    lambda fields: (
        has(fields, "index", "prediction")
        and ("answer" in fields or "question" in fields)
    ),
    _convert_vlmevalkit,
    [
        FormExample(
            "index\tquestion\tanswer\tprediction\n42\tDescribe\t['a dog', "
            "'a brown dog']\ta dog\n73\tDescribe\t['a cat', 'the cat']\ta cat",
            "`index`, also the columns of usual names",
        )
    ],
    reading="candidates: `prediction`; references: `answer`",
)


def _is_swift(fields: Parameters) -> bool:
    if not isinstance(fields.get("response"), str):
        return False
    has_turns = is_conversation(fields.get("messages"))
    has_query = has(fields, "query", "history")
    return has_turns or has_query or has(fields, "labels", "logprobs")


def _convert_swift(row: Record, conversion: Conversion) -> Values:
    # The first image is the id where no column has one.
    values = dict(row.fields)
    image = next(iter(items(values.get("images"))), None)
    path = mapping(image).get("path", image)
    if isinstance(path, str):
        values.setdefault("image", path)

    # Without labels, a file of answers may be one of references.
    answer = values.get("response")
    if conversion.role == "references":
        answer = values.get("labels") or values.get("label") or answer
    return {**values, **conversion.captions(answer)}


MS_SWIFT = record_kind(
    "ms-swift",
    "ms-swift, results of `swift infer`: `response` beside `labels`",
    _is_swift,
    _convert_swift,
    [
        FormExample.of_lines(
            [
                {
                    "response": "a dog",
                    "labels": "a dog",
                    "logprobs": None,
                    "messages": [
                        {"role": "user", "content": "describe"},
                        {"role": "assistant", "content": "a dog"},
                    ],
                    "images": [{"bytes": None, "path": "42.jpg"}],
                },
                {
                    "response": "a cat",
                    "labels": "a cat",
                    "logprobs": None,
                    "messages": [
                        {"role": "user", "content": "describe"},
                        {"role": "assistant", "content": "a cat"},
                    ],
                    "images": [{"bytes": None, "path": "73.jpg"}],
                },
            ],
            "a column, the path of the image, else by position",
        )
    ],
    reading="candidates: `response`; references: `labels` or `label`",
)


def _convert_llama_factory(row: Record, conversion: Conversion) -> Values:
    column = "predict" if conversion.role == "candidates" else "label"
    return {**row.fields, **conversion.captions(row.fields.get(column))}


LLAMA_FACTORY = record_kind(
    "llama-factory",
    "LLaMA-Factory, `generated_predictions.jsonl`: `predict` beside `label`",
    lambda fields: (
        has(fields, "prompt")
        and isinstance(fields.get("predict"), str)
        and isinstance(fields.get("label"), str)
    ),
    _convert_llama_factory,
    [
        FormExample.of_lines(
            [
                {"prompt": "<image> describe", "predict": "a dog", "label": "a dog"},
                {"prompt": "<image> describe", "predict": "a cat", "label": "a cat"},
            ],
            "a column, else by position",
        )
    ],
    reading="candidates: `predict`; references: `label`",
)
