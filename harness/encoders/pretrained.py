"""Models of transformers from local folders, of which no weight that is read may be
missing.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.encoders.memory import is_out_of_memory
from harness.errors import InputError

POOLER = "pooler"
"""Part of BERT models that most checkpoints lack, and whose output no encoder reads."""
_SHOWN = 3
"""Names of missing weights in a message."""


@contextmanager
def _without_report() -> Generator[None]:
    """Context in which transformers writes no table of the weights that it did not
    find or use.
    """
    import transformers

    logging: Any = transformers.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def load_pretrained(
    factory: Any, folder: Path, *, unread: Sequence[str] = (), **options: Any
) -> Any:
    """Return a model of a folder; nothing is downloaded.

    Parameters
    ----------
    factory : class
        Class of transformers that loads the model, such as ``AutoModel``.
    folder : Path
        Folder of the model.
    unread : sequence of str
        Parts of the model that may be missing.
    **options
        Further parameters of the model.

    Raises
    ------
    InputError
        For a model that transformers cannot load, and weights that are missing:
        transformers fills them with random numbers.
    """
    try:
        with _without_report():
            model, info = factory.from_pretrained(
                str(folder), local_files_only=True, output_loading_info=True, **options
            )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"the folder has no weights that transformers can load: {reason[:200]}",
            str(folder),
        ) from error

    missing = [
        name
        for name in sorted(map(str, info["missing_keys"]))
        if not set(unread) & set(name.split("."))
    ]
    if missing:
        more = f", and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise InputError(
            f"the weights are not those of a {type(model).__name__}: there is no "
            f"{', '.join(missing[:_SHOWN])}{more}",
            str(folder),
        )
    return model
