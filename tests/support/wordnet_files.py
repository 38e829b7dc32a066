"""Small files in the form of WordNet 3.0."""

from __future__ import annotations

from pathlib import Path

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
LICENCE = "  1 This software is small, WordNet 3.0 in form.  \n"
SENSES = {
    "noun": [["sofa", "couch", "lounge"], ["dog", "hot_dog"], ["China", "Cathay"]],
    "verb": [["run", "scat"], ["couch", "frame"]],
    "adj": [["big(p)", "large"]],
    "adv": [["fast", "quickly"]],
}
IRREGULAR = {"verb": [("ran", "run")], "noun": [("mice", "mouse")]}


def write_wordnet(folder: Path) -> Path:
    """Write the twelve files into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, letter in PARTS.items():
        content = LICENCE
        places: dict[str, list[int]] = {}
        for words in SENSES[part]:
            for word in words:
                entry = word.partition("(")[0].lower()
                places.setdefault(entry, []).append(len(content))
            listed = " ".join(f"{word} 0" for word in words)
            content += (
                f"{len(content):08d} 00 {letter} {len(words):02x} {listed} 000 | said\n"
            )
        (folder / f"data.{part}").write_text(content, "latin-1")
        # one kind of pointer, "@", stands between the counts
        rows = [
            f"{word} {letter} {len(own)} 1 @ {len(own)} 0 "
            + " ".join(f"{place:08d}" for place in own)
            for word, own in sorted(places.items())
        ]
        (folder / f"index.{part}").write_text(LICENCE + "\n".join(rows) + "  \n")
        pairs = [f"{form} {base}" for form, base in IRREGULAR.get(part, [])]
        (folder / f"{part}.exc").write_text("\n".join(pairs) + "\n")
    return folder
