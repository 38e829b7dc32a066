"""The chat server of :mod:`tests.support.chat_server` as a fixture."""

from tests.support.chat_server import server

__all__ = ["server"]
