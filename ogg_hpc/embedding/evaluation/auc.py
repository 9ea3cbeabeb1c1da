"""Area under the ROC curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class AUC(NamedTuple):
    """An estimated area under the ROC curve.

    Attributes
    ----------
    value : float
        Probability that a positive scores higher than a negative; equal scores count one half.
    error : float
        Its standard error, by the placement values of DeLong, DeLong and Clarke-Pearson
        (Biometrics 1988); NaN where there is one positive or one negative alone.
    """

    value: float
    error: float

    def record(self) -> dict[str, Any]:
        """Return value, standard error and the interval that holds the truth 95 times of 100."""
        reach = 1.96 * self.error
        interval = [max(0.0, self.value - reach), min(1.0, self.value + reach)]
        return {"auc": self.value, "error": self.error, "interval_95": interval}


def auc(positives: NDArray[Any], negatives: NDArray[Any]) -> AUC:
    """Return the area under the ROC curve of (k,) and (l,) scores, in O((k + l) log(k + l))."""
    below = _share_below(positives, negatives)
    above = 1 - _share_below(negatives, positives)
    if min(len(below), len(above)) < 2:
        return AUC(float(below.mean()), float("nan"))
    variance = below.var(ddof=1) / len(below) + above.var(ddof=1) / len(above)
    return AUC(float(below.mean()), float(np.sqrt(variance)))


def _share_below(scores: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each score the share of others below it, equal ones as one half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores, side="left")
    not_above = np.searchsorted(ordered, scores, side="right")
    return (below + not_above) / (2 * len(ordered))
