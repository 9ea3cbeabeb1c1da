from ogg_hpc.actors.measurement import Measurement
from ogg_hpc.runtime.communicator import Communicator


class TwoLearners(Communicator):
    """Two learners that have counted the same."""

    def gather_objects(self, value):
        return [value, value]


def test_counts_of_all_learners_are_added_up_by_what_they_are_of():
    counted = Measurement(rounds=1)
    counted.take(steps=10, staleness=0)
    counted.take(steps=20, staleness=2)
    counted.dropped["late"] += 1
    counted.sent["grant"] += 100
    counted.received["fragment"] += 500
    total = counted.over(TwoLearners())
    assert (total["rounds"], total["fragments"], total["steps"], total["cut"]) == (2, 4, 60, 0)
    assert total["staleness"] == {"0": 2, "2": 2}
    assert total["dropped"] == {"late": 2}
    assert (total["sent"], total["received"]) == ({"grant": 200}, {"fragment": 1000})
    assert total["bytes_per_step"] == 20


def test_without_a_step_there_are_no_bytes_per_step():
    assert Measurement().over(Communicator())["bytes_per_step"] is None
