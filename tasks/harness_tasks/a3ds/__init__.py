"""A3DS: 480,000 scenes of one object in a room, their captions, pictures and
reference-game test sets.
"""
