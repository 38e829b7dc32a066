"""Forms of programs that evaluate or train models:
their outputs beside what was expected.

Layouts: https://www.promptfoo.dev/docs/configuration/outputs,
https://github.com/open-compass/VLMEvalKit, https://github.com/modelscope/ms-swift and
https://github.com/hiyouga/LLaMA-Factory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.columns import FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.messages import is_conversation
from harness.files.forms.record_forms import (
    Conversion,
    has,
    items,
    mapping,
    prefixed,
    record_kind,
)
from harness.files.forms.sample import Sample
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue

# --------------------------------------------------------------------------- promptfoo
FAILED = "failed requests"


def _promptfoo_results(sample: Sample) -> list[Any]:
    """Return the results of a document of promptfoo; none for another file."""
    outer = mapping(sample.document).get("results")
    results = items(outer) or items(mapping(outer).get("results"))
    return results if results and _is_promptfoo(mapping(results[0])) else []


def _is_promptfoo(fields: Parameters) -> bool:
    return (
        isinstance(fields.get("vars"), Mapping)
        and ("testIdx" in fields or "promptIdx" in fields)
        and "provider" in fields
    )


def _system_of(result: Mapping[str, Any]) -> str:
    provider = result.get("provider")
    name = mapping(provider).get("label") or mapping(provider).get("id") or provider
    return f"{name}" if not result.get("promptIdx") else f"{name}/{result['promptIdx']}"


def _read_promptfoo(sample: Sample) -> Form:
    results = [
        Record(f"{sample.location}: results: record {k}", mapping(item))
        for k, item in enumerate(_promptfoo_results(sample), 1)
    ]
    if not results:
        results = list(sample.rows(constants=True))
    left_out: Counter[str] = Counter()

    def rows() -> Iterator[Record]:
        tests: dict[str, tuple[str, Values, dict[str, list[str]]]] = {}
        for row in results:
            variables = mapping(row.fields.get("vars"))
            key = str(_test_id(row.fields, variables))
            values = {**variables, **prefixed("vars", variables), "id": key}
            references = next(
                (variables[name] for name in REFERENCE_COLUMNS if name in variables),
                None,
            )
            values |= {} if references is None else {"references": references}
            _, _, systems = tests.setdefault(key, (row.where, values, {}))
            texts = systems.setdefault(_system_of(row.fields), [])
            text = _promptfoo_text(row)
            if text is None:
                left_out[FAILED] += 1
            else:
                texts.append(text)
        for where, values, systems in tests.values():
            answers = {name: texts or None for name, texts in systems.items()}
            candidates = answers if len(answers) > 1 else next(iter(answers.values()))
            text = next((texts for texts in systems.values() if texts), None)
            captions = (
                candidates
                if sample.role == "candidates"
                else values.get("references", text)
            )
            if captions is not None or sample.role == "candidates":
                yield Record(where, {**values, sample.role: captions})

    ids = (
        "id",
        *(
            f"vars.{name}"
            for name in FILE_ID_COLUMNS
            if results and name in mapping(results[0].fields.get("vars"))
        ),
    )
    return Form("promptfoo", rows(), ids=ids, left_out=left_out)


def _test_id(fields: Parameters, variables: Mapping[str, YamlValue]) -> YamlValue:
    """Return the id of a test: a variable with a usual name of ids,
    else the number of the test.
    """
    usual = (
        name for name in FILE_ID_COLUMNS if isinstance(variables.get(name), (str, int))
    )
    return next((variables[name] for name in usual), fields.get("testIdx", 0))


def _promptfoo_text(row: Record) -> str | None:
    """Return the output of a result; None where the request failed (assertions that
    failed leave the output as it is).
    """
    response = row.fields.get("response")
    output = (
        mapping(response).get("output") if isinstance(response, Mapping) else response
    )
    if output is None:
        return None
    if not isinstance(output, str):
        raise InputError(f"the output is {kind(output)}; expected text", row.where)
    return output


PROMPTFOO = FormKind(
    "promptfoo",
    "promptfoo, results as JSON or JSON Lines",
    lambda sample: (
        bool(_promptfoo_results(sample))
        or (bool(sample.records) and all(map(_is_promptfoo, sample.records)))
    ),
    _read_promptfoo,
    [
        FormExample.of_json(
            {
                "evalId": "e",
                "results": {
                    "version": 3,
                    "results": [
                        {
                            "testIdx": 0,
                            "promptIdx": 0,
                            "vars": {"image_id": "42"},
                            "provider": {"id": "a"},
                            "response": {"output": "a dog"},
                        },
                        {
                            "testIdx": 1,
                            "promptIdx": 0,
                            "vars": {"image_id": "73"},
                            "provider": {"id": "a"},
                            "response": {"output": "a cat"},
                        },
                    ],
                    "stats": {},
                },
            },
            "a variable of a usual name, else the number of the test",
        )
    ],
    options="each provider and prompt is a system (`--system`)",
    reading="candidates: the output; references: a variable with a usual name; "
    "a request that failed has no caption and is counted",
)


# --------------------------------------------------------------------------- VLMEvalKit
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


# --------------------------------------------------------------------------- ms-swift
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


# --------------------------------------------------------------------------- LLaMA-Factory
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
