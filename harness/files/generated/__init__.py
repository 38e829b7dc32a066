"""Texts as models write them: what stands around a caption, what can be removed of it,
and what says that there is no caption.
"""
