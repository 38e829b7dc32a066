"""docs/same.md prints what its commands print, on the files of examples/same."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from harness.cli.main import main


def commands(root):
    text = (root / "docs" / "same.md").read_text(encoding="utf-8")
    block = r"```console\n\$ harness (same [^\n]*)\n(.*?)\n```"
    return re.findall(block, text, re.DOTALL)


@pytest.mark.parametrize("position", [pytest.param(0, marks=pytest.mark.slow), 1, 2])
def test_the_page_shows_what_the_command_prints(root, monkeypatch, capsys, position):
    monkeypatch.chdir(root / "examples" / "same")
    command, shown = commands(root)[position]
    code = main(command.split())
    assert capsys.readouterr().out.rstrip() == shown
    assert code == (4 if "again" in command else 1)


def test_the_word_same_is_no_verdict(root):
    for _, shown in commands(root):
        assert "same" not in shown


def test_the_page_names_the_kernels_and_the_columns_of_prompts(root):
    from harness.files.columns import PROMPT_COLUMNS

    text = (root / "docs" / "same.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in PROMPT_COLUMNS)


@pytest.mark.parametrize("code", [0, 1, 2, 4, 137])
@pytest.mark.parametrize("asked", [True, False])
def test_the_cron_line_mails_on_every_exit_code_but_0(root, tmp_path, code, asked):
    text = (root / "docs" / "same.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^15 3 \* \* \* +(.*)$", text, re.MULTILINE)
    assert "%" not in line, "a percent sign ends the command of a crontab"

    for name, body in {
        "harness": f'echo "$@" > called; echo result; exit {code}',
        "ask.sh": f"exit {0 if asked else 1}",
        "mail": 'echo "$@" > "$MAILED"; cat >> "$MAILED"',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)

    mailed = tmp_path / "mailed"
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "MAILED": str(mailed)}
    local = line.replace("/srv/check", str(tmp_path)).replace(
        "/tmp/same.txt", str(tmp_path / "same.txt")
    )

    for night in (1, 2):
        subprocess.run(["sh", "-c", local], env=environment, cwd=tmp_path, check=True)
        assert (tmp_path / "night").read_text() == f"{night}\n"
        expected = code if asked else 9
        assert mailed.exists() == (expected != 0)

        if asked:
            called = (tmp_path / "called").read_text()
            assert (
                called
                == f"same baseline.jsonl tonight.jsonl --nights 90 --night {night} "
                "--output same.html\n"
            )

        if expected:
            subject, meaning, *_ = mailed.read_text().splitlines()
            assert subject == f"-s harness same: exit code {expected} you"
            assert (
                all(f"{number}: " in meaning for number in (1, 2, 4, 9))
                and f"exit code {expected} " in meaning
            )
    assert (tmp_path / "called").exists() == asked


def test_the_cron_line_mails_where_its_folder_is_missing(root, tmp_path):
    text = (root / "docs" / "same.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^15 3 \* \* \* +(.*)$", text, re.MULTILINE)
    (tmp_path / "mail").write_text('#!/bin/sh\necho "$@" > "$MAILED"\n')
    (tmp_path / "mail").chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "MAILED": str(tmp_path / "mailed"),
    }
    local = line.replace("/srv/check", str(tmp_path / "none")).replace(
        "/tmp/same.txt", str(tmp_path / "same.txt")
    )
    subprocess.run(["sh", "-c", local], env=environment, check=True)
    assert (tmp_path / "mailed").read_text() == "-s harness same: exit code 9 you\n"
