"""Functions and classes with the calls of programs that carry the COCO toolkit's jars
or a copy of its code, other than the toolkit itself (:mod:`caption_kernels.coco`).

:mod:`caption_kernels.drop_ins.aac_metrics` is for aac-metrics,
:mod:`caption_kernels.drop_ins.self_critical` for self-critical training.
``python -m benchmarks.drop_in`` of the repository of caption-harness compares the
digits with a checkout of each.
"""
