"""Programs in any language as metrics, distances, embeddings and adapters, over a
protocol of JSON Lines (docs/protocol.md).

In: entries of manifests with ``command``, the component ``command``, and texts. Out:
components whose numbers, vectors and captions a program computes; environments of
programs.
"""
