"""Write the golden values: ``python tests/golden/rouge_score/make.py``, with
rouge-score 0.1.2 and nltk installed.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
WORDS = (
    *(
        "the",
        "a",
        "police",
        "officers",
        "said",
        "that",
        "running",
        "runs",
        "relational",
        "Happy's",
        "happily",
        "café",
        "3.5",
        "x-ray",
    ),
    *(
        "dying",
        "news",
        "minister's",
        "grass",
        "grassy",
        "fire",
        "fires",
        "burning",
        "burned",
        "it's",
        "on",
        "in",
        "two",
        "2019",
        "city",
    ),
    *("cities", ".", ",", "\n", "\n", "\n"),
)
SUFFIXES = (
    *(
        "ational",
        "tional",
        "enci",
        "anci",
        "izer",
        "bli",
        "alli",
        "entli",
        "eli",
        "ousli",
        "ization",
        "ation",
        "ator",
        "alism",
        "iveness",
    ),
    *(
        "fulness",
        "ousness",
        "aliti",
        "iviti",
        "biliti",
        "fulli",
        "logi",
        "icate",
        "ative",
        "alize",
        "iciti",
        "ical",
        "ful",
        "ness",
        "al",
    ),
    *(
        "ance",
        "ence",
        "er",
        "ic",
        "able",
        "ible",
        "ant",
        "ement",
        "ment",
        "ent",
        "ion",
        "sion",
        "tion",
        "ou",
        "ism",
        "ate",
        "iti",
        "ous",
    ),
    *(
        "ive",
        "ize",
        "s",
        "es",
        "ies",
        "ied",
        "ed",
        "ing",
        "eed",
        "y",
        "ll",
        "e",
        "sses",
        "at",
        "bl",
        "iz",
        "eying",
        "yed",
    ),
)


def main() -> None:
    """Write stems of words and scores of summaries."""
    from nltk.stem.porter import PorterStemmer
    from rouge_score.rouge_scorer import RougeScorer

    draw = random.Random(11)
    pages = (HERE.parents[2] / "docs").rglob("*.md")
    words = {
        word
        for page in pages
        for word in re.findall("[a-z0-9]+", page.read_text("utf-8").lower())
    }
    words = set(sorted(words)[::4])
    while len(words) < 6000:
        stem = "".join(
            draw.choice("aeiouybcdlstzwx7") for _ in range(draw.randrange(6))
        )
        words.add(
            stem + "".join(draw.choice(SUFFIXES) for _ in range(draw.randrange(1, 3)))
        )
    stemmer = PorterStemmer()
    lines = [f"{word} {stemmer.stem(word)}" for word in sorted(words)]
    write("stems.txt.gz", "\n".join(lines))

    def text() -> str:
        return " ".join(
            draw.choice(WORDS) for _ in range(draw.choice([0, 1, 8, 20, 40]))
        )

    items = []
    for _ in range(100):
        candidate = text()
        references = [text() for _ in range(draw.choice([1, 3]))]
        scores = [
            RougeScorer(TYPES, use_stemmer=stem).score_multi(references, candidate)
            for stem in (False, True)
        ]
        values = {
            name: [[*map(float, by_stem[name])] for by_stem in scores] for name in TYPES
        }
        items.append(
            {"candidate": candidate, "references": references, "scores": values}
        )
    write("scores.json.gz", json.dumps(items, ensure_ascii=False))


def write(name: str, text: str) -> None:
    """Write a compressed file without a date."""
    (HERE / name).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
