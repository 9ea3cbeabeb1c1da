"""Graphs that are renumbered on the way in, on every number of ranks."""

import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.graphs.generators import barabasi_albert, watts_strogatz
from ogg_hpc.graphs.ordering import node_order
from ogg_hpc.graphs.partition_quality import partition_quality
from ogg_hpc.graphs.renumbering import renumbered
from ogg_hpc.graphs.row_block import partition_rows
from ogg_hpc.problems import problem_by_name

GRAPHS = {"ba": barabasi_albert(90, 3, 1), "ws": watts_strogatz(80, 6, 0.1, 2)}


@pytest.mark.parametrize("balance", ["rows", "edges"])
@pytest.mark.parametrize("by", ["degree", "bfs", "rcm"])
@pytest.mark.parametrize("name", GRAPHS)
def test_answer_is_that_of_one_rank(comm, alone, name, by, balance):
    settings = {"order": by, "balance": balance, "reduce": False}
    mine = ogg_hpc.solve(GRAPHS[name], comm=comm, **settings)
    serial = ogg_hpc.solve(GRAPHS[name], comm=alone, **settings)
    assert mine.nodes == serial.nodes
    assert mine.record["order"]["by"] == by


@pytest.mark.parametrize("problem", ["mvc", "mds", "maxcut"])
def test_metis_makes_a_part_for_each_rank(comm, alone, problem):
    graph = GRAPHS["ws"]
    mine = ogg_hpc.solve(graph, problem, order="metis", reduce=False, comm=comm)
    parts = renumbered(graph, node_order(graph, "metis", comm.size))
    serial = ogg_hpc.solve(parts, problem, reduce=False, comm=alone)
    assert sorted(mine.nodes) == sorted(serial.nodes)
    assert problem_by_name(problem).violation(graph, np.array(mine.nodes)) is None
    shared = partition_quality(parts, partition_rows(parts.degrees, comm.size, "rows"))
    assert mine.record["order"]["after"] == shared.summary()
