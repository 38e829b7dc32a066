"""Certify an implementation of a metric against the test vectors of caption-kernels:
``python -m caption_kernels_reference.certify``.
"""

from caption_kernels_reference.certify.vectors import METRICS, Report, certify

__all__ = ["METRICS", "Report", "certify"]
