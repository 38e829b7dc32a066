"""Form of the results of promptfoo.

Layout: https://www.promptfoo.dev/docs/configuration/outputs.
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
from harness.files.forms.record_forms import items, mapping, prefixed
from harness.files.forms.sample import Sample
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue

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
