"""Remarks on the captions of a system: what stands around them, and files that are all
but surely a mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from harness.contracts import CaptionSet
from harness.files.generated.caption_marks import MARK_KINDS, MarkKind, marks_of
from harness.files.generated.cleaning import REMOVABLE, REPEATS
from harness.files.generated.late_pattern import late_pattern
from harness.files.generated.set_signs import SetSigns
from harness.files.generated.unspaced_scripts import ScriptCount

BLOCK = 4096
"""Examples that are looked at together: what is in none of their texts is not searched
in each.
"""
MIN_EXAMPLES = 3
"""Examples below which equal captions are no remark."""
MIN_COPIES = 2
"""Examples below which copies of references are no remark."""
MOST_SIGNS = 6
"""Different marks that a remark lists."""
SHORT = 60
"""Characters of an example that a remark shows."""
_PHRASES = {
    "think": ("holds thinking", "hold thinking"),
    "marks": ("holds marks of chats or ends", "hold marks of chats or ends"),
    "echo": ("repeats the prompt", "repeat the prompt"),
    "prefix": (
        "begins with words about the caption",
        "begin with words about the caption",
    ),
    "markdown": ("holds Markdown", "hold Markdown"),
    "unknown": ("holds unknown words", "hold unknown words"),
    "refusal": ("refuses to describe", "refuse to describe"),
    "empty": ("is empty", "are empty"),
    "cut": (
        "was cut off at the largest number of tokens",
        "were cut off at the largest number of tokens",
    ),
}
"""Kind of a mark -> its phrase for one caption and for several."""
_CLEANED = tuple(item.name for item in REMOVABLE)
"""Kinds of marks that cleaning removes."""
_NOT_LETTERS = late_pattern(r"[\W_]+")


@dataclass(frozen=True)
class Remark:
    """Something about the captions of a system."""

    kind: str
    """think | marks | echo | prefix | markdown | unknown | refusal | empty | cut |
    copies | same | repeats | script | absent | codes | joined | split.
    """
    text: str
    """The sentence."""
    count: int
    """Captions, or for remarks on the whole the examples, that it is about."""
    example: str = ""
    """Id of one of them."""
    clean: str = ""
    """Name in ``--clean`` that removes it; empty for what stays."""


@dataclass
class _Marks:
    """Captions with one kind of mark."""

    count: int = 0
    example: str = ""
    caption: str = ""
    signs: dict[str, None] = field(default_factory=dict[str, None])

    def add(self, example: str, caption: str, signs: Iterable[str] = ()) -> None:
        if not self.count:
            self.example = example
            self.caption = caption
        self.count += 1
        if len(self.signs) <= MOST_SIGNS:
            self.signs.update(dict.fromkeys(shorten(sign, 30) for sign in signs))


def output_remarks(
    sets: Iterable[CaptionSet], *, cut_off: Collection[str] = ()
) -> list[Remark]:
    """Return the remarks on the captions of one system.

    Parameters
    ----------
    sets : iterable of CaptionSet
        Candidates and references of each example; they are read once.
    cut_off : collection of str
        Ids of the examples whose records say that a caption was cut off
        (:func:`~harness.files.generated.finish_reasons.is_cut_off`).

    Examples
    --------
    >>> for remark in output_remarks([CaptionSet("7", ("a dog <eos>",), ("the dog",))]):
    ...     print(remark.text)
    1 of 1 caption holds marks of chats or ends (<eos>), as '7': "a dog <eos>"
    """
    look = OutputLook()
    rows = iter(sets)
    while block := list(islice(rows, BLOCK)):
        look.add(block, cut_off)
    return look.remarks()


class OutputLook:
    """A look at the captions of a system, block by block."""

    def __init__(self) -> None:
        self._captions = 0
        self._examples = 0
        self._marks: dict[str, _Marks] = {}
        self._scripts = ScriptCount()
        self._set_signs = (SetSigns("candidates"), SetSigns("references"))
        self._only: str | None = None
        self._differs = False
        self._copies = self._first_copies = True
        self._most_references = 0
        self._sizes: set[int] = set()
        self._distinct = False

    def add(self, sets: Sequence[CaptionSet], cut_off: Collection[str] = ()) -> None:
        """Add the captions of some examples; ``cut_off`` are the ids of those whose
        records say so.
        """
        sets = [item for item in sets if item.candidates]
        self._examples += len(sets)
        texts = [text for item in sets for text in item.candidates]
        ids = [item.id for item in sets for _ in item.candidates]
        if not texts:
            return

        # Marks in single captions.
        self._captions += len(texts)
        self._add_marks(ids, texts)
        self._scripts.add(texts)
        self._sizes.update(len(item.candidates) for item in sets)

        # Signs of a whole file, which one example can refute.
        of_candidates, of_references = self._set_signs
        item_ids = [item.id for item in sets]
        of_candidates.add(item_ids, [item.candidates for item in sets])
        of_references.add(item_ids, [item.references for item in sets])
        if self._only is None:
            self._only = texts[0]
        self._differs = self._differs or set(texts) != {self._only}
        if len(texts) > len(sets):
            self._add_repeats(sets)
        if self._copies:
            self._add_copies(sets)
        if cut_off:
            for item in sets:
                if item.id in cut_off:
                    self._add_to("cut", item.id, item.candidates[-1])

    def _add_marks(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Add the marks in captions; what stands in none of them is not looked for in
        each.
        """
        joined = "\0".join(texts).lower()  # NUL is in no caption
        lowered = joined.split("\0")
        possible: dict[int, list[MarkKind]] = {}
        """Position of a caption -> the kinds of marks that it may have."""
        for kind in MARK_KINDS:
            triggers = [trigger for trigger in kind.triggers if trigger in joined]
            if not triggers:
                continue
            for index, text in enumerate(lowered):
                if any(trigger in text for trigger in triggers):
                    possible.setdefault(index, []).append(kind)

        for index, kinds in sorted(possible.items()):
            for name, signs in marks_of(texts[index], kinds):
                self._add_to(name, ids[index], texts[index], signs)
        for index, text in enumerate(texts):
            if not text or text.isspace():
                self._add_to("empty", ids[index], text)

    def _add_to(
        self, kind: str, example: str, caption: str, signs: Sequence[str] = ()
    ) -> None:
        self._marks.setdefault(kind, _Marks()).add(example, caption, signs)

    def _add_repeats(self, sets: Sequence[CaptionSet]) -> None:
        """Add the examples whose captions are all the same, and note whether others
        have different ones.
        """
        for item in sets:
            count = len(item.candidates)
            if count < 2:
                continue
            if len(set(item.candidates)) == 1:
                self._add_to(REPEATS, item.id, item.candidates[0], [f"{count}"])
            else:
                self._distinct = True

    def _add_copies(self, sets: Sequence[CaptionSet]) -> None:
        """Note whether every candidate is a reference, until one is none."""
        for item in sets:
            references = [_letters(text) for text in item.references]
            candidates = [_letters(text) for text in item.candidates]
            if not all(text and text in references for text in candidates):
                self._copies = False
                return
            self._most_references = max(self._most_references, len(references))
            self._first_copies = self._first_copies and all(
                text == references[0] for text in candidates
            )

    def remarks(self) -> list[Remark]:
        """Return the remarks on what was added."""
        of_captions = [self._remark(kind) for kind in _PHRASES if kind in self._marks]
        return [*of_captions, *self._remarks_on_all()]

    def _remark(self, kind: str) -> Remark:
        """Return the remark on the captions with a kind of mark."""
        marks = self._marks[kind]
        singular, plural = _PHRASES[kind]
        phrase = singular if marks.count == 1 else plural
        signs = list(marks.signs)
        if signs:
            listed = ", ".join(signs[:MOST_SIGNS])
            ending = ", ..." if len(signs) > MOST_SIGNS else ""
            phrase = f"{phrase} ({listed}{ending})"

        noun = "caption" if self._captions == 1 else "captions"
        text = (
            f"{marks.count:,} of {self._captions:,} {noun} {phrase}, "
            f"as '{marks.example}': \"{shorten(marks.caption)}\""
        )
        removed_by = kind if kind in _CLEANED else ""
        return Remark(kind, text, marks.count, marks.example, removed_by)

    def _remarks_on_all(self) -> Iterator[Remark]:
        """Yield the remarks on the whole file."""
        examples = self._examples
        for signs in self._set_signs:
            if absent := signs.absent():
                yield Remark("absent", *absent)
            if codes := signs.codes():
                yield Remark("codes", *codes)
            if joined := signs.joined():
                yield Remark("joined", *joined)
            if split := signs.split():
                yield Remark("split", *split)
        if self._copies and examples >= MIN_COPIES:
            is_first = self._first_copies and self._most_references > 1
            which = ", the first one" if is_first else ""
            text = (
                f"every candidate equals a reference of its example{which}: "
                "captions are scored against themselves"
            )
            yield Remark("copies", text, examples)

        if not self._differs and examples >= MIN_EXAMPLES:
            caption = shorten(self._only or "")
            text = f'all {examples:,} examples have the same caption: "{caption}"'
            yield Remark("same", text, examples)

        # Where all examples have as many captions, some equal ones are samples of a
        # model that came out alike.
        repeats = self._marks.get(REPEATS)
        is_mistake = len(self._sizes) > 1 or (repeats and repeats.count == examples)
        if repeats and is_mistake and not self._distinct:
            yield _remark_on_repeats(repeats)

        language = self._scripts.language()
        if language:
            yield Remark("script", script_text(language), examples)


def _remark_on_repeats(repeats: _Marks) -> Remark:
    """Return the remark on ids whose captions are identical."""
    numbers = " or ".join(repeats.signs)
    whose = f"id '{repeats.example}'"
    if repeats.count > 1:
        whose = f"each of {repeats.count:,} ids ('{repeats.example}', ...)"
    often = "twice" if numbers == "2" else f"{numbers} times"
    caption = shorten(repeats.caption)
    text = (
        f'the {numbers} captions of {whose} are identical ("{caption}"): '
        f"corpus numbers such as BLEU count them {often}"
    )
    return Remark("repeats", text, repeats.count, repeats.example, REPEATS)


def script_text(language: str) -> str:
    """Return the remark on captions in a language without blanks between words."""
    name = "zh" if language == "Chinese" else "characters"
    other = ", or characters" if name == "zh" else ""
    return (
        f"the captions are {language}, without blanks between words: "
        "metrics of words take each for one word "
        f"(-m bleu:tokenizer={name}, or tokenizer: {name} in a spec, "
        f"splits them{other})"
    )


def shorten(text: str, length: int = SHORT) -> str:
    """Return a text on one line, of at most so many characters.

    >>> shorten("a dog\\nruns on the grass", 12)
    'a dog runs …'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 2].rstrip()} …"


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, by which copies are
    recognised after tokenisation.
    """
    return _NOT_LETTERS().sub("", text.lower())
