import os
import signal

import pytest

from ogg_hpc.runtime.signals import SIGNALS, noted_signals


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_is_noted_once_and_then_acts_as_before(number):
    obeyed = []
    before = signal.signal(number, lambda *_: obeyed.append(number))
    try:
        with noted_signals() as came:
            assert not came()
            os.kill(os.getpid(), number)
            assert came()
            assert obeyed == []
            os.kill(os.getpid(), number)
            assert obeyed == [number]
        os.kill(os.getpid(), number)
        assert obeyed == [number, number]
    finally:
        signal.signal(number, before)


def test_handlers_come_back_after_a_failure():
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(RuntimeError, match="inside"), noted_signals():
        raise RuntimeError("inside")
    assert [signal.getsignal(number) for number in SIGNALS] == before
