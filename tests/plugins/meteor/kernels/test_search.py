"""The beam search equals the readable one for arbitrary matches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.plugins.meteor.kernels import search as kernels
from harness.plugins.meteor.reference import EXACT, PARAPHRASE, STEM, Match, search


@st.composite
def problems(draw):
    """Return (matches, hypothesis length, reference length); matches of single words and of phrases."""
    hyp_length, ref_length = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    word = st.builds(
        lambda j, i, module: Match(j, 1, i, 1, module),
        st.integers(0, ref_length - 1), st.integers(0, hyp_length - 1), st.sampled_from([EXACT, STEM]),
    )  # fmt: skip
    phrase = st.builds(
        lambda j, n, i, m: Match(j, min(n, ref_length - j), i, min(m, hyp_length - i), PARAPHRASE),
        st.integers(0, ref_length - 1), st.integers(1, 3), st.integers(0, hyp_length - 1), st.integers(1, 3),
    )  # fmt: skip
    return draw(st.lists(st.one_of(word, phrase), max_size=16)), hyp_length, ref_length


def without_rivals(matches, match):
    """Return True when no other match covers a word of ``match``."""
    words = {("ref", match.ref_start + k) for k in range(match.ref_length)}
    words |= {("hyp", match.hyp_start + k) for k in range(match.hyp_length)}
    others = list(matches)
    others.remove(match)
    covered = {("ref", other.ref_start + k) for other in others for k in range(other.ref_length)}
    covered |= {("hyp", other.hyp_start + k) for other in others for k in range(other.hyp_length)}
    return not words & covered


def searched(matches, hyp_length, ref_length):
    """Return the matches of the best path by the kernel."""
    rows = np.array(matches, dtype=np.int32).reshape(-1, 5)
    order = np.argsort(rows[:, 0], kind="stable").astype(np.int32)
    at = np.searchsorted(rows[order, 0], np.arange(ref_length + 1)).astype(np.int64)
    fixed = np.full(ref_length, -1, dtype=np.int32)
    for number, match in enumerate(matches):
        if without_rivals(matches, match):
            fixed[match.ref_start] = number
    selection = np.full(ref_length, -9, dtype=np.int32)
    beam = kernels.new_beam(max(hyp_length, ref_length))
    kernels.search(beam, rows, at, order, fixed, ref_length, selection)
    assert selection.min() >= -1
    return [matches[number] for number in selection if number >= 0]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problems())
@example(([Match(0, 2, 0, 2, PARAPHRASE), Match(1, 1, 0, 1, EXACT)], 2, 2))
def test_best_path_equals_that_of_the_reference(interpreted, problem):
    interpreted(kernels)
    assert searched(*problem) == search(problem[0], problem[2])


@pytest.mark.parametrize("length", [9, 66])
def test_more_branches_than_the_beam_is_wide(interpreted, length):
    interpreted(kernels)
    matches = [Match(j, 1, i, 1, EXACT) for j in range(8) for i in range(length) if (i + j) % 3]
    assert searched(matches, length, 8) == search(matches, 8)  # 66 words take two integers of bits


def test_beam_has_room_for_the_longest_text(interpreted):
    interpreted(kernels)
    beam = kernels.new_beam(64)
    assert beam.state.shape == (2 * kernels.BEAM, 6 + 4 - 1)
    assert beam.chain.shape == (40 * 65 + 1, 2)
