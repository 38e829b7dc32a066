"""Runs of caption-harness as data sets with cards,
in folders and on the Hugging Face hub.
"""

from caption_hub.data_set import push as push
