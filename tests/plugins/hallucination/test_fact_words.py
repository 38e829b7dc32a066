"""The word lists of the rule parser."""

import pytest

from harness_metrics.hallucination import fact_words as lists


@pytest.mark.parametrize(
    "form, base",
    [
        ("sitting", "sit"),
        ("carries", "carry"),
        ("watches", "watch"),
        ("riding", "ride"),
        ("stood", "stand"),
        ("has", "have"),
    ],
)
def test_verb_forms(form, base):
    assert lists.VERBS[form] == base


def test_closed_classes_share_no_word():
    classes = [
        lists.DETERMINERS,
        frozenset(lists.NUMBERS),
        lists.PRONOUNS - {"that"},
        lists.SKIPPED,
        lists.COPULAS,
        lists.CONJUNCTIONS,
        lists.BREAKS,
        lists.PREPOSITIONS,
        lists.RELATORS,
    ]
    shared = [
        one & other for k, one in enumerate(classes) for other in classes[k + 1 :]
    ]
    assert set().union(*shared) <= {"his", "her", "that", "these", "this", "those"}
