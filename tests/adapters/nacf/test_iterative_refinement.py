"""Refinement of NAB and NACF against the authors' runs, and its settings."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.nacf.iterative_refinement import (
    Refinement,
    Refiner,
    Slots,
    length_temperature,
    most_likely_lengths,
    sampled_lengths,
    sampled_words,
)
from harness_models.nacf.model import Nacf
from harness_models.shared.decoding.types import select_rows


@pytest.fixture(scope="module")
def golden(golden):
    from safetensors.torch import load_file

    folder = golden / "nacf"
    models = {m: Nacf.from_checkpoint(folder / f"{m}.state_dict.safetensors") for m in ("ARB", "NAB", "NACF")}
    return models, load_file(folder / "forward.safetensors"), json.loads((folder / "decode.json").read_text())


def encoded(model, values):
    with torch.inference_mode():
        return model.encode([values["feats_m"], values["feats_i"]], values["category"])


def test_refinement_equals_the_authors(golden):
    models, values, runs = golden
    checked = 0
    for run in (run for run in runs if run["method"] != "ARB"):
        model = models[run["method"]]
        how = Refinement(
            order=run["paradigm"], lengths=run["length_beam_size"], iterations=run["iterations"], templates=run["use_ct"],
            alpha=run["beam_alpha"], at_once=run["q"], more=run["q_iterations"],
        )  # fmt: skip
        once = encoded(model, values)
        lengths = most_likely_lengths(once.lengths, how.lengths, model.sizes.max_len)
        rows = torch.arange(3).repeat_interleave(lengths.shape[1])
        teacher = (models["ARB"], select_rows(encoded(models["ARB"], values), rows)) if run["teacher"] else None
        with torch.inference_mode():
            refiner = Refiner(model, select_rows(once, rows), how, teacher=teacher)
            slots = refiner.fill(lengths.reshape(-1))
            best = refiner.scores(slots).reshape(3, -1).argmax(1)
        tokens = slots.tokens.reshape(3, lengths.shape[1], -1)[torch.arange(3), best]
        assert tokens.tolist() == run["best"], run
        assert [tokens[0].tolist() for tokens in slots.history] == run["all_iterations_tokens_first_item"], run
        checked += 1
    assert checked == 54


def test_settings_out_of_range_are_refused():
    with pytest.raises(HarnessError, match="options.order is one of mp, l2r, ef; found 'rl'"):
        Refinement(order="rl")
    with pytest.raises(HarnessError, match="iterations must be at least 1"):
        Refinement(iterations=0)


def test_fixed_slots_do_not_change():
    tokens, pad = torch.tensor([[7, 8, 0]]), torch.tensor([[False, False, True]])
    slots = Slots(tokens, torch.ones(1, 3), pad, [], fixed=torch.tensor([[True, False, False]]))
    slots.put(~pad, torch.tensor([[1, 2, 3]]), torch.tensor([[0.1, 0.2, 0.3]]))
    assert slots.tokens.tolist() == [[7, 2, 0]]
    assert slots.probabilities[0].tolist() == pytest.approx([1, 0.2, 1])
    assert slots.rows(torch.tensor([0])) == [[7, 2]]


def test_words_of_a_pass_depend_on_its_numbers_only():
    uniforms = np.random.default_rng(0).random((1, 2, 3 * 4))
    logits = torch.randn(2, 4, 9, generator=torch.Generator().manual_seed(0))
    pick = sampled_words(uniforms, 4, Decoding("sample"), torch.device("cpu"))
    other = uniforms.copy()
    other[:, :, 4:8] = 0.5  # the second pass
    changed = sampled_words(other, 4, Decoding("sample"), torch.device("cpu"))
    assert torch.equal(pick(logits, 0), changed(logits, 0))
    assert torch.equal(pick(logits, 2), changed(logits, 2))
    assert not torch.equal(pick(logits, 1), changed(logits, 1))
    assert torch.equal(pick(logits[:, :3], 0), pick(logits, 0)[:, :3])


def test_most_likely_lengths_are_ordered_and_clamped():
    log_probs = torch.tensor([[0.4, 0.05, 0.3, 0.25], [0.1, 0.2, 0.3, 0.4]]).log()
    assert most_likely_lengths(log_probs, 3, max_len=4, shortest=1).tolist() == [[1, 2, 3], [3, 2, 1]]
    assert most_likely_lengths(log_probs, 9, max_len=3, shortest=1).tolist() == [[1, 2, 2, 1], [2, 2, 1, 1]]


@given(st.integers(1, 6), st.integers(6, 9), st.integers(0, 2**31))
def test_sampled_lengths_stay_within_their_bounds(shortest, longest, seed):
    random = np.random.default_rng(seed)
    log_probs = torch.from_numpy(random.normal(size=(2, 10))).log_softmax(-1)
    lengths = sampled_lengths(log_probs, random.random((2, 5)), 1.0, shortest, longest)
    assert lengths.shape == (2, 5)
    assert int(lengths.min()) >= shortest
    assert int(lengths.max()) <= longest


def test_sampled_lengths_have_their_probabilities():
    probabilities = torch.tensor([[0.0, 0.5, 0.2, 0.3]])
    lengths = sampled_lengths(probabilities.log(), (np.arange(1000)[None] + 0.5) / 1000, 1.0, 1, 9)
    counts = np.bincount(lengths[0].numpy(), minlength=4)
    assert counts.tolist() == [0, 500, 200, 300]


@pytest.mark.parametrize("value", [0, -1, float("inf"), "hot", True])
def test_length_temperatures_that_are_not_positive_numbers_are_refused(value):
    with pytest.raises(HarnessError, match="options.length_temperature must be a number above 0, found"):
        length_temperature({"length_temperature": value})


def test_the_default_length_temperature_is_one():
    assert length_temperature({}) == 1.0
