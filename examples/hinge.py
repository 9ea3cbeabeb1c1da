"""An objective of your own: a hinge loss, which leaves pairs alone that are well apart.

Use: ogg-hpc embed GRAPH --objective examples/hinge.py:Hinge --output EMB.h5
"""

import numpy as np

from ogg_hpc.embedding.objective import Objective


class Hinge(Objective):
    """Scores of pairs are to be above 1, those of negatives below -1."""

    def positive(self, scores):
        """Return max(0, 1 - s), and its slopes."""
        losses = np.maximum(1 - scores, 0)
        return losses, -np.sign(losses)

    def negative(self, scores):
        """Return max(0, 1 + s), and its slopes."""
        losses = np.maximum(1 + scores, 0)
        return losses, np.sign(losses)
