"""Normal and Student quantiles of single numbers, with the digits of scipy, and the interval of a share.

Importing ``scipy.special`` takes longer than scoring a small file. The two functions of the normal distribution are those of Cephes, with
the same operations in the same order as scipy's; the Student quantiles of 95 % intervals of small runs are a table of scipy's values.

References
----------
Moshier (1989), *Methods and Programs for Mathematical Functions* (the Cephes library): ndtr.c and ndtri.c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

LEVEL = 0.975
"""Probability of the quantiles in :data:`STUDENT`."""

# Cephes, ndtr.c: erfc in [1, 8) is exp(-x²) P/Q, from there on exp(-x²) R/S; erf below 1 is x T/U. U, Q and S begin with 1.
_P = (
    2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
    1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
    5.57535335369399327526e2,
)  # fmt: skip
_Q = (
    1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
    1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2,
)  # fmt: skip
_R = (
    5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0, 6.16021097993053585195e0,
    7.40974269950448939160e0, 2.97886665372100240670e0,
)  # fmt: skip
_S = (
    1.0, 2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1, 1.70814450747565897222e1,
    9.60896809063285878198e0, 3.36907645100081516050e0,
)  # fmt: skip
_T = (
    9.60497373987051638749e0, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3,
    5.55923013010394962768e4,
)  # fmt: skip
_U = (
    1.0, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3, 2.26290000613890934246e4,
    4.92673942608635921086e4,
)  # fmt: skip

# Cephes, ndtri.c: quotients for the middle, and for the tails where sqrt(-2 log p) is below 8 and from 8 on.
_P0 = (
    -5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1,
    -1.23916583867381258016e0,
)  # fmt: skip
_Q0 = (
    1.0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1, -2.25462687854119370527e2,
    2.00260212380060660359e2, -8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0,
)  # fmt: skip
_P1 = (
    4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1,
    1.46849561928858024014e1, 2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2,
    -8.57456785154685413611e-4,
)  # fmt: skip
_Q1 = (
    1.0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1, 1.50425385692907503408e1,
    2.50464946208309415979e0, -1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4,
)  # fmt: skip
_P2 = (
    3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0, 1.33303460815807542389e0,
    2.01485389549179081538e-1, 1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6,
    6.23974539184983293730e-9,
)  # fmt: skip
_Q2 = (
    1.0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0, 2.16236993594496635890e-1,
    1.34204006088543189037e-2, 3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9,
)  # fmt: skip
_TAIL = 0.13533528323661269189
"""exp(-2): probabilities between it and 1 - exp(-2) are the middle."""
_ROOT_2PI = 2.50662827463100050242
_ROOT_HALF = 0.707106781186547524400844362104849039
_LARGEST = 7.09782712893383996843e2
"""Largest exponent of exp: log(2**1024)."""


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
    """Return the number that a standard normal number is below with probability ``p``; infinite for 0 and 1, NaN outside [0, 1].

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
        return (centred + centred * (square * _polynomial(square, _P0) / _polynomial(square, _Q0))) * _ROOT_2PI
    root = math.sqrt(-2.0 * math.log(share))
    first, inverse = root - math.log(root) / root, 1.0 / root
    above, under = (_P1, _Q1) if root < 8.0 else (_P2, _Q2)
    size = first - inverse * _polynomial(inverse, above) / _polynomial(inverse, under)
    return -size if low else size


def student_quantile(freedom: float, p: float) -> float:
    """Return the number that a number of Student's distribution is below with probability ``p``.

    >>> round(student_quantile(1, 0.975), 6), round(student_quantile(9, 0.95), 6)
    (12.706205, 1.833113)
    """
    if p == LEVEL and 1 <= freedom <= len(STUDENT) and freedom == int(freedom):
        return STUDENT[int(freedom) - 1]
    from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

    return float(stdtrit(freedom, p))


def _erf(x: float) -> float:
    """Return the error function of a number between -1 and 1."""
    square = x * x
    return x * _polynomial(square, _T) / _polynomial(square, _U)


def _erfc(x: float) -> float:
    """Return 1 less the error function of a number from 1 on; 0 where exp underflows."""
    if -x * x < -_LARGEST:
        return 0.0
    above, under = (_P, _Q) if x < 8.0 else (_R, _S)
    return math.exp(-x * x) * _polynomial(x, above) / _polynomial(x, under)


def _polynomial(x: float, coefficients: Sequence[float]) -> float:
    """Return the polynomial with these coefficients, that of the highest power first."""
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


STUDENT = (
    12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934, 2.5705818356363146, 2.4469118511449786,
    2.364624251592784, 2.306004135204166, 2.262157162798205, 2.228138851986274, 2.200985160091639, 2.1788128296672284, 2.1603686564627913,
    2.144786687917804, 2.131449545559776, 2.1199052992212546, 2.1098155778333156, 2.1009220402410382, 2.0930240544083087,
    2.085963447265864, 2.0796138447276795, 2.0738730679040254, 2.0686576104190486, 2.0638985616280245, 2.0595385527532972,
    2.0555294386428735, 2.0518305164802846, 2.0484071417952454, 2.045229642132703, 2.0422724563012378, 2.039513446396408,
    2.0369333434601016, 2.0345152974493383, 2.0322445093177186, 2.030107928250343, 2.0280940009804502, 2.0261924630291093,
    2.0243941639119694, 2.022690920036761, 2.021075390306273, 2.019540970441376, 2.0180817028184443, 2.016692199227824,
    2.0153675744437636, 2.014103388880846, 2.012895598919429, 2.0117405137297655, 2.010634757624232, 2.0095752371292392,
    2.008559112100761, 2.007583770315836, 2.006646805061688, 2.0057459953178687, 2.0048792881880564, 2.0040447832891455,
    2.003240718847872, 2.002465459291007, 2.0017174841452356, 2.000995378088267, 2.0002978220142604, 1.999623584994939,
    1.9989715170333788, 1.998340542520741, 1.997729654317693, 1.9971379083920038, 1.9965644189523117, 1.996008354025296,
    1.9954689314298435, 1.9949454151072374, 1.994437111771186, 1.9939433678456255, 1.9934635666618719, 1.992997125889855,
    1.992543495180932, 1.9921021540022417, 1.9916726096446642, 1.9912543953883846, 1.9908470688116906, 1.9904502102301285,
    1.990063421254446, 1.9896863234569029, 1.989318557136572, 1.9889597801751624, 1.9886096669757083, 1.9882679074772216,
    1.98793420623902, 1.9876082815890708, 1.9872898648311692, 1.986978699506281, 1.9866745407037683, 1.9863771544186177, 1.98608631695113,
    1.9858018143458227, 1.985523441866604, 1.9852510035054978, 1.984984311522457, 1.9847231860139845, 1.9844674545084815,
    1.9842169515864174,
)  # fmt: skip
"""``scipy.special.stdtrit(freedom, 0.975)`` for 1 to 99 degrees of freedom; a larger run has the time to import scipy."""


def wilson_interval(share: float, n_examples: int, level: float = 0.95) -> tuple[float, float]:
    """Return the score interval of a binomial share: (low, high) in [0, 1], which contains ``share``.

    A bootstrap of shares near 0 or 1 covers too rarely, and has no spread at 0 and 1. For the mean of any scores in [0, 1] that
    are all 0 (or all 1) the interval is that of the share of scores other than 0, which bounds the mean.

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
    Wilson (1927), *Probable Inference, the Law of Succession, and Statistical Inference*, JASA 22(158); Brown, Cai & DasGupta (2001),
    *Interval Estimation for a Binomial Proportion*, Statistical Science 16(2).

    Examples
    --------
    >>> low, high = wilson_interval(0.0, 20)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.161)
    """
    z = normal_quantile((1 + level) / 2)
    spread = z * np.sqrt(share * (1 - share) / n_examples + z**2 / (4 * n_examples**2))
    scale = 1 + z**2 / n_examples
    low, high = ((share + z**2 / (2 * n_examples) + sign * spread) / scale for sign in (-1, 1))
    return max(0.0, min(float(low), share)), min(1.0, max(float(high), share))
