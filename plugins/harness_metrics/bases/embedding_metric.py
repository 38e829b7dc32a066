"""Base of metrics over an embedding: its resolution, the needs of the metric, its
displayed name and its signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness import registry
from harness.contracts import Embedding, Level, MetricSpec, fitted_fields
from harness.contracts.bases import Parameterised

EmbeddingSpec = str | Mapping[str, Any] | Embedding
"""A registered embedding: name, ``{name: {parameters}}`` or instance."""


class EmbeddingMetric(Parameterised):
    """Base of metrics over an embedding, shown as ``name(embedding, arguments)``.

    Parameters
    ----------
    name : str
        Registered name.
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    higher : bool or None
        Direction of the metric.
    *arguments : str
        Further parts of the displayed name.
    level : str
        Level of the metric.
    references : bool
        True for a metric that reads the references.
    settings : sequence of str, optional
        Further parts of the signature; by default the arguments.
    **fields
        Further fields of the :class:`MetricSpec`.
    """

    spec: MetricSpec

    def __init__(
        self,
        name: str,
        embedding: EmbeddingSpec,
        higher: bool | None,
        *arguments: str,
        level: Level = "set",
        references: bool = True,
        settings: Sequence[str] | None = None,
        **fields: Any,
    ) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        signature_settings = arguments if settings is None else settings
        self._signature = "|".join(
            [name, *signature_settings, self.embedding.signature()]
        )

        needs = {"embeddings", *getattr(self.embedding, "needs", ())}
        if references:
            needs.add("references")

        label = f"{name}({', '.join([self.embedding.name, *arguments])})"
        self.spec = replace(
            MetricSpec(label, higher, level, frozenset(needs)),
            **{**fitted_fields(self.embedding), **fields},
        )

    def signature(self) -> str:
        """Return the name, the settings and the signature of the embedding,
        such as ``mmd|minilm``.
        """
        return self._signature
