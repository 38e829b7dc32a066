"""Quality against diversity of whole corpora: corpus BLEU,
and discrepancies (QDisc) of pairs of measures.
"""
