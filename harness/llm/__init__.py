"""Language models on servers. In: requests. Out: replies, and their store on disk.

Adapters and metrics that ask a model use :mod:`harness.llm.client` and
:mod:`harness.llm.store`.
"""
