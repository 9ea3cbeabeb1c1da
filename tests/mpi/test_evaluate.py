"""An evaluation has the same rows on every number of ranks."""

import dataclasses

import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.collection import listed
from ogg_hpc.search.evaluate import Evaluation, evaluate
from ogg_hpc.search.methods import Search, greedy_methods
from ogg_hpc.search.settings import SolveSettings

METHODS = [Search("mvc", SolveSettings()), *greedy_methods(SolveSettings(reduce=False))]


@pytest.mark.parametrize("count", [1, 5])
def test_rows_are_those_of_one_rank(comm, count):
    graphs = listed([f"er:n=25,p=0.2,count={count},seed=3", "ba:n=30,d=2"])
    evaluation = Evaluation("mvc", graphs, METHODS)
    ours, alone = (
        [dataclasses.replace(row, seconds=0.0) for row in evaluate(ranks, evaluation)]
        for ranks in (comm, Communicator())
    )
    assert ours == alone
    assert len(ours) == (count + 1) * len(METHODS)


def test_graph_that_one_rank_cannot_read_is_an_error_on_all(comm, tmp_path):
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket what\n")
    graphs = listed(["ba:n=9,d=2,count=3", str(tmp_path / "bad.mtx")])
    with pytest.raises(InputError, match=r"bad\.mtx") as error:
        evaluate(comm, Evaluation("mvc", graphs, METHODS[:1]))
    assert error.value.collective
