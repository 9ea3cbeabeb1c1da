"""Multi-label node classification by one-vs-rest logistic regression on the vectors."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import permutation, stream

NORMALISATIONS = ("l2", "none", "standard")
SOLVERS = ("lbfgs", "liblinear", "newton-cholesky")
_ITERATIONS = 1000  # far more than vectors of length 1 take
PROTOCOL = (
    "one-vs-rest logistic regression; the number k of classes of each test node is known, its k "
    "most probable classes are predicted"
)


@dataclass(frozen=True)
class ClassifySettings:
    """How nodes are classified.

    Attributes
    ----------
    fractions : tuple of float
        Parts of the labelled nodes that train the classifier.
    shuffles : int
        Random splits at each fraction.
    normalise : str
        Vectors at length 1 (``l2``), as they are (``none``), or each column at mean 0 and
        standard deviation 1 of the training part (``standard``).
    C : float
        Inverse strength of the regularisation.
    solver : str
        Of scikit-learn. Programs of the literature use ``liblinear``, which holds the constant
        back, too, and takes some three times as long.
    seed : int
        Of the splits.
    """

    fractions: tuple[float, ...] = (0.1, 0.5, 0.9)
    shuffles: int = 10
    normalise: str = "l2"
    C: float = 1.0
    solver: str = "lbfgs"
    seed: int = 0

    def __post_init__(self) -> None:
        for fraction in self.fractions:
            if not 0 < fraction < 1:
                raise SettingsError(f"a fraction to train on is in (0, 1), not {fraction}")
        if self.shuffles < 1:
            raise SettingsError(f"shuffles must be at least 1, not {self.shuffles}")
        if not 0 < self.C < np.inf:
            raise SettingsError(f"C must be positive and finite, not {self.C}")
        for name, known in (("normalise", NORMALISATIONS), ("solver", SOLVERS)):
            value = getattr(self, name)
            if value not in known:
                raise SettingsError(f"{name} is {' or '.join(known)}, not {value!r}")


class F1(NamedTuple):
    """The two means of the F1 score over all classes.

    Attributes
    ----------
    micro : float
        Of all decisions together.
    macro : float
        Mean over the classes; one that no node has and none is predicted to have counts 0.
    """

    micro: float
    macro: float


def check_classifier() -> None:
    """Find out whether there is a classifier, before other work rests on it.

    Raises
    ------
    MissingExtraError
        scikit-learn is not installed.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise MissingExtraError("scikit-learn", "evaluation")


def evaluate_classes(
    comm: Communicator,
    vectors: NDArray[Any],
    members: NDArray[np.bool_],
    settings: ClassifySettings,
) -> dict[str, Any]:
    """Predict the classes of nodes from their vectors (collective).

    The splits are shared out among the ranks; results do not depend on their number.

    Parameters
    ----------
    comm
        All ranks.
    vectors
        (n, D) vectors of the nodes.
    members
        (n, c) whether a node has a class; nodes without any are left out.
    settings
        The protocol.

    Returns
    -------
    dict
        The protocol and for each fraction mean and standard deviation of both F1 scores.

    Raises
    ------
    SettingsError
        A fraction leaves no node to train on or to test.
    """
    labelled = np.flatnonzero(members.any(axis=1))
    sizes = {fraction: round(fraction * len(labelled)) for fraction in settings.fractions}
    for fraction, size in sizes.items():
        if not 0 < size < len(labelled):
            raise SettingsError(
                f"a fraction of {fraction} trains on {size} of {len(labelled)} labelled nodes; "
                "some have to be trained on, and some to be tested"
            )
    X, Y = vectors[labelled].astype(np.float64), members[labelled]
    splits = [(fraction, shuffle) for fraction in sizes for shuffle in range(settings.shuffles)]
    own = {}
    for fraction, shuffle in splits[comm.rank :: comm.size]:
        order = permutation(len(labelled), settings.seed, stream("classified nodes"), shuffle)
        train, test = order[: sizes[fraction]], order[sizes[fraction] :]
        k = Y[test].sum(axis=1)
        likelihoods = predict(X, Y[train], train, test, settings)
        own[fraction, shuffle] = f1(Y[test], most_likely(likelihoods, k))
    scores = {split: score for part in comm.gather_objects(own) for split, score in part.items()}
    return {
        "labelled_nodes": len(labelled),
        "classes": Y.shape[1],
        "protocol": PROTOCOL,
        **asdict(settings),
        "results": [
            {"fraction": fraction, "training_nodes": sizes[fraction]}
            | _summary([scores[fraction, shuffle] for shuffle in range(settings.shuffles)])
            for fraction in sizes
        ],
    }


def _summary(scores: list[F1]) -> dict[str, float]:
    record = {}
    for name in F1._fields:
        values = np.array([getattr(score, name) for score in scores])
        record[f"{name}_f1"] = float(values.mean())
        record[f"{name}_f1_deviation"] = float(values.std())
    return record


def predict(
    X: NDArray[np.float64],
    training_classes: NDArray[np.bool_],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    settings: ClassifySettings,
) -> NDArray[np.float64]:
    """Return how likely each test node has each class: log-odds, by the training nodes alone.

    Parameters
    ----------
    X
        (n, D) vectors.
    training_classes
        (train, c) classes of the training nodes.
    train, test
        Rows of `X`.

    Returns
    -------
    (test, c) float64
        Minus infinity for a class that no training node has, plus infinity for one that all have.
    """
    from sklearn.linear_model import LogisticRegression

    known, asked = _normalised(X[train], X[test], settings.normalise)
    likelihoods = np.where(training_classes.any(axis=0), np.inf, -np.inf)
    likelihoods = np.tile(likelihoods, (len(test), 1))
    open_classes = training_classes.any(axis=0) & ~training_classes.all(axis=0)
    for c in np.flatnonzero(open_classes):
        model = LogisticRegression(
            C=settings.C, solver=settings.solver, max_iter=_ITERATIONS, random_state=0
        ).fit(known, training_classes[:, c])
        likelihoods[:, c] = model.decision_function(asked)
    return likelihoods


def _normalised(
    train: NDArray[np.float64], test: NDArray[np.float64], how: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if how == "l2":
        lengths = [np.linalg.norm(each, axis=1, keepdims=True) for each in (train, test)]
        train, test = (
            each / np.where(length > 0, length, 1)
            for each, length in zip((train, test), lengths, strict=True)
        )
    elif how == "standard":
        mean, deviation = train.mean(axis=0), train.std(axis=0)
        deviation[deviation == 0] = 1
        train, test = (train - mean) / deviation, (test - mean) / deviation
    return train, test


def most_likely(likelihoods: NDArray[np.float64], k: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the (t, c) mask of the k most likely classes of each node, low numbers first."""
    order = np.argsort(-likelihoods, axis=1, kind="stable")
    chosen = np.zeros(likelihoods.shape, bool)
    np.put_along_axis(chosen, order, np.arange(likelihoods.shape[1]) < k[:, np.newaxis], axis=1)
    return chosen


def f1(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> F1:
    """Return the F1 scores of (t, c) predictions."""
    from sklearn.metrics import f1_score

    return F1(
        *(
            float(f1_score(truth, predicted, average=mean, zero_division=0))
            for mean in ("micro", "macro")
        )
    )
