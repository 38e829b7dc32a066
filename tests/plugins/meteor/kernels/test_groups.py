"""Words and phrases of a group against the definitions: equal keys, stems, shared synonym sets, paraphrases of the table."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.plugins.meteor.kernels import groups as kernels
from harness.plugins.meteor.lexicon.disk_cache import load_lexicon
from harness.plugins.meteor.texts import TextTable, Words, WordTable

TEXTS = st.lists(
    st.lists(st.sampled_from(["a", "the", "dog", "dogs", "hound", "hounds", "an", "animal", "that", "barks"]), max_size=6),
    min_size=1, max_size=4,
)  # fmt: skip
SETTINGS = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def table(tiny_sources):
    return TextTable(WordTable(load_lexicon(tiny_sources)))


def prepared(table, texts):
    """Return the ids of the texts and the input of the kernels."""
    ids = table.intern([" ".join(words) for words in texts])
    return ids, table.prepared()


def scratch_for(table):
    size = table.words.n_numbers
    words = len(table.words.arrays().keys)
    return kernels.Scratch(
        *(np.full(n, -1, dtype=np.int32) for n in (words, size, size, table.words.lexicon.n_synsets))
    )


def relation(words: Words, one: int, other: int) -> int:
    """Return the module bits of two word ids by the definitions of the matchers."""
    if words.keys[one] == words.keys[other]:
        return 1
    synsets = [
        set(words.synset_ids[words.synset_starts[w] : words.synset_starts[w + 1]].tolist()) for w in (one, other)
    ]
    return 2 * bool(words.stems[one] == words.stems[other]) + 4 * bool(synsets[0] & synsets[1])


@SETTINGS
@given(TEXTS)
def test_words_of_a_group_and_their_relations(table, interpreted, texts):
    interpreted(kernels)
    ids, (rows, words, _) = prepared(table, texts)
    scratch = scratch_for(table)
    group = kernels.group_words(rows, ids, words, scratch)
    for k, text in enumerate(ids.tolist()):
        text_words = group.distinct[group.words[group.starts[k] : group.starts[k + 1]]]
        assert text_words.tolist() == table.word_ids(text).tolist()
    assert len(set(group.distinct.tolist())) == len(group.distinct)
    for k, word in enumerate(group.distinct.tolist()):
        places = slice(group.related_starts[k], group.related_starts[k + 1])
        codes = dict(zip(group.related[places].tolist(), group.codes[places].tolist(), strict=True))
        relations = {other: relation(words, word, int(group.distinct[other])) for other in range(len(group.distinct))}
        assert codes == {other: code for other, code in relations.items() if code}
    assert all((values == -1).all() for values in scratch)  # ready for the next group


@SETTINGS
@given(TEXTS)
def test_phrases_of_a_group_are_those_with_a_paraphrase_in_it(table, interpreted, texts):
    interpreted(kernels)
    ids, (rows, _, paraphrases) = prepared(table, texts)
    group = kernels.group_phrases(rows, ids, paraphrases)
    occurrences = {}
    for k, text in enumerate(ids.tolist()):
        places = range(rows.phrase_starts[text], rows.phrase_starts[text + 1])
        occurrences[k] = [(int(rows.phrases[p]), int(rows.phrase_at[p]), int(rows.phrase_length[p])) for p in places]
    nodes = {node for places in occurrences.values() for node, _, _ in places}
    targets = {node: [t for t in paraphrases.paraphrases(node).tolist() if t in nodes] for node in nodes}
    useful = {node for node in nodes if targets[node]} | {t for values in targets.values() for t in values}
    numbers = {}  # number of a phrase in the group -> node
    for k, places in occurrences.items():
        expected = [place for place in places if place[0] in useful]
        part = slice(group.starts[k], group.starts[k + 1])
        assert list(zip(group.at[part].tolist(), group.length[part].tolist())) == [(at, n) for _, at, n in expected]
        for number, (node, _, _) in zip(group.phrases[part].tolist(), expected):
            assert numbers.setdefault(number, node) == node
    for number, node in numbers.items():
        part = slice(group.target_starts[number], group.target_starts[number + 1])
        assert [numbers[target] for target in group.targets[part].tolist()] == targets[node]
    for k, number in itertools.product(range(len(ids)), numbers):
        chain, o = [], int(group.heads[k, number])
        while o >= 0:
            chain.append(o)
            o = int(group.following[o])
        assert chain == [o for o in range(group.starts[k], group.starts[k + 1]) if group.phrases[o] == number]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS)
def test_phrase_search_finds_every_run_that_is_a_node(table, texts):
    lexicon = table.words.lexicon
    ids = [[lexicon.paraphrase_words.get(word, -1) for word in words] for words in texts]
    starts = np.cumsum([0, *map(len, ids)])
    flat = np.array([word for words in ids for word in words], dtype=np.int32)
    bounds, *arrays = kernels.find_phrases(starts, flat, lexicon.paraphrases.roots(flat), lexicon.paraphrases)
    for k, words in enumerate(ids):
        expected = []
        for first in range(len(words)):
            node = 0
            for last in range(first, len(words)):
                node = lexicon.paraphrases.child(node, words[last])
                if node < 0:
                    break
                expected.append((node, first, last + 1 - first))
        part = slice(bounds[k], bounds[k + 1])
        assert list(zip(*(array[part].tolist() for array in arrays))) == expected


def test_room_for_many_phrases(table):
    text = ["a dog " * 60]
    ids = table.intern(text)
    texts = table.prepared().texts
    assert texts.phrase_starts[ids[0] + 1] - texts.phrase_starts[ids[0]] == 180  # a, a dog, dog
