"""SubRip subtitles for caption-harness: reader, adapter, task and hook."""
