"""Word lists of the rule parser of facts, and the base forms of verbs."""

from __future__ import annotations

from harness_metrics.hallucination.nouns import word_list, word_table

DETERMINERS = word_list("determiners")
_NUMERALS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {
    **{word: word for word in (*_NUMERALS, "eleven", "twelve")},
    **{str(k): word for k, word in enumerate(_NUMERALS, 2)},
}
"""Numeral -> its word."""
PRONOUNS = word_list("pronouns")
"""Words that stand for the subject of the clause before."""
SKIPPED = word_list("skipped")
"""Words that are no part of a fact; words in -ly are skipped too."""
COPULAS = word_list("copulas")
CONJUNCTIONS = word_list("conjunctions")
BREAKS = word_list("breaks")
"""Marks and words that begin a clause."""
PREPOSITIONS = word_list("prepositions")
PHRASES = word_table("phrases")
"""Phrase -> the word that replaces it; the longest phrase counts."""
RELATORS = word_list("relators")
SAME_RELATION = word_table("same relation")
"""Preposition -> the one that stands for it."""
FRAMES = word_list("frames")
"""Nouns of a description, not of what it describes."""
ADJECTIVES = word_list("adjectives")
_VERBS = word_list("verbs")
_DOUBLED = word_list("verbs that double their last letter")
_IRREGULAR = word_table("irregular forms of verbs")


def _forms(verb: str) -> list[str]:
    """Return the regular forms of a verb: base, -s, -ing, -ed."""
    if verb.endswith("e"):
        return [verb, verb + "s", verb[:-1] + "ing", verb + "d"]
    if verb in _DOUBLED:
        return [verb, verb + "s", verb + verb[-1] + "ing", verb + verb[-1] + "ed"]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return [verb, verb[:-1] + "ies", verb + "ing", verb[:-1] + "ied"]
    plural = "es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"
    return [verb, verb + plural, verb + "ing", verb + "ed"]


VERBS = {
    **{form: verb for verb in sorted(_VERBS) for form in _forms(verb)},
    **_IRREGULAR,
}
"""Form -> base form."""
BASE_FORMS = frozenset(VERBS.values())
