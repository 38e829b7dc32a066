"""Signs in the records of a file about their captions, and the cleaning of these on
request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.errors import InputError
from harness.files.generated.cleaning import REPEATS, clean, drop_repeats
from harness.files.generated.finish_reasons import FIELDS, is_cut_off
from harness.files.generated.prompt_echoes import strip_prompt
from harness.files.generated.remarks import Remark, shorten

PROMPTS = ("prompt", "question", "query", "instruction")
"""Usual names of the prompt in a record."""
LOOKED_AT = frozenset((*FIELDS, *PROMPTS))
"""Fields of records that :meth:`RecordSigns.look` reads."""


@dataclass
class RecordSigns:
    """Captions that were cut off, that begin with their prompt, and that were cleaned,
    in the records of a file.
    """

    names: tuple[str, ...] = ()
    """Names of what to remove, of :data:`~harness.files.generated.cleaning.CLEAN`."""
    captions: int = 0
    """Captions of all records, which whoever reads them counts."""
    cleaned: int = 0
    """Captions of which something was removed."""
    left_out: int = 0
    """Captions that repeat another one of their id."""
    _cut_off: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _echoes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Location and caption."""

    def look(
        self,
        record: Mapping[str, Any],
        texts: tuple[str, ...],
        location: str,
        *,
        allow_empty: bool,
    ) -> tuple[str, ...]:
        """Return the captions of a record, cleaned where this is asked for, and count
        what its fields say.

        Raises :class:`InputError` with ``location`` for a caption of which nothing is
        left, unless empty ones are accepted.
        """
        prompt = ""
        if not LOOKED_AT.isdisjoint(record):
            prompts = [record.get(name) for name in PROMPTS]
            prompt = next((item for item in prompts if isinstance(item, str)), "")
            if texts and is_cut_off(record):
                self._cut_off.append((location, texts[-1]))
        if not self.names and not prompt:
            return texts
        return tuple(self._clean(text, prompt, location, allow_empty) for text in texts)

    def _clean(self, text: str, prompt: str, location: str, allow_empty: bool) -> str:
        echoes = strip_prompt(text, prompt) if prompt else text
        if echoes != text and "echo" not in self.names:
            self._echoes.append((location, text))
        if not self.names:
            return text

        answer = clean(echoes if "echo" in self.names else text, self.names)
        if answer != text:
            self.cleaned += 1
        if not allow_empty and not answer.strip() and text.strip():
            removed = ", ".join(self.names)
            raise InputError(
                f'empty without {removed}: "{shorten(text)}" '
                "(allow_empty: true keeps an empty caption)",
                location,
            )
        return answer

    def drop_repeats(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Return one of several equal captions of an id where this is asked for, and
        count the others.
        """
        distinct = drop_repeats(texts) if REPEATS in self.names else texts
        self.left_out += len(texts) - len(distinct)
        return distinct

    def remarks(self) -> list[Remark]:
        """Return the remarks on what was counted."""
        out: list[Remark] = []
        if self._cut_off:
            verb = "was" if len(self._cut_off) == 1 else "were"
            phrase = f"{verb} cut off at the largest number of tokens"
            out.append(self._remark("cut", phrase, self._cut_off))
        if self._echoes:
            verb = "begins" if len(self._echoes) == 1 else "begin"
            phrase = f"{verb} with the prompt"
            out.append(self._remark("echo", phrase, self._echoes, clean="echo"))

        of_texts = ", ".join(name for name in self.names if name != REPEATS)
        if of_texts:
            count = f"{self.cleaned:,} of {self.captions:,} captions"
            out.append(Remark("clean", f"cleaned {count} ({of_texts})", self.cleaned))
        if REPEATS in self.names:
            count = f"{self.left_out:,} of {self.captions:,} captions"
            out.append(Remark("clean", f"left out {count} ({REPEATS})", self.left_out))
        return out

    def _remark(
        self, kind: str, phrase: str, captions: list[tuple[str, str]], clean: str = ""
    ) -> Remark:
        """Return the remark on some captions, of which the first one is shown."""
        location, caption = captions[0]
        text = (
            f"{len(captions):,} of {self.captions:,} captions {phrase}, "
            f'as {location}: "{shorten(caption)}"'
        )
        return Remark(kind, text, len(captions), location, clean)
