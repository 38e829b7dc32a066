"""Form of commentaries of SoccerNet: a folder or zip archive of games, or the file of
one game.

Layout: https://www.soccer-net.org/tasks/dense-video-captioning (labels
``Labels-caption.json`` with ``annotations`` and their ``anonymized`` text, results
``results_dense_captioning.json`` with ``predictions`` and their ``comment``). Each half
of a game is a video. A comment has a moment, the whole seconds of ``gameTime``; its
event reaches :data:`SECONDS` before and behind it.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from harness.contracts import Role
from harness.errors import InputError
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.record_forms import has, items, mapping
from harness.files.forms.sample import Sample
from harness.files.records import Record
from harness.files.streams import check_expansion, readable
from harness.files.strict_json import decode_json, load_json
from harness.files.user_files import files_below

SECONDS = 15
"""Reach of an event on both sides of its moment; one near the kick-off begins with the
half, which leaves unchanged what it overlaps.
"""
FILES: dict[Role, str] = {
    "references": "Labels-caption.json",
    "candidates": "results_dense_captioning.json",
}
_KEYS: dict[str, tuple[str, str]] = {
    "annotations": ("anonymized", "references"),
    "predictions": ("comment", "candidates"),
}
"""Key of the comments -> field of their text, and role of the file."""
_GAME_TIME = re.compile(r"\s*(\d)\s*-\s*(\d{1,3}):(\d{2})\s*")


class _Game(NamedTuple):
    """File of a game."""

    name: str
    where: str
    document: Any


def has_games(folder: Path) -> bool:
    """Return True for a folder with files of games in it or below."""
    return any(_game_files(folder, name) for name in FILES.values())


def _game_files(folder: Path, name: str) -> list[Path]:
    """Return the files of a name in a folder and below, in their order."""
    return sorted([*folder.glob(name), *files_below(folder, name)])


def _is_game(document: object) -> bool:
    """Return True for the file of one game."""
    fields = mapping(document)
    return any(
        has(mapping(comment), "gameTime", text)
        for key, (text, _) in _KEYS.items()
        for comment in items(fields.get(key))[:1]
    )


def _archive_members(sample: Sample) -> dict[Role, list[str]]:
    """Return the files of games in a zip archive by role."""
    with (
        readable(sample.path, "zip archive"),
        zipfile.ZipFile(sample.path) as archive,
    ):
        names = archive.namelist()
    return {
        role: [name for name in names if PurePosixPath(name).name == file]
        for role, file in FILES.items()
    }


def _recognise(sample: Sample) -> bool:
    if sample.container == "folder":
        return has_games(sample.path)
    if sample.container == "archive":
        return not sample.spreadsheet and any(_archive_members(sample).values())
    return _is_game(sample.document)


def _games(sample: Sample) -> Iterator[_Game]:
    """Yield the files of the games in the order of their names.

    Those of the role are read; without any, those of the other role.
    """
    if sample.container == "folder":
        paths = _game_files(sample.path, FILES[sample.role])
        if not paths:
            others = (_game_files(sample.path, name) for name in FILES.values())
            paths = [path for of_name in others for path in of_name]
        for path in paths:
            name = path.parent.relative_to(sample.path).as_posix()
            yield _Game(name, str(path), load_json(path))
    elif sample.container == "archive":
        members = _archive_members(sample)
        with (
            readable(sample.path, "zip archive"),
            zipfile.ZipFile(sample.path) as archive,
        ):
            check_expansion(archive)
            for member in sorted(members[sample.role] or sum(members.values(), [])):
                where = f"{sample.path}: {member}"
                content = decode_json(archive.read(member), where, complete=True)
                yield _Game(PurePosixPath(member).parent.as_posix(), where, content)
    else:
        fields = mapping(sample.document)
        name = str(fields.get("UrlLocal") or sample.path.resolve().parent.name)
        yield _Game(name.strip("/"), sample.location, fields)


def _read(sample: Sample) -> Form:
    def rows() -> Iterator[Record]:
        for game in _games(sample):
            yield from _halves(game)

    return Form("soccernet", rows(), ids=("id",))


def _halves(game: _Game) -> Iterator[Record]:
    """Yield a record of each half of a game: of predictions both, of labels those with
    comments.
    """
    fields = mapping(game.document)
    key = next((key for key in _KEYS if isinstance(fields.get(key), list)), None)
    if key is None:
        raise InputError(
            "expected an object with 'annotations' (labels) or 'predictions'",
            game.where,
        )
    text_field, role = _KEYS[key]
    halves: dict[int, list[tuple[int, Mapping[str, Any]]]] = {}
    if role == "candidates":
        halves = {1: [], 2: []}
    for number, item in enumerate(fields[key], 1):
        comment: Mapping[str, Any] = mapping(item)
        where = f"{game.where}: {key} {number}"
        match = _GAME_TIME.fullmatch(str(comment.get("gameTime")))
        if match is None or not isinstance(comment.get(text_field), str):
            raise InputError(
                f"found {dict(comment)!r:.80}; expected 'gameTime', such as "
                f"'1 - 05:30', and a text in '{text_field}'",
                where,
            )
        moment = 60 * int(match[2]) + int(match[3])
        halves.setdefault(int(match[1]), []).append((moment, comment))

    for half, comments in sorted(halves.items()):
        record: dict[str, Any] = {
            "id": f"{game.name}/{half}",
            "captions": [comment[text_field] for _, comment in comments] or None,
            "timestamps": [
                [max(moment - SECONDS, 0), moment + SECONDS] for moment, _ in comments
            ],
            "labels": [str(comment.get("label") or "") for _, comment in comments],
        }
        yield Record(game.where, record)


SOCCERNET = FormKind(
    "soccernet",
    "SoccerNet, commentaries: a folder or zip of games with `Labels-caption.json` or "
    "`results_dense_captioning.json`, or one of these files",
    _recognise,
    _read,
    [
        FormExample(
            "`GAME/Labels-caption.json` with `annotations` of `gameTime` and "
            "`anonymized`; `GAME/results_dense_captioning.json` with `predictions` of "
            "`gameTime` and `comment`",
            "the folder of the game and the half, `GAME/1`",
            is_text=False,
        )
    ],
    reading="the comments of a half, from 15 seconds before to 15 behind the whole "
    "seconds of `gameTime`; `label` as label",
)
