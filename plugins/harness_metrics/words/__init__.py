"""The words and n-grams of captions as integers, which the metrics of several families
count over a whole corpus.
"""
