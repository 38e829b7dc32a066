"""``harness score`` on answers whose times have no unit."""

from __future__ import annotations

import json

import pytest

from harness.cli.main import main

REFERENCES = {
    "v1": {
        "duration": 60.0,
        "timestamps": [[0, 12], [30, 60]],
        "sentences": ["a man runs", "a dog sits"],
    }
}
HUNDREDTHS = "From 00 to 20, a man runs. From 50 to 100, a dog sits."
FRAMES = "Frames 0 - 300: a man runs. Frames 750 - 1500: a dog sits."


@pytest.fixture
def score(project, capsys):
    """A function that returns exit code, value and stderr for one answer."""
    (project / "r.json").write_text(json.dumps(REFERENCES))

    def run(answer, *options):
        rows = [{"id": "v1", "answer": answer}]
        (project / "p.json").write_text(json.dumps(rows))
        command = ["score", "p.json", "--references", "r.json", "--json", *options]
        code = main([*command, "-m", "dense:text=rouge"])
        printed = capsys.readouterr()
        value = json.loads(printed.out)["results"][0]["value"] if not code else None
        return code, value, printed.err

    return run


@pytest.mark.parametrize(
    ("answer", "advice", "options"),
    [
        (HUNDREDTHS, "(--time-unit seconds,", ["--time-unit", "hundredths"]),
        (FRAMES, "--fps 25", ["--fps", "25"]),
    ],
)
def test_the_advice_of_the_refusal_is_what_the_command_takes(
    score, answer, advice, options
):
    code, _, error = score(answer)
    assert code == 2
    assert advice in error
    code, value, _ = score(answer, *options)
    assert (code, value) == (0, 1.0)


def test_a_wrong_unit_or_rate_is_one_line(score):
    for options, message in (
        (["--time-unit", "frames"], "--time-unit frames needs fps"),
        (["--time-unit", "minutes"], "no 'minutes'; there are seconds, hundredths"),
        (["--fps", "0"], "--fps is 0; expected frames of a second, above 0"),
    ):
        try:
            code, _, error = score(HUNDREDTHS, *options)
        except SystemExit as stop:
            code, error = stop.code, ""
        assert code == 2
        assert not error or message in error
