"""Form of the results of promptfoo.

Layout: https://www.promptfoo.dev/docs/configuration/outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.columns import FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.record_forms import items, mapping, prefix_scalars
from harness.files.forms.sample import Sample
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue

FAILED = "failed requests"


def _promptfoo_results(sample: Sample) -> list[Any]:
    """Return the results of a document of promptfoo; none for another file."""
    # Some versions write the results one level deeper.
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
    """Return the name of a provider and prompt; the first prompt has no number."""
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
        for test in _group_by_test(results, left_out).values():
            if sample.role == "candidates":
                captions = test.candidates()
            else:
                captions = test.references()
            if captions is not None or sample.role == "candidates":
                yield Record(test.where, {**test.fields, sample.role: captions})

    variables = mapping(results[0].fields.get("vars")) if results else {}
    ids = [f"vars.{name}" for name in FILE_ID_COLUMNS if name in variables]
    return Form("promptfoo", rows(), ids=("id", *ids), left_out=left_out)


class _Test(NamedTuple):
    """A test of promptfoo, which several systems answer."""

    where: str
    fields: Values
    systems: dict[str, list[str]]
    """System -> its answers; empty for one whose requests failed."""

    def candidates(self) -> YamlValue:
        """Return the answers of the only system, or the answers by system."""
        answers = {name: texts or None for name, texts in self.systems.items()}
        return answers if len(answers) > 1 else next(iter(answers.values()))

    def references(self) -> YamlValue:
        """Return the references of the test, else the first answers there are."""
        answers = next((texts for texts in self.systems.values() if texts), None)
        return self.fields.get("references", answers)


def _group_by_test(
    results: Iterable[Record], left_out: Counter[str]
) -> dict[str, _Test]:
    """Return id -> test, in the order of the first result of each."""
    tests: dict[str, _Test] = {}
    for row in results:
        variables = mapping(row.fields.get("vars"))
        key = str(_test_id(row.fields, variables))
        fields = {**variables, **prefix_scalars("vars", variables), "id": key}
        columns = [name for name in REFERENCE_COLUMNS if name in variables]
        if columns and variables[columns[0]] is not None:
            fields["references"] = variables[columns[0]]

        test = tests.setdefault(key, _Test(row.where, fields, {}))
        texts = test.systems.setdefault(_system_of(row.fields), [])
        text = _promptfoo_text(row)
        if text is None:
            left_out[FAILED] += 1
        else:
            texts.append(text)
    return tests


def _test_id(fields: Parameters, variables: Mapping[str, YamlValue]) -> YamlValue:
    """Return the id of a test: a variable with a usual name of ids, else the number of
    the test.
    """
    for name in FILE_ID_COLUMNS:
        if isinstance(variables.get(name), (str, int)):
            return variables[name]
    return fields.get("testIdx", 0)


def _promptfoo_text(row: Record) -> str | None:
    """Return the output of a result; None where the request failed (assertions that
    failed leave the output as it is).
    """
    output = row.fields.get("response")
    if isinstance(output, Mapping):
        output = output.get("output")
    if output is None:
        return None
    if not isinstance(output, str):
        raise InputError(f"the output is {kind(output)}; expected text", row.where)
    return output


def _recognise(sample: Sample) -> bool:
    if _promptfoo_results(sample):
        return True
    return bool(sample.records) and all(map(_is_promptfoo, sample.records))


PROMPTFOO = FormKind(
    "promptfoo",
    "promptfoo, results as JSON or JSON Lines",
    _recognise,
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
