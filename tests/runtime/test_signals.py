import os
import signal

import pytest

from ogg_hpc.runtime.signals import INSISTENT, SIGNALS, noted_signals


@pytest.fixture
def obeyed():
    """The signals that were not only noted, in order."""
    numbers = []
    before = {n: signal.signal(n, lambda number, _: numbers.append(number)) for n in SIGNALS}
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_is_noted_within_the_block_and_obeyed_after_it(obeyed, number):
    with noted_signals() as came:
        assert came() is None
        os.kill(os.getpid(), number)
        assert came() is signal.Signals(number)
        assert obeyed == []
    os.kill(os.getpid(), number)
    assert obeyed == [number]


@pytest.mark.parametrize("number", SIGNALS)
def test_who_insists_is_obeyed_and_a_warning_may_come_again(obeyed, number):
    with noted_signals():
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        assert obeyed == ([number] if number in INSISTENT else [])
    assert signal.SIGINT in INSISTENT
    assert signal.SIGUSR1 not in INSISTENT


def test_first_signal_is_the_one_that_is_told(obeyed):
    with noted_signals() as came:
        os.kill(os.getpid(), signal.SIGUSR2)
        os.kill(os.getpid(), signal.SIGTERM)
        assert came() is signal.SIGUSR2
    assert obeyed == []


def test_handlers_come_back_after_a_failure():
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(RuntimeError, match="inside"), noted_signals():
        raise RuntimeError("inside")
    assert [signal.getsignal(number) for number in SIGNALS] == before
