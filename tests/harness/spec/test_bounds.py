"""Specs that ask for too much are refused in one line, at once."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import pytest

from harness import api
from harness.errors import HarnessError, InputError
from harness.files.yaml_source import load, loads
from harness.run.metric_plan import expand_params
from harness.spec.loading import load_specs
from harness.spec.models import expand_ranges

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 12)
)
MERGES = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{k}: &a{k} {{<<: [*a{k - 1}, *a{k - 1}]}}\n" for k in range(1, 20)
)
TOO_MUCH = [
    ("references=1..1000000000", "1,000,000,000 values; a range has at most 10,000"),
    ("decoding.top_k=[1..9000, 1..9000]", "a list of more than 10,000 values"),
    (
        "references=-999999999999999999..999999999999999999",
        "a range has at most 10,000",
    ),
    ("bootstrap.samples=1000000000", "less than or equal to 1000000; found 1000000000"),
    (
        "significance={method: monte-carlo, draws: 100000000}",
        "less than or equal to 1000000; found 100000000",
    ),
    (
        "significance={method: exact, budget: 1000000000000}",
        "less than or equal to 10000000",
    ),
    (
        "significance={method: exact, scorings: 1000000000000}",
        "less than or equal to 1000000000",
    ),
    ("decoding.candidates=1000000000", "less than or equal to 1000000"),
    ("limit=1" + "0" * 30, "limit: input should be less than"),
    ("limit=1" + "0" * 5000, "not valid YAML"),
    (
        "decoding={temperature: [1, 2], top_p: [0.1, 0.2], beams: 1..100, top_k: "
        "1..100}",
        "a grid of 2 x 2 x 100 x 100",
    ),
    (
        "metrics=[length: {{scale: [{}]}}]".format(", ".join(map(str, range(20_000)))),
        "20,000 combinations; expected at most 10,000",
    ),
    ("metrics=" + "[" * 5000, "--set: "),
    ("metrics=" + "[" * 5000 + "]" * 5000, "nested too deeply"),
    ("metrics=" + "{a: " * 5000 + "}" * 5000, "nested too deeply"),
    (
        "metrics=[trm: {distance: 3}]",
        "a distance is a name or a mapping of one name to its parameters; found 3",
    ),
    ("metrics=[trm: {distance: [[3]]}]", "found [3]"),
    ("metrics=[trm: {distance: null}]", "found None"),
    ("metrics=[mmd: {embedding: 1.5}]", "found 1.5"),
]


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    ("override", "message"), TOO_MUCH, ids=[item[0][:40] for item in TOO_MUCH]
)
def test_one_line_at_once(project, override, message):
    started = time.process_time()
    with pytest.raises(HarnessError) as caught:
        api.plans("spec.yaml", [override])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert time.process_time() - started < 20


@pytest.mark.parametrize("text", [BOMB, MERGES])
def test_aliases_are_written_out_to_a_bounded_size(text):
    with pytest.raises(
        InputError, match=r"aliases \(\*name\) make more than 100,000 values"
    ):
        loads(text, "spec.yaml")


def test_a_node_in_itself_is_refused():
    with pytest.raises(InputError, match="a value holds itself"):
        loads("a: &a [*a]", "spec.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "a: 2001-99-99",
        "a: 1" + "0" * 5000,
        "a: !!int x",
        "a: !!float x",
        "? [1, 2]\n: 3",
    ],
)
def test_values_that_python_cannot_represent_are_one_line(text):
    with pytest.raises(InputError) as caught:
        loads(text, "spec.yaml")
    assert "\n" not in str(caught.value)


def test_endless_and_large_files(tmp_path):
    from pathlib import Path

    (tmp_path / "large.yaml").write_bytes(b"x" * (1 << 23))
    for path in (tmp_path / "large.yaml", Path("/dev/zero")):
        with pytest.raises(InputError, match="at most 4,194,304 bytes"):
            load(path)


def test_bounds_leave_what_is_in_use():
    assert len(list(expand_ranges("1..10000"))) == 10_000
    assert len(expand_params({"a": list(range(100)), "b": list(range(100))})) == 10_000
    assert load_specs(
        {
            "task": "t",
            "dataset": {"reader": "r"},
            "models": ["m"],
            "metrics": ["m"],
            "bootstrap": {"samples": 10**6},
        }
    )


@pytest.mark.slow
def test_a_process_needs_little_memory_to_refuse(project):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    (project / "bomb.yaml").write_text((project / "spec.yaml").read_text() + BOMB)
    for arguments in (
        ["bomb.yaml"],
        ["spec.yaml", "--set", "references=1..1000000000"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "harness", "validate", *arguments],
            cwd=project,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limit,
            timeout=60,
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
