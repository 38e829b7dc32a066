"""Checks of a new instance against the contract of its kind: a missing member is
reported with the registered name.
"""

from __future__ import annotations

from harness.contracts import (
    Adapter,
    Distance,
    Embedding,
    Metric,
    MetricSpec,
    Reader,
    TokenScoreMetric,
)
from harness.errors import HarnessError

PROTOCOLS: dict[str, tuple[type, ...]] = {
    "metrics": (Metric, TokenScoreMetric),
    "distances": (Distance,),
    "embeddings": (Embedding,),
    "adapters": (Adapter,),
    "readers": (Reader,),
}
"""Kind -> its protocols; an instance has the members of one of them."""
_MEMBERS = {
    Metric: ("spec", "signature", "fit", "stats", "per_example", "reduce"),
    TokenScoreMetric: ("spec", "signature", "evaluate_scores", "per_example"),
    Distance: ("name", "signature", "matrices"),
    Embedding: ("name", "signature", "fit", "encode"),
    Adapter: ("fingerprint", "generate"),
    Reader: ("fingerprint", "__iter__"),
}
"""Protocol -> its members."""


def check_instance(kind: str, label: str, instance: object) -> None:
    """Raise :class:`HarnessError` when an instance lacks a member of every protocol of
    its kind.

    Parameters
    ----------
    kind : str
        Plural kind: ``metrics``, ``adapters``, ...
    label : str
        Kind and registered name for the message: ``metric 'overlap'``.
    instance : object
        The new component.
    """
    protocols = PROTOCOLS.get(kind, ())
    if not protocols:
        return
    lacking = [
        [name for name in _MEMBERS[protocol] if not hasattr(instance, name)]
        for protocol in protocols
    ]
    # The protocol that the instance comes nearest to.
    fewest = min(lacking, key=len)
    if fewest:
        members = ", ".join(f"'{name}'" for name in fewest)
        raise HarnessError(
            f"{label} ({type(instance).__name__}) has no {members}; "
            "docs/plugins.md lists its members"
        )
    if kind == "metrics":
        # Checked above; the protocol is unknown to type checkers.
        spec = getattr(instance, "spec")  # noqa: B009
        if not isinstance(spec, MetricSpec):
            raise HarnessError(f"{label}: spec is {spec!r:.80}; expected a MetricSpec")
