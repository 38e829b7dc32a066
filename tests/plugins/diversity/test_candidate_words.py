"""The metrics of the words of candidates: their contract, orders and signatures."""

import pytest

from harness.contracts import Metric
from harness.errors import HarnessError
from harness_metrics.diversity.distinct import Distinct, VocabularySize
from harness_metrics.diversity.novelty import Novelty
from harness_metrics.diversity.pairwise_bleu import PairwiseBleu
from harness_metrics.diversity.self_bleu import SelfBleu


def test_all_are_metrics():
    for metric in (SelfBleu(), Distinct(), VocabularySize(), PairwiseBleu(), Novelty()):
        assert isinstance(metric, Metric)


def test_invalid_orders():
    for create in (
        lambda: SelfBleu(n=0),
        lambda: Distinct(n=1.5),
        lambda: PairwiseBleu(n=5),
    ):  # type: ignore[arg-type]
        with pytest.raises(
            HarnessError, match="expected a whole number (of at least 1|from 1 to 4)"
        ) as caught:
            create()
        assert caught.value.parameter == "n"


def test_signatures_hold_the_parameters(tmp_path):
    assert SelfBleu(n=2, negative=True).signature() == "nsbleu|n:2|pooled|tok:ptb"
    assert SelfBleu(conditional=True).signature() == "self-bleu|n:4|per-example|tok:ptb"
    assert Distinct().signature() == "distinct|n:2|tok:ptb"
    assert VocabularySize().signature() == "vocabulary|tok:ptb"
    assert PairwiseBleu().signature() == "pairwise-bleu|n:4|smooth:add-one|tok:ptb"
    assert Novelty().signature() == "novelty|corpus:references|tok:ptb"
    (tmp_path / "train.txt").write_text("a dog\n")
    assert (
        Novelty(corpus=str(tmp_path / "train.txt")).signature()
        == "novelty|corpus:c7929c8af322|tok:ptb"
    )
