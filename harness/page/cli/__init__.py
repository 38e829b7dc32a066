"""The verb ``report``."""
