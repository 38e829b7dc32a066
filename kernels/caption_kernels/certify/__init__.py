"""Certify an implementation of a metric against the test vectors: ``python -m caption_kernels.certify MODULE:FUNCTION --metric NAME``."""

from caption_kernels.certify.vectors import METRICS, Report, certify

__all__ = ["METRICS", "Report", "certify"]
