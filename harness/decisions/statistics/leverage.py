"""Variance of a linear estimate from residuals: corrections for what each unit
determines of its own fit, and degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SMALLEST_RESIDUAL = 1e-9
"""Share of a unit's variance that its residual must keep; a unit with less determines
its own fit, and its variance is unknown.
"""


@dataclass(frozen=True, eq=False)
class LinearEstimate:
    """An estimate that is a weighted sum over units, beside the residuals of a fit to
    the same units.

    With the values y of the units, the estimate is the sum of c_u y_u, and what unit u
    contributes to its error is estimated by its residual times c_u: element u of K y,
    with K = diag(c) - L R'. L R' is what the fit takes away; it has few columns, so
    that K is never formed.
    """

    weights: np.ndarray
    """c, shape (U,)."""
    left: np.ndarray
    """L, shape (U, k)."""
    right: np.ndarray
    """R, shape (U, k)."""

    def correct_residuals(self) -> tuple[np.ndarray, float]:
        """Return the factors (U,) of the squared residuals that make the variance
        unbiased, and its degrees of freedom.

        Both hold for values that are independent and of equal variance. The factor is
        c_u² over element u of the diagonal of K K'. The sum of factor times squared
        residual is a quadratic form in y, whose mean and variance are those of a
        multiple of a chi-square number with the degrees of freedom (Satterthwaite): few
        where a few weights, or a few units far from the others, decide. They are 0
        where a unit with a weight determines its own fit.

        References
        ----------
        MacKinnon & White (1985), *Some heteroskedasticity-consistent covariance matrix
        estimators with improved finite sample properties*, Journal of Econometrics 29
        (HC2); Bell & McCaffrey (2002), *Bias reduction in standard errors for linear
        regression with multi-stage samples*, Survey Methodology 28(2), for clusters and
        the degrees of freedom; Imbens & Kolesár (2016), *Robust standard errors in
        small samples*, Review of Economics and Statistics 98(4).
        """
        c = self.weights
        left = self.left
        right = self.right
        squares = c**2
        gram = right.T @ right
        residual_squares = (
            squares
            - 2 * c * np.sum(left * right, axis=1)
            + np.einsum("uk,kl,ul->u", left, gram, left)
        )

        # A unit that determines its own fit has no residual to speak of.
        smallest = SMALLEST_RESIDUAL * squares
        factors = np.divide(
            squares,
            residual_squares,
            out=np.zeros_like(c),
            where=residual_squares > smallest,
        )
        counts = squares > SMALLEST_RESIDUAL * squares.max(initial=0.0)
        if np.any((residual_squares <= smallest) & counts):
            return factors, 0.0

        # With F = diag(factors), the variance of the quadratic form is twice the
        # squared norm of F^1/2 K K' F^1/2. This matrix is the diagonal F c² plus
        # P M P', where P has the columns F^1/2 L and F^1/2 diag(c) R.
        diagonal = factors * squares
        columns = np.sqrt(factors)[:, None] * np.hstack([left, c[:, None] * right])
        unit = np.eye(left.shape[1])
        middle = np.block([[gram, -unit], [-unit, np.zeros_like(unit)]])
        product = middle @ (columns.T @ columns)
        crossed = np.sum(diagonal * np.einsum("uk,kl,ul->u", columns, middle, columns))
        norm = np.sum(diagonal**2) + 2 * crossed + np.trace(product @ product)
        return factors, float(squares.sum() ** 2 / norm)
