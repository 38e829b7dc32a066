"""A run that requests loggers says how to install them;
they are a plugin of their own, ``examples/loggers``.
"""
