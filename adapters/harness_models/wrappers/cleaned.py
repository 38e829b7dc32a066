"""The ``cleaned`` adapter: captions of a model without thinking,
marks of chats, prefixes and the like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.contracts import Candidates, Decoding, Failure, Generation
from harness.contracts.models import Adapter, GeneratesUnordered
from harness.errors import InputError
from harness.files.generated.cleaning import REPEATS, check_clean, clean
from harness.registry import resolve
from harness_models.wrappers.wrapper import Wrapper


class Cleaned(Wrapper):
    """The captions of ``model`` without what ``clean`` names.

    A caption of which nothing is left is empty. Reference scores are those of the
    model.

    Parameters
    ----------
    model
        An adapter: its name, ``{name: {parameters}}``, or an instance.
    clean
        What to remove: some of ``think``, ``marks``, ``echo``, ``prefix``, ``markdown``
        (docs/outputs.md).

    Raises
    ------
    InputError
        For an unknown name, and for nothing to remove.
    """

    kind = "cleaned"

    def __init__(
        self, *, model: str | Mapping[str, Any] | Adapter, clean: str | Sequence[str]
    ) -> None:
        self.clean = check_clean(clean)
        if not self.clean or REPEATS in self.clean:
            content = "nothing"
            if self.clean:
                content = f"'{REPEATS}', which is about records of files"
            raise InputError(
                f"clean is {content}; expected some of think, marks, echo, prefix, "
                "markdown",
                parameter="clean",
                value=clean,
            )

        self.model: Any = resolve("adapters", model)
        if isinstance(self.model, GeneratesUnordered):
            self.generate_unordered = self._pass_on

    def fingerprint(self) -> str:
        """Return what is removed and the fingerprint of the model."""
        return f"cleaned|{','.join(self.clean)}|{self.model.fingerprint()}"

    def finish(
        self, result: Candidates | Generation | Failure, decoding: Decoding
    ) -> Candidates | Generation | Failure:
        """Return a result with cleaned captions; a failure as it is."""
        if isinstance(result, Failure):
            return result
        if isinstance(result, Generation):
            return replace(result, candidates=self._clean(result.candidates))
        return self._clean(result)

    def _clean(self, texts: Candidates) -> Candidates:
        return tuple(clean(text, self.clean) for text in texts)
