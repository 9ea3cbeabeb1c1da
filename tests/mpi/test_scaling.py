"""A study's counts on several ranks: bytes by formulas, records of all ranks."""

import numpy as np
import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.file import save_policy
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.scaling.inference import Inference
from ogg_hpc.scaling.measure import measure
from ogg_hpc.scaling.points import Point
from ogg_hpc.scaling.study import Case
from ogg_hpc.scaling.training import Training

GRAPH = "er:n=47,p=0.3,seed=1"


def point(comm, kind="inference", engine="reference", steps=3, **case):
    return Point(
        study="small",
        case=Case(kind=kind, engine=engine, graph=GRAPH, steps=steps, **case),
        ranks=comm.size,
        graph=GRAPH,
    )


def sent(window):
    return sum(count["bytes"] for count in window.collectives.values())


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_a_search_step_sends_what_the_formula_says(comm, collective):
    work = Inference(comm, point(comm, collective=collective), Clock(comm, "graph", "setup"))
    window = work.run(3)
    assert window.steps == 3
    assert sent(window) == 3 * work.traffic.exact
    assert (work.traffic.exact == 0) == (comm.size == 1)


@pytest.mark.parametrize("model", [{"width": 8, "layers": 3}, {"width": 5, "layers": 1}])
def test_so_does_one_of_another_shape(comm, tmp_path_factory, model):
    path = comm.broadcast_object(tmp_path_factory.mktemp("policy") / "p.npz")
    comm.on_root(lambda: save_policy(path, make_policy("s2v", model, seed=2), "s2v", "mvc", {}))
    work = Inference(comm, point(comm, policy=str(path)), Clock(comm, "graph", "setup"))
    assert sent(work.run(3)) == 3 * work.traffic.exact


@pytest.mark.parametrize("preset", ["paper", "default"])
@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_a_training_step_sends_what_the_formula_says(comm, preset, collective):
    case = point(
        comm, "training", collective=collective, preset=preset,
        overrides=("learning.batch=3", "learning.tau=2"),
    )  # fmt: skip
    work = Training(comm, case, Clock(comm, "graph", "setup"))
    work.run(4)  # until the replay buffer holds a tuple with all its rewards
    assert sent(work.run(2)) == 2 * work.traffic.exact


@pytest.mark.parametrize("kind", ["inference", "training"])
def test_the_scalar_engine_sends_less_than_the_paper(comm, kind):
    record = measure(comm, point(comm, kind, "scalar", steps=2))
    assert record.engine == "scalar"
    assert (record.bytes == 0) == (comm.size == 1)
    assert record.bytes <= record.traffic["paper"]


def test_a_record_tells_the_threads_of_nested_ones_too(comm, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert measure(comm, point(comm)).threads == 3


def test_a_record_tells_of_all_ranks(comm):
    record = measure(comm, point(comm))
    assert (record.ranks, sum(host["ranks"] for host in record.hosts)) == (comm.size, comm.size)
    assert (record.nodes, record.entries) == (47, 2 * record.edges)
    assert len(record.step_seconds) == 3
    assert min(record.step_seconds) > 0
    assert (record.kind, record.scaling, record.seed, record.steps) == ("inference", "strong", 1, 3)
    assert {"graph", "setup", "warm-up", "step", "computation"} <= set(record.phases)
    for spread in record.phases.values():
        assert 0 <= spread["min"] <= spread["median"] <= spread["max"]
    longest = record.phases["step"]["max"]
    assert longest == pytest.approx(max(record.step_seconds))
    assert (record.network == {}) == (comm.size == 1)
    assert comm.gather_objects(record) == [record] * comm.size


def test_repeats_are_of_the_same_steps(comm):
    work = Inference(comm, point(comm, engine="scalar"), Clock(comm, "graph", "setup"))
    windows = [work.run(16) for _ in range(2)]
    assert windows[0].steps == windows[1].steps
    assert np.isclose(sent(windows[0]), sent(windows[1]), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"policy": "max-degree", "engine": "auto"}, "max-degree runs on rank 0 alone"),
        ({"kind": "training", "preset": "mvc-evolution"}, "share candidates, not graphs"),
    ],
)
def test_what_does_not_scale_by_graphs_is_refused(comm, case, message):
    with pytest.raises(SettingsError, match=message):
        measure(comm, point(comm, **case))


def test_a_point_wants_its_number_of_ranks(comm):
    wrong = Point(case=Case(graph=GRAPH), ranks=comm.size + 1, graph=GRAPH)
    with pytest.raises(SettingsError, match=f"wants {comm.size + 1} ranks and has {comm.size}"):
        measure(comm, wrong)
