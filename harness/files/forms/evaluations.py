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
    fields = row.fields
    prediction = fields.get("prediction")
    answer = (
        {"references": fields["answer"]}
        if "answer" in fields
        else conversion.captions(prediction)
    )
    key = {} if any(name in fields for name in OWN_IDS) else {"id": fields.get("index")}
    return {**fields, **key, "candidates": prediction, **answer}


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
    asked = is_conversation(fields.get("messages")) or has(fields, "query", "history")
    return isinstance(fields.get("response"), str) and (
        asked or has(fields, "response", "labels", "logprobs")
    )


def _convert_swift(row: Record, conversion: Conversion) -> Values:
    fields = row.fields
    labels = next(
        (fields[name] for name in ("labels", "label") if fields.get(name)), None
    )
    image = next(iter(items(fields.get("images"))), None)
    path = mapping(image).get("path", image)
    media = {"image": path} if isinstance(path, str) and "image" not in fields else {}
    answer = (
        fields.get("response")
        if conversion.role == "candidates" or labels is None
        else labels
    )
    return {**fields, **media, **conversion.captions(answer)}


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
    return {
        **row.fields,
        **conversion.captions(
            row.fields.get("predict" if conversion.role == "candidates" else "label")
        ),
    }


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
