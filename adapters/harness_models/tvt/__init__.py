"""TVT: video captions by a transformer with one encoder per view."""
