"""Facts of a description by rules: objects, attributes and relations,
without a tagger or a model.

Words are classed by closed lists. A noun phrase is a run of other words: its last word
(or the longest phrase of the table of objects at its end) is the object, the words
before it are attributes. Verbs and prepositions between two noun phrases are relations;
an adjective after a copula, and a verb without an object, is an attribute of the
subject. Pronouns stand for the subject of the clause before. This is a simple stand-in
for the scene-graph parsers and language models of CAPTURE and DCScore, and reads plain
present-tense captions best.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from harness_metrics.hallucination import fact_words as lists
from harness_metrics.hallucination.nouns import singular
from harness_metrics.hallucination.objects import ObjectTable
from harness_metrics.tokenisers.plain_words import plain_words

_PHRASES = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(sorted(map(re.escape, lists.PHRASES), key=len, reverse=True))
    + r")(?![\w-])"
)
_KINDS = {
    "copula": lists.COPULAS,
    "conjunction": lists.CONJUNCTIONS,
    "pronoun": lists.PRONOUNS,
    "preposition": lists.PREPOSITIONS | lists.RELATORS,
}
"""Closed classes whose words connect phrases."""
_CLOSED_CLASSES = lists.DETERMINERS.union(
    lists.NUMBERS, lists.SKIPPED, lists.BREAKS, *_KINDS.values()
)


class Facts(NamedTuple):
    """Facts of one text."""

    objects: frozenset[tuple[str, ...]]
    """``(object,)``."""
    attributes: frozenset[tuple[str, ...]]
    """``(object, attribute)``: adjectives, numbers, modifying nouns,
    and verbs without an object.
    """
    relations: frozenset[tuple[str, ...]]
    """``(object, relation, object)``."""


class Chunk(NamedTuple):
    """A part of a clause."""

    kind: str
    """noun, verb, preposition, copula, conjunction, pronoun, adjective or break."""
    head: str = ""
    """Object of a noun phrase, base form of a verb, or preposition."""
    attributes: tuple[str, ...] = ()
    """Attributes of a noun phrase, or predicate adjectives."""


def parse(text: str, table: ObjectTable) -> Facts:
    """Return the facts of a text, with the synonyms of a table replaced by its objects.

    >>> from harness_metrics.hallucination.objects import object_table
    >>> facts = parse("A brown puppy sits on a couch. It is wet.", object_table("coco"))
    >>> for part in facts:
    ...     print(sorted(part))
    [('couch',), ('dog',)]
    [('dog', 'brown'), ('dog', 'wet')]
    [('dog', 'sit on', 'couch')]
    """
    reader = _Reader()
    sentence: list[Chunk] = []
    for chunk in [*chunks(_words(text), table), Chunk("break")]:
        if chunk.kind == "break":
            reader.clause(sentence)
            sentence = []
        else:
            sentence.append(chunk)
    return Facts(
        frozenset(reader.objects),
        frozenset(reader.attributes),
        frozenset(reader.relations),
    )


def _words(text: str) -> list[str]:
    """Return lower-case words and marks, with fixed phrases replaced by one word."""
    lower = " ".join(plain_words(text.replace("'s", " "), joiners="-'", marks=True))
    return _PHRASES.sub(lambda match: lists.PHRASES[match.group()], lower).split()


def _is_verb(words: list[str], at: int, content: bool, determined: bool) -> bool:
    """Return True for a word that is a verb where it stands; ``content`` and
    ``determined`` describe the noun phrase before it.
    """
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) else "."
    base = lists.VERBS.get(word, word)
    is_participle = word.endswith(("ing", "ed")) or base not in (
        word,
        word[:-1],
        word[:-2],
    )

    if word not in lists.VERBS:
        # a verb that the list lacks, after a noun or a copula
        is_form = word.endswith("ing") and len(word) > 5
        if not is_form or not (content or words[at - 1] in lists.COPULAS):
            return False
    if word in lists.ADJECTIVES or word in lists.FRAMES:
        return False

    # Between a determiner and its noun a word is an adjective or a noun, whatever else
    # it may be.
    if determined and not content:
        return False  # the smiling woman, the park

    if is_participle:
        if at == 0:
            return not _is_content(following)
        after_copula = words[at - 1] in lists.COPULAS
        return content or not _is_content(following) or after_copula
    if content or at == 0:
        return content
    return words[at - 1] in lists.CONJUNCTIONS or words[at - 1] in lists.PRONOUNS


def _is_content(word: str) -> bool:
    """Return True for a word of no closed class."""
    return (
        word not in _CLOSED_CLASSES
        and word[0].isalnum()
        and not (word.endswith("ly") and len(word) > 4)
    )


def chunks(words: list[str], table: ObjectTable) -> list[Chunk]:
    """Return the chunks of a text."""
    out: list[Chunk] = []
    run: list[str] = []
    determined = False

    def close() -> None:
        nonlocal determined
        if run:
            predicate = bool(out) and out[-1].kind == "copula"
            out.append(_noun_phrase(run, determined, predicate, table))
        run.clear()
        determined = False

    for at, word in enumerate(words):
        content = not _adjectives(run)

        # 'a black and white dog': a list of adjectives is one phrase
        in_list = word in lists.CONJUNCTIONS and run and not content
        if in_list and at + 1 < len(words) and _continues(words[at + 1]):
            continue

        if _is_verb(words, at, content, determined):
            close()
            out.append(Chunk("verb", lists.VERBS.get(word, word)))
        elif word in lists.NUMBERS:
            run.append(lists.NUMBERS[word])
        elif _is_content(word):
            run.append(word)
        elif word in lists.DETERMINERS:
            close()
            determined = True
        elif not (word in lists.SKIPPED or (word.endswith("ly") and len(word) > 4)):
            close()
            kind = _closed_kind(word)
            if kind == "preposition":
                word = lists.SAME_RELATION.get(word, word)
            out.append(Chunk(kind, word))
    close()
    return out


def _continues(word: str) -> bool:
    """Return True for a word that may continue a list of adjectives."""
    return _is_content(word) and word not in lists.VERBS


def _adjectives(run: list[str]) -> bool:
    """Return True for a run of adjectives and numbers alone."""
    return all(word in lists.ADJECTIVES or word in lists.NUMBERS for word in run)


def _closed_kind(word: str) -> str:
    """Return the kind of a word of a closed class; a mark begins a clause."""
    return next((kind for kind, members in _KINDS.items() if word in members), "break")


def _noun_phrase(
    run: list[str], determined: bool, predicate: bool, table: ObjectTable
) -> Chunk:
    """Return the chunk of a run of content words; adjectives alone are a predicate."""
    if _adjectives(run) and (predicate or not determined):
        return Chunk("adjective", attributes=tuple(run))

    is_noun = singular(run[-1]) != run[-1] or table.contains(run[-1])
    if predicate and not determined and not is_noun:
        return Chunk("adjective", attributes=tuple(run))  # is scared, is ready

    # The head is the last word, unless the end of the run is a phrase of the table
    # ('tennis racket').
    sizes = range(min(4, len(run)), 0, -1)
    size = next((n for n in sizes if table.contains(" ".join(run[-n:]))), 1)
    head = table.canonical(" ".join(run[-size:]))
    return Chunk("noun", head, tuple(map(_modifier, run[:-size])))


def _modifier(word: str) -> str:
    """Return the base form of a modifier that is a verb form; other words unchanged."""
    return lists.VERBS.get(word, word) if word.endswith(("ing", "ed")) else word


class _Reader:
    """Facts of the clauses read so far."""

    def __init__(self) -> None:
        self.objects: set[tuple[str, ...]] = set()
        self.attributes: set[tuple[str, ...]] = set()
        self.relations: set[tuple[str, ...]] = set()
        self.subjects: list[str] = []

    def clause(self, clause_chunks: list[Chunk]) -> None:
        """Add the facts of one clause, given as chunks."""
        # the group of coordinated noun phrases that was read last
        nouns: list[str] = []
        pending: list[str] = []  # verb and preposition that wait for an object
        sources: list[str] = []  # subjects of the pending relation
        # relation of the last noun phrase, for coordination
        last: tuple[list[str], str] | None = None
        joined = predicated = False
        for at, chunk in enumerate(clause_chunks):
            following = "end"
            if at + 1 < len(clause_chunks):
                following = clause_chunks[at + 1].kind

            if chunk.kind == "noun":
                self._noun(chunk)
                if pending:
                    # The noun phrase completes a verb, a preposition or both ('sit
                    # on').
                    last = (sources, " ".join(pending))
                    self._relate(*last, chunk.head)
                    nouns = [chunk.head]
                    pending = []
                # 'a dog on a couch and a chair': the conjunction repeats the relation,
                # unless the second noun is the subject of a verb of its own.
                elif joined and last and following not in ("verb", "copula"):
                    self._relate(*last, chunk.head)
                    nouns = [*nouns, chunk.head]
                # 'a cat and a dog ...': coordinated subjects, as long as no verb has
                # been read.
                elif joined and not last and not predicated:
                    nouns = [*nouns, chunk.head]
                else:
                    nouns = [chunk.head]
                    last = None
                if following in ("verb", "copula") and not last:
                    self.subjects = nouns

            elif chunk.kind == "verb":
                self._close(sources, pending)
                # 'and' between verbs keeps the subject ('a man sits and reads').
                subjects = nouns if nouns and not joined else self.subjects
                if (
                    last
                    and not joined
                    and last[1] not in ("with", "of")
                    and not lists.FRAMES.issuperset(last[0])
                ):
                    # 'a man in a coat riding a horse': the man rides, not the coat
                    subjects = last[0]
                sources = list(subjects)
                pending = [chunk.head]
                if not last or not joined:
                    self.subjects = list(subjects)

            elif chunk.kind == "preposition":
                if pending:
                    pending.append(chunk.head)
                else:
                    sources = nouns[-1:] or list(self.subjects)
                    pending = [chunk.head]

            elif chunk.kind == "adjective":
                for subject in nouns or self.subjects:
                    self._attribute(subject, chunk.attributes)

            elif chunk.kind == "copula" and nouns:
                if last and not joined and not lists.FRAMES.issuperset(last[0]):
                    # 'a man with glasses is reading': the man reads
                    nouns = list(last[0])
                    last = None
                self.subjects = list(nouns)

            if chunk.kind in ("conjunction", "copula", "pronoun"):
                self._close(sources, pending)
                pending = []
            joined = chunk.kind == "conjunction"
            predicated |= chunk.kind in ("verb", "copula")

        self._close(sources, pending)
        if not self.subjects:
            self.subjects = nouns

    def _noun(self, phrase: Chunk) -> None:
        """Add the object and the attributes of a noun phrase."""
        if phrase.head not in lists.FRAMES:
            self.objects.add((phrase.head,))
            self._attribute(phrase.head, phrase.attributes)

    def _attribute(self, head: str, values: tuple[str, ...]) -> None:
        """Add attributes of an object."""
        if head not in lists.FRAMES:
            self.attributes.update((head, value) for value in values)

    def _relate(self, sources: list[str], relation: str, target: str) -> None:
        """Add a relation of each source to a target; the target of a frame (the image
        shows a dog) becomes the subject.
        """
        if lists.FRAMES.issuperset(sources):
            self.subjects = [target]
        if target not in lists.FRAMES:
            self.relations.update(
                (source, relation, target)
                for source in sources
                if source not in lists.FRAMES
            )

    def _close(self, sources: list[str], pending: list[str]) -> None:
        """Add a verb without an object as an attribute of its subjects."""
        if pending and pending[0] in lists.BASE_FORMS:
            for source in sources:
                self._attribute(source, (pending[0],))
