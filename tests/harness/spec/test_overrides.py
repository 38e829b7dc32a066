"""Values of a spec that texts replace."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.spec.loading import load_specs


def test_set_overrides_any_key_and_its_mistakes_name_it(spec_file):
    (loaded,) = load_specs(
        spec_file, ["decoding.temperature=0.7", "metrics.0.length.scale=2", "seed=5"]
    )
    assert loaded.spec.decoding.temperature == 0.7
    assert loaded.spec.metrics == [{"length": {"scale": 2}}]
    assert loaded.spec.seed == 5
    with pytest.raises(
        InputError, match=r"--set decoding\.temprature=1: unknown key 'temprature'"
    ):
        load_specs(spec_file, ["decoding.temprature=1"])
    with pytest.raises(InputError, match="expected KEY=VALUE"):
        load_specs(spec_file, ["seed"])
    with pytest.raises(
        InputError, match="'metrics.7' is no key of the spec: no '7' in list"
    ):
        load_specs(spec_file, ["metrics.7=cider"])
