"""Events on the page: timelines of videos and boxes over images, with the pairs of
events on which a score rests.

In: finished runs. Out: the section of the page, and drawings for papers.
"""
