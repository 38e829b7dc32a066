"""Metrics over an embedding."""

from harness_metrics.bases.embedding_metric import EmbeddingMetric


def test_label_needs_and_signature_follow_the_embedding():
    metric = EmbeddingMetric(
        "spread",
        {"bow": {"dimensions": 9}},
        None,
        "k=2",
        settings=["k:2", "seed:0"],
        bounds=(0.0, 1.0),
    )
    assert (
        metric.spec.name == "spread(bow, k=2)"
        and metric.signature() == "spread|k:2|seed:0|bow|hashed:9"
    )
    assert metric.spec.needs == {"references", "embeddings"} and metric.spec.bounds == (
        0.0,
        1.0,
    )
    assert EmbeddingMetric("spread", "bow", True, references=False).spec.needs == {
        "embeddings"
    }
    assert (
        EmbeddingMetric("spread", "bow", True, "k=2").signature()
        == "spread|k=2|bow|hashed:4096"
    )
