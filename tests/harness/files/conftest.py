"""The chat server of :mod:`chat_server` as a fixture."""

from chat_server import server

__all__ = ["server"]
