"""Statistics that do not know what a caption is."""
