"""harness: distribution-aware evaluation of captions and other conditional text."""

__version__ = "0.1.0"
