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
from dataclasses import dataclass, field
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
    # 'sat' is one as 'sitting' is; 'sits' and 'watches' are the base form and an ending
    regular = (word, word[:-1], word[:-2])
    is_participle = word.endswith(("ing", "ed")) or base not in regular

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

    # A participle before a noun is its attribute ('smiling woman'), unless a noun or a
    # copula is before it; another form follows its subject, a conjunction or a pronoun.
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


@dataclass
class _Clause:
    """The part of a clause that has been read."""

    nouns: list[str] = field(default_factory=list[str])
    """Group of coordinated noun phrases that was read last."""
    pending: list[str] = field(default_factory=list[str])
    """Verb and preposition that wait for an object."""
    sources: list[str] = field(default_factory=list[str])
    """Subjects of the pending relation."""
    last: tuple[list[str], str] | None = None
    """Subjects and name of the relation of the last noun phrase, for coordination."""
    joined: bool = False
    """True after a conjunction."""
    predicated: bool = False
    """True once a verb or a copula has been read."""


class _Reader:
    """Facts of the clauses read so far."""

    def __init__(self) -> None:
        self.objects: set[tuple[str, ...]] = set()
        self.attributes: set[tuple[str, ...]] = set()
        self.relations: set[tuple[str, ...]] = set()
        self.subjects: list[str] = []

    def clause(self, clause_chunks: list[Chunk]) -> None:
        """Add the facts of one clause, given as chunks."""
        clause = _Clause()
        for at, chunk in enumerate(clause_chunks):
            following = "end"
            if at + 1 < len(clause_chunks):
                following = clause_chunks[at + 1].kind

            if chunk.kind == "noun":
                self._read_noun(clause, chunk, following)
            elif chunk.kind == "verb":
                self._read_verb(clause, chunk)
            elif chunk.kind == "preposition":
                self._read_preposition(clause, chunk)
            elif chunk.kind == "adjective":
                for subject in clause.nouns or self.subjects:
                    self._attribute(subject, chunk.attributes)
            elif chunk.kind == "copula" and clause.nouns:
                self._read_copula(clause)

            if chunk.kind in ("conjunction", "copula", "pronoun"):
                self._close(clause.sources, clause.pending)
                clause.pending = []
            clause.joined = chunk.kind == "conjunction"
            clause.predicated |= chunk.kind in ("verb", "copula")

        self._close(clause.sources, clause.pending)
        # a clause without a verb ('a dog in the snow') is what the next one is about
        if not self.subjects:
            self.subjects = clause.nouns

    def _read_noun(self, clause: _Clause, chunk: Chunk, following: str) -> None:
        """Add a noun phrase and the relation that it completes; ``following`` is the
        kind of the chunk after it.
        """
        self._noun(chunk)
        if clause.pending:
            # The noun phrase completes a verb, a preposition or both ('sit on').
            clause.last = (clause.sources, " ".join(clause.pending))
            self._relate(*clause.last, chunk.head)
            clause.nouns = [chunk.head]
            clause.pending = []
        # 'a dog on a couch and a chair': the conjunction repeats the relation, unless
        # the second noun is the subject of a verb of its own.
        elif clause.joined and clause.last and following not in ("verb", "copula"):
            self._relate(*clause.last, chunk.head)
            clause.nouns = [*clause.nouns, chunk.head]
        # 'a cat and a dog ...': coordinated subjects, as long as no verb has been read.
        elif clause.joined and not clause.last and not clause.predicated:
            clause.nouns = [*clause.nouns, chunk.head]
        else:
            clause.nouns = [chunk.head]
            clause.last = None

        if following in ("verb", "copula") and not clause.last:
            self.subjects = clause.nouns

    def _read_verb(self, clause: _Clause, chunk: Chunk) -> None:
        """Let a verb wait for an object, with its subjects."""
        self._close(clause.sources, clause.pending)
        last = clause.last
        # 'and' between verbs keeps the subject ('a man sits and reads').
        subjects = self.subjects
        if clause.nouns and not clause.joined:
            subjects = clause.nouns
        if (
            last
            and not clause.joined
            and last[1] not in ("with", "of")
            and not lists.FRAMES.issuperset(last[0])
        ):
            # 'a man in a coat riding a horse': the man rides, not the coat
            subjects = last[0]

        clause.sources = list(subjects)
        clause.pending = [chunk.head]
        if not last or not clause.joined:
            self.subjects = list(subjects)

    def _read_preposition(self, clause: _Clause, chunk: Chunk) -> None:
        """Let a preposition wait for an object, after the verb that waits already or
        for the noun phrase before it.
        """
        if clause.pending:
            clause.pending.append(chunk.head)
        else:
            clause.sources = clause.nouns[-1:] or list(self.subjects)
            clause.pending = [chunk.head]

    def _read_copula(self, clause: _Clause) -> None:
        """Make the noun phrases before a copula the subjects."""
        last = clause.last
        if last and not clause.joined and not lists.FRAMES.issuperset(last[0]):
            # 'a man with glasses is reading': the man reads
            clause.nouns = list(last[0])
            clause.last = None
        self.subjects = list(clause.nouns)

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
