"""Links of the READMEs: relative in the repository, absolute on an index."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

REPOSITORY = "https://github.com/caption-harness/caption-harness"
IMAGES = "https://raw.githubusercontent.com/caption-harness/caption-harness"
READMES = ("README.md", "kernels/README.md", "kernels/reference/README.md")
"""Pages that an index shows."""
_INLINE = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\])\((?P<target>[^)\s]+)\)")
_DEFINITION = re.compile(r"^(?P<text>\[[^\]]+\]: )(?P<target>\S+)$", re.MULTILINE)


def make_absolute(text: str, folder: str, ref: str) -> str:
    """Return a page with absolute links and pictures.

    Parameters
    ----------
    text : str
        A page in Markdown.
    folder : str
        Folder of the page below the root of the repository, ``.`` for the root.
    ref : str
        Tag or branch to which the links lead.
    """

    def address(target: str, *, is_image: bool = False) -> str:
        if re.match(r"[a-z]+:|#", target):
            return target
        path = posixpath.normpath(posixpath.join(folder, target))
        return (
            f"{IMAGES}/{ref}/{path}" if is_image else f"{REPOSITORY}/blob/{ref}/{path}"
        )

    text = _INLINE.sub(
        lambda match: (
            f"{match['image']}{match['text']}"
            f"({address(match['target'], is_image=bool(match['image']))})"
        ),
        text,
    )
    return _DEFINITION.sub(
        lambda match: f"{match['text']}{address(match['target'])}", text
    )


def relative_targets(text: str) -> list[str]:
    """Return the targets of a page that lie in the repository, without anchors."""
    targets = [match["target"] for match in _INLINE.finditer(text)]
    targets += [match["target"] for match in _DEFINITION.finditer(text)]
    return [
        target.partition("#")[0]
        for target in targets
        if not re.match(r"[a-z]+:|#", target)
    ]


def publish_readmes(copy: Path, ref: str) -> None:
    """Make the links of the READMEs in a copy of the repository absolute."""
    for name in READMES:
        page = copy / name
        if page.is_file():
            folder = posixpath.dirname(name) or "."
            text = make_absolute(page.read_text(encoding="utf-8"), folder, ref)
            page.write_text(text, encoding="utf-8")
