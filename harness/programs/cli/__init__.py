"""The verb ``env``."""
