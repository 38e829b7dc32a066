"""Reader of subtitles in the SubRip format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.contracts import Example, PathParam
from harness.contracts.parameters import Count, check_arguments
from harness.errors import InputError
from harness.files import captions
from harness.files.user_files import existing, fingerprint

SAMPLE = (
    Path(__file__).parent / "sample.srt",
    Path(__file__).parent / "sample-sdh.srt",
)
_TIMES = re.compile(r"\d\d:\d\d:\d\d,\d\d\d --> \d\d:\d\d:\d\d,\d\d\d.*")
_TAGS = re.compile(r"<[^>]+>")


class SubRip:
    """Cues of subtitle files; a cue is an example,
    its texts in the files are the references.

    Parameters
    ----------
    path : path or list of path, optional
        Files with the same numbers of cues; the sample of the package by default.
    limit_references : int, optional
        Number of references per cue, of the first files; all by default.
    """

    @check_arguments
    def __init__(
        self,
        *,
        path: PathParam | Sequence[PathParam] | None = None,
        limit_references: Count | None = None,
    ) -> None:
        if path is None:
            path = SAMPLE
        paths = [path] if isinstance(path, str) else list(path)
        self.paths = [existing(item, "file of subtitles") for item in paths]
        self.limit_references = limit_references

    def fingerprint(self) -> str:
        """Return a hash of the files and the parameters."""
        return fingerprint(
            "srt", self.paths, {"limit_references": self.limit_references}
        )

    def __iter__(self) -> Iterator[Example]:
        """Yield one example per cue; raise InputError for a block that is no cue, and
        for a cue that a file lacks.
        """
        first, *others = [dict(self._cues(path)) for path in self.paths]
        for path, cues in zip(self.paths[1:], others):
            missing = [number for number in first if number not in cues]
            if missing:
                raise InputError(
                    f"lacks {len(missing)} cues of {self.paths[0].name}: "
                    f"{captions.quote_list(missing)}",
                    str(path),
                )
        for number, text in first.items():
            references = (text, *(cues[number] for cues in others))
            yield Example(number, references[: self.limit_references])

    def _cues(self, path: Path) -> Iterator[tuple[str, str]]:
        blocks = (
            path.read_text(encoding="utf-8-sig")
            .replace("\r\n", "\n")
            .strip()
            .split("\n\n")
        )
        for place, block in enumerate(blocks, 1):
            number, times, *lines = [*block.splitlines(), "", ""]
            text = _TAGS.sub("", " ".join(line for line in lines if line))
            if not number.strip().isdigit() or not _TIMES.fullmatch(times.strip()):
                raise InputError(
                    f"found {block.splitlines()[:1]!r:.60}; expected a number, "
                    "times and text",
                    f"{path}: cue {place}",
                )
            yield number.strip(), captions.caption(text, f"{path}: cue {place}")
