"""Form of a folder with a file of text per item; the name of a file without its ending
is the id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from harness.errors import InputError, counted
from harness.files.captions import quote_list
from harness.files.dataset_source import has_saved_state
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.sample import Sample
from harness.files.forms.soccernet import has_games
from harness.files.forms.text import read_lines
from harness.files.records import Record
from harness.files.streams import PartPath
from harness.files.user_files import existing
from harness.files.user_path import user_path

TEXT_SUFFIXES = (".txt", ".caption", ".cap")
MEDIA_SUFFIXES = (
    ".jpg",
    ".jpeg",
    ".png",
    ".webp",
    ".gif",
    ".bmp",
    ".tif",
    ".tiff",
    ".mp4",
    ".mkv",
    ".webm",
    ".avi",
    ".mov",
    ".wav",
    ".mp3",
    ".flac",
    ".ogg",
    ".m4a",
)
"""Endings of the images, videos and sounds that may lie beside the texts."""


def existing_captions(
    path: str | Path, what: str = "file", *, parameter: str = "path"
) -> Path:
    """Return the path of a file of captions, of a folder of text files or of games, or
    of a part of a file, ``FILE#PART``.

    Parameters are those of :func:`~harness.files.user_files.existing`.

    Raises
    ------
    InputError
        As that function; and for a folder that holds no text files, or others beside
        them.
    """
    if isinstance(path, (str, Path)) and str(path):
        file = user_path(path)
        with suppress(ValueError, OSError):  # no possible path, which `existing` says
            if file.is_dir():
                if not has_games(file):
                    text_files(file, what)
                return file

            # A file may have the sign in its name.
            whole, _, part = str(file).rpartition("#")
            if whole and part and not file.exists() and Path(whole).is_file():
                return PartPath.of(existing(whole, what, parameter=parameter), part)
    return existing(path, what, parameter=parameter)


def text_files(folder: Path, what: str = "file of captions") -> list[Path]:
    """Return the text files of a folder in the order of their ids; raise
    :class:`InputError` for a folder that is not one of texts.
    """
    visible = (path for path in folder.iterdir() if not path.name.startswith("."))
    files = sorted(visible, key=_natural_key)
    texts = [
        path
        for path in files
        if path.is_file() and path.suffix.lower() in TEXT_SUFFIXES
    ]
    others = [
        path.name
        for path in files
        if path not in texts and path.suffix.lower() not in MEDIA_SUFFIXES
    ]
    if not texts:
        if has_saved_state(folder):
            raise _saved_error(folder, what)
        content = "it is empty"
        if files:
            content = f"it holds {quote_list(others or [path.name for path in files])}"
        advice = ""
        if len(others) == 1 and (folder / others[0]).is_file():
            advice = f": name the file, {folder / others[0]}"
        raise InputError(
            f"is a folder without text files; {content}; expected a {what}, "
            f"or a folder with a .txt file per item{advice}",
            str(folder),
        )
    if others:
        raise InputError(
            f"is a folder with {counted(len(texts), 'text file')} and "
            f"{counted(len(others), 'other entry')} ({quote_list(others)}); "
            "expected a text file per item and nothing else but their images, "
            "videos or sounds",
            str(folder),
        )

    # a.txt beside a.caption
    for name, count in Counter(path.stem for path in texts).items():
        if count > 1:
            raise InputError(f"has two text files of the item '{name}'", str(folder))
    return texts


def _saved_error(folder: Path, what: str) -> InputError:
    """Return the error for a folder that ``save_to_disk`` of the package datasets
    wrote: the data set of a split, or folders of splits.
    """
    splits = sorted(path.parent.name for path in folder.glob("*/state.json"))
    of_splits = f" with the splits {quote_list(splits)}" if splits else ""
    data = folder / splits[0] if splits else folder
    return InputError(
        f"is a data set of save_to_disk{of_splits}; expected a {what}: write it as "
        f"Parquet, datasets.load_from_disk({str(data)!r}).to_parquet('NEW.parquet')",
        str(folder),
    )


def _natural_key(path: Path) -> list[tuple[int, str]]:
    """Return a key by which ``2.txt`` comes before ``10.txt``."""
    return [
        (int(piece), "") if piece.isdecimal() else (0, piece)
        for piece in re.split(r"(\d+)", path.name)
    ]


def _read(sample: Sample) -> Form:
    files = text_files(sample.path)

    def rows() -> Iterator[Record]:
        for path in files:
            lines = [line.strip() for _, line in read_lines(path)]
            texts = [line for line in lines if line]
            if "\n\n" in "\n".join(lines).strip():
                raise InputError(
                    "holds paragraphs; expected one caption, or one per line", str(path)
                )
            captions = texts[0] if len(texts) == 1 else texts or ""
            yield Record(str(path), {"id": path.stem, sample.role: captions})

    return Form("folder", rows(), ids=("id",))


FOLDER = FormKind(
    "folder",
    "a folder with a text file per item; each line of a file is a caption of its item",
    lambda sample: sample.container == "folder" and not has_games(sample.path),
    _read,
    [
        FormExample(
            "`42.txt` with `a dog`, `73.txt` with `a cat`",
            "the name of the file without its ending",
            is_text=False,
        )
    ],
    reading="each line of the file; paragraphs are refused",
)
