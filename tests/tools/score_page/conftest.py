"""A real browser for the page."""

from tests.support.browser import browse, violations

__all__ = ["browse", "violations"]
