"""O2NA of this project: video captions built around objects, in three steps."""
