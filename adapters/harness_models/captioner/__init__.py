"""Word-level captioner of scenes in four architectures, which differ in the position of
the image: init, pre, par, merge.
"""
