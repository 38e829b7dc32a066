"""Text metrics of image captions, compiled: PTB tokeniser, BLEU, ROUGE-L,
CIDEr and METEOR 1.5.

Two engines have the same functions and classes, and give the same digits: the extension
``caption_kernels._compiled``, and the readable Python of
:mod:`caption_kernels_reference`, a distribution of its own
(``pip install caption-kernels-reference``), which is hundreds of times slower. The
environment variable ``CAPTION_KERNELS`` (``compiled`` or ``reference``) chooses one;
without it the extension is used where it is installed.

:data:`engine` names the engine in use, :data:`build_hash` its sources: numbers that are
stored under the version and this hash stay valid until the next change of a kernel.
"""
# pyright: reportWildcardImportFromLibrary=false

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from caption_kernels.binding.engine import REFERENCE

# public: type checkers want the alias
from caption_kernels.binding.engine import build_hash as build_hash
from caption_kernels.binding.engine import engine as engine

if TYPE_CHECKING or engine == "compiled":
    from caption_kernels._compiled import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        """Return a name of the reference engine, which imports modules of this package
        and so is imported when it is first used.
        """
        reference = import_module(REFERENCE)
        if name not in reference.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(reference, name)


__version__ = "0.1.0"
