"""What asks a search to stop at a given moment."""


class AfterQuestions:
    """A stop that holds from the (k + 1)-th question on."""

    def __init__(self, k):
        self._left = k

    def __call__(self):
        self._left -= 1
        return self._left < 0
