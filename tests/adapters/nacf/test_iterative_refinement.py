"""Refinement of NAB and NACF against the authors' runs, and its settings."""

from __future__ import annotations

import pytest
import torch

from harness.errors import HarnessError
from harness_models.nacf.iterative_refinement import NacfRefiner, Refinement
from harness_models.o2na.lengths import most_likely_lengths
from harness_models.shared.decoding.states import select_rows


def encoded(model, values):
    with torch.inference_mode():
        return model.encode([values["feats_m"], values["feats_i"]], values["category"])


def test_refinement_equals_the_authors(authors):
    models, values, runs = authors
    checked = 0
    for run in (run for run in runs if run["method"] != "ARB"):
        model = models[run["method"]]
        how = Refinement(
            order=run["paradigm"],
            lengths=run["length_beam_size"],
            iterations=run["iterations"],
            templates=run["use_ct"],
            alpha=run["beam_alpha"],
            at_once=run["q"],
            more=run["q_iterations"],
        )
        once = encoded(model, values)
        lengths = most_likely_lengths(once.lengths, how.lengths, model.sizes.max_len)
        rows = torch.arange(3).repeat_interleave(lengths.shape[1])
        teacher = (
            (models["ARB"], select_rows(encoded(models["ARB"], values), rows))
            if run["teacher"]
            else None
        )
        with torch.inference_mode():
            refiner = NacfRefiner(model, select_rows(once, rows), how, teacher=teacher)
            slots = refiner.fill(lengths.reshape(-1))
            best = refiner.scores(slots).reshape(3, -1).argmax(1)
        tokens = slots.tokens.reshape(3, lengths.shape[1], -1)[torch.arange(3), best]
        assert tokens.tolist() == run["best"], run
        assert [tokens[0].tolist() for tokens in slots.history] == run[
            "all_iterations_tokens_first_item"
        ], run
        checked += 1
    assert checked == 54


def test_settings_out_of_range_are_refused():
    with pytest.raises(
        HarnessError, match="options.order is one of mp, l2r, ef; found 'rl'"
    ):
        Refinement(order="rl")
    with pytest.raises(HarnessError, match="iterations must be at least 1"):
        Refinement(iterations=0)
