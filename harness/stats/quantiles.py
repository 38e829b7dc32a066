"""Normal and Student quantiles of single numbers, with the same bits on every machine,
and the interval of a share.

Importing ``scipy.special`` takes longer than scoring a small file, and its digits are
those of the C library. The two functions of the normal distribution are those of
Cephes, with the same operations in the same order as scipy's; Student's are within a
few units in the last place of scipy's.

References
----------
Moshier (1989), *Methods and Programs for Mathematical Functions* (the Cephes library):
ndtr.c and ndtri.c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from caption_kernels import exp, log

# Cephes, ndtr.c: erfc in [1, 8) is exp(-x²) P/Q, from there on exp(-x²) R/S; erf below
# 1 is x T/U. U, Q and S begin with 1.
_P = (
    2.46196981473530512524e-10,
    5.64189564831068821977e-1,
    7.46321056442269912687e0,
    4.86371970985681366614e1,
    1.96520832956077098242e2,
    5.26445194995477358631e2,
    9.34528527171957607540e2,
    1.02755188689515710272e3,
    5.57535335369399327526e2,
)
_Q = (
    1.0,
    1.32281951154744992508e1,
    8.67072140885989742329e1,
    3.54937778887819891062e2,
    9.75708501743205489753e2,
    1.82390916687909736289e3,
    2.24633760818710981792e3,
    1.65666309194161350182e3,
    5.57535340817727675546e2,
)
_R = (
    5.64189583547755073984e-1,
    1.27536670759978104416e0,
    5.01905042251180477414e0,
    6.16021097993053585195e0,
    7.40974269950448939160e0,
    2.97886665372100240670e0,
)
_S = (
    1.0,
    2.26052863220117276590e0,
    9.39603524938001434673e0,
    1.20489539808096656605e1,
    1.70814450747565897222e1,
    9.60896809063285878198e0,
    3.36907645100081516050e0,
)
_T = (
    9.60497373987051638749e0,
    9.00260197203842689217e1,
    2.23200534594684319226e3,
    7.00332514112805075473e3,
    5.55923013010394962768e4,
)
_U = (
    1.0,
    3.35617141647503099647e1,
    5.21357949780152679795e2,
    4.59432382970980127987e3,
    2.26290000613890934246e4,
    4.92673942608635921086e4,
)

# Cephes, ndtri.c: quotients for the middle, and for the tails where sqrt(-2 log p) is
# below 8 and from 8 on.
_P0 = (
    -5.99633501014107895267e1,
    9.80010754185999661536e1,
    -5.66762857469070293439e1,
    1.39312609387279679503e1,
    -1.23916583867381258016e0,
)
_Q0 = (
    1.0,
    1.95448858338141759834e0,
    4.67627912898881538453e0,
    8.63602421390890590575e1,
    -2.25462687854119370527e2,
    2.00260212380060660359e2,
    -8.20372256168333339912e1,
    1.59056225126211695515e1,
    -1.18331621121330003142e0,
)
_P1 = (
    4.05544892305962419923e0,
    3.15251094599893866154e1,
    5.71628192246421288162e1,
    4.40805073893200834700e1,
    1.46849561928858024014e1,
    2.18663306850790267539e0,
    -1.40256079171354495875e-1,
    -3.50424626827848203418e-2,
    -8.57456785154685413611e-4,
)
_Q1 = (
    1.0,
    1.57799883256466749731e1,
    4.53907635128879210584e1,
    4.13172038254672030440e1,
    1.50425385692907503408e1,
    2.50464946208309415979e0,
    -1.42182922854787788574e-1,
    -3.80806407691578277194e-2,
    -9.33259480895457427372e-4,
)
_P2 = (
    3.23774891776946035970e0,
    6.91522889068984211695e0,
    3.93881025292474443415e0,
    1.33303460815807542389e0,
    2.01485389549179081538e-1,
    1.23716634817820021358e-2,
    3.01581553508235416007e-4,
    2.65806974686737550832e-6,
    6.23974539184983293730e-9,
)
_Q2 = (
    1.0,
    6.02427039364742014255e0,
    3.67983563856160859403e0,
    1.37702099489081330271e0,
    2.16236993594496635890e-1,
    1.34204006088543189037e-2,
    3.28014464682127739104e-4,
    2.89247864745380683936e-6,
    6.79019408009981274425e-9,
)
_TAIL = 0.13533528323661269189
"""exp(-2): probabilities between it and 1 - exp(-2) are the middle."""
_ROOT_2PI = 2.50662827463100050242
_ROOT_HALF = 0.707106781186547524400844362104849039
_LARGEST = 7.09782712893383996843e2
"""Largest exponent of exp: log(2**1024)."""
_ROOT_PI = 1.7724538509055160273
_GAMMA_RATIO = (
    39325 / 33554432,
    869 / 4194304,
    -399 / 262144,
    -21 / 32768,
    5 / 1024,
    1 / 128,
    -1 / 8,
    1.0,
)
"""Γ(a + 1/2) / (Γ(a) sqrt(a)) in powers of 1/a (DLMF 5.11.13)."""
_LARGE = 50.0
"""Argument from which the powers in :data:`_GAMMA_RATIO` suffice: the next one is below
2^-57.
"""
_MOST_TERMS = 10_000


def normal_cdf(x: float) -> float:
    """Return the probability that a standard normal number is at most ``x``.

    >>> normal_cdf(0.0), normal_cdf(-40.0)
    (0.5, 0.0)
    """
    scaled = x * _ROOT_HALF
    size = abs(scaled)
    if math.isnan(x) or size < 1.0:
        return 0.5 + 0.5 * _erf(scaled)
    tail = 0.5 * _erfc(size)
    return 1.0 - tail if scaled > 0 else tail


def normal_quantile(p: float) -> float:
    """Return the number that a standard normal number is below with probability ``p``;
    infinite for 0 and 1, NaN outside [0, 1].

    >>> round(normal_quantile(0.975), 6), normal_quantile(0.5)
    (1.959964, 0.0)
    """
    if p == 0.0 or p == 1.0:
        return math.inf if p else -math.inf
    if not 0.0 < p < 1.0:
        return math.nan

    low = p <= 1.0 - _TAIL
    share = p if low else 1.0 - p
    if share > _TAIL:
        centred = share - 0.5
        square = centred * centred
        ratio = square * _polynomial(square, _P0) / _polynomial(square, _Q0)
        return (centred + centred * ratio) * _ROOT_2PI

    root = math.sqrt(-2.0 * log(share))
    first = root - log(root) / root
    inverse = 1.0 / root
    above, under = (_P1, _Q1) if root < 8.0 else (_P2, _Q2)
    size = first - inverse * _polynomial(inverse, above) / _polynomial(inverse, under)
    return -size if low else size


def student_tail(freedom: float, t: float) -> float:
    """Return the probability that a number of Student's distribution is above ``t``,
    for ``freedom`` > 0, whole or not.

    >>> round(student_tail(9, 1.833113), 6), student_tail(3, 0.0)
    (0.05, 0.5)
    """
    square = t * t / freedom
    if not square < math.inf:
        return math.nan if math.isnan(t) else float(t < 0)

    # Both tails are I_x(a, 1/2), the middle is I_y(1/2, a); of the two, the smaller one
    # is computed.
    a = freedom / 2
    x = 1.0 / (1.0 + square)
    y = square / (1.0 + square)
    half = 0.5 * math.sqrt(square) * _student_factor(a, square, a + 0.5)
    tail = (
        half * _beta_fraction(a, 0.5, x, y)
        if abs(t) > 1.0
        else 0.5 - half * _beta_fraction(0.5, a, y, x)
    )
    return tail if t > 0 else 1.0 - tail


@lru_cache(maxsize=256)
def student_quantile(freedom: float, p: float) -> float:
    """Return the number that a number of Student's distribution is below with
    probability ``p``, by Newton's method.

    >>> round(student_quantile(1, 0.975), 6), round(student_quantile(9, 0.95), 6)
    (12.706205, 1.833113)
    """
    if p == 0.5:
        return 0.0
    if 0.0 < p < 0.5:
        return -student_quantile(freedom, 1.0 - p)
    if not 0.5 < p < 1.0:
        return normal_quantile(p)

    t = normal_quantile(p)
    # The tail is convex: from the normal quantile, which is smaller, the steps go
    # upwards until they are rounding errors.
    while True:
        factor = _student_factor(freedom / 2, t * t / freedom, freedom / 2 + 0.5)
        density = factor / math.sqrt(freedom)
        step = (student_tail(freedom, t) - (1.0 - p)) / density
        if not t + step > t:
            return t
        t += step


def _student_factor(a: float, square: float, power: float) -> float:
    """Return (1 + square)^-power / B(a, 1/2)."""
    # Γ(a + 1/2) / Γ(a) by its expansion for large a, reached by the recurrence of Γ.
    ratio = 1.0
    while a < _LARGE:
        ratio = ratio * (a / (a + 0.5))
        a = a + 1.0
    inverse = 1.0 / a
    ratio *= math.sqrt(a) * _polynomial(inverse, _GAMMA_RATIO) / _ROOT_PI

    # log(1 + square) without the rounding error of the sum.
    above = 1.0 + square
    logarithm = log(above) * (square / (above - 1.0)) if above > 1.0 else square
    return ratio * exp(-power * logarithm)


def _beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """Return I_x(a, b) B(a, b) / (x^a y^b) with y = 1 - x by its continued fraction.

    References
    ----------
    DiDonato & Morris (1992), *Algorithm 708: Significant Digit Computation of the
    Incomplete Beta Function Ratios*, ACM TOMS 18(3), equation 9; Lentz (1976),
    *Generating Bessel Functions in Mie Scattering Calculations*, Applied Optics 15(3),
    for its evaluation.
    """
    above = 1.0 + (a * y - b * x)
    value = c = above * (a / (a + 1.0))
    d = 0.0
    n = 0
    while True:
        n += 1
        end = a + 2 * n - 1.0
        term = n * (b - n) * x
        numerator = (a + n - 1.0) / end * ((a + b + n - 1.0) / end) * term * x
        denominator = n + term / end + (a + n) / (end + 2.0) * (above + n * (1.0 + y))
        c = denominator + numerator / c
        d = 1.0 / (denominator + numerator * d)
        before = value
        value = value * (c * d)
        if abs(value - before) <= 2.0**-53 * value or n == _MOST_TERMS:
            return 1.0 / value


def _erf(x: float) -> float:
    """Return the error function of a number between -1 and 1."""
    square = x * x
    return x * _polynomial(square, _T) / _polynomial(square, _U)


def _erfc(x: float) -> float:
    """Return 1 less the error function from 1 on; 0 where exp underflows."""
    if -x * x < -_LARGEST:
        return 0.0
    above, under = (_P, _Q) if x < 8.0 else (_R, _S)
    return exp(-x * x) * _polynomial(x, above) / _polynomial(x, under)


def _polynomial(x: float, coefficients: Sequence[float]) -> float:
    """Return the polynomial with these coefficients, the highest power first."""
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def wilson_interval(
    share: float, n_examples: int, level: float = 0.95
) -> tuple[float, float]:
    """Return the score interval of a binomial share: (low, high) in [0, 1], which
    contains ``share``.

    A bootstrap of shares near 0 or 1 covers too rarely, and has no spread at 0 and 1.
    For the mean of any scores in [0, 1] that are all 0 (or all 1) the interval is that
    of the share of scores other than 0, which bounds the mean.

    Parameters
    ----------
    share : float
        Share of successes, in [0, 1].
    n_examples : int
        Number of trials, at least 1.
    level : float
        Nominal coverage.

    References
    ----------
    Wilson (1927), *Probable Inference, the Law of Succession, and Statistical
    Inference*, JASA 22(158); Brown, Cai & DasGupta (2001), *Interval Estimation for a
    Binomial Proportion*, Statistical Science 16(2).

    Examples
    --------
    >>> low, high = wilson_interval(0.0, 20)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.161)
    """
    z = normal_quantile((1 + level) / 2)
    spread = z * np.sqrt(share * (1 - share) / n_examples + z**2 / (4 * n_examples**2))
    scale = 1 + z**2 / n_examples
    middle = share + z**2 / (2 * n_examples)
    low, high = ((middle + sign * spread) / scale for sign in (-1, 1))
    return max(0.0, min(float(low), share)), min(1.0, max(float(high), share))
