"""Quality against diversity of whole corpora: corpus BLEU, and discrepancies (QDisc) of metric pairs."""
