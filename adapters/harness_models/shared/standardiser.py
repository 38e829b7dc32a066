"""Standardisation of input features over a training set, folded into the first linear
layer when a model is saved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

MIN_DEVIATION = 1e-4
"""Columns with a standard deviation at or below this value count as constant:
they are shifted, not scaled.
"""


@dataclass(frozen=True)
class Standardiser:
    """Column-wise map ``(x - mean) / deviation``.

    Examples
    --------
    >>> standardiser = Standardiser.fit(np.array([[0.0, 7.0], [4.0, 7.0]]))
    >>> standardiser(torch.tensor([[0.0, 8.0]]))
    tensor([[-1.,  1.]])
    """

    mean: torch.Tensor
    """Column means of the training set, shape (width,), float32."""
    deviation: torch.Tensor
    """Population standard deviations, shape (width,), float32; 1 for constant columns.
    """

    @classmethod
    def fit(cls, rows: np.ndarray) -> Standardiser:
        """Return the standardiser of training rows (N, width);
        means and deviations are computed in float64.
        """
        exact = torch.from_numpy(np.ascontiguousarray(rows)).double()
        deviation = exact.std(0, correction=0)
        return cls(
            exact.mean(0).float(),
            deviation.where(deviation > MIN_DEVIATION, 1.0).float(),
        )

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return standardised values of ``x`` (..., width), same shape."""
        return (x - self.mean) / self.deviation

    def fold_into(
        self, tensors: dict[str, torch.Tensor], linear: str
    ) -> dict[str, torch.Tensor]:
        """Return ``tensors`` with the layer ``linear`` changed so that it takes
        features that are not standardised.

        Parameters
        ----------
        tensors
            State dict with ``{linear}.weight`` (outputs, width) and ``{linear}.bias``
            (outputs,).
        linear
            Key prefix of the first linear layer.
        """
        weight = tensors[f"{linear}.weight"].double() / self.deviation.double()
        bias = tensors[f"{linear}.bias"]
        shifted = bias.double() - weight @ self.mean.double()
        return {
            **tensors,
            f"{linear}.weight": weight.to(bias.dtype),
            f"{linear}.bias": shifted.to(bias.dtype),
        }
