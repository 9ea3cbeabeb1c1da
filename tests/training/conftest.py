import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.settings import build
from ogg_hpc.training.engine import make_engine
from ogg_hpc.training.rows import HeldRows, TrainingRows
from ogg_hpc.training.settings import LearningSettings, TrainSettings
from ogg_hpc.training.trainer import Trainer


@pytest.fixture(scope="session")
def star():
    """A star whose centre has the largest id, so that a tie never finds it."""

    def make(leaves):
        return Graph.from_edges(leaves + 1, range(leaves), [leaves] * leaves)

    return make


@pytest.fixture(scope="session")
def degree_policy():
    """A network whose score is the residual degree times a sign."""

    def make(sign=1.0):
        policy = make_policy("s2v", {"width": 1, "layers": 1}, seed=0)
        for name, parameter in policy.named_parameters():
            parameter.data.fill_(1.0 if name in ("theta2", "theta3", "theta6") else 0.0)
        policy.theta7.data[1] = sign
        return policy

    return make


@pytest.fixture(scope="session")
def make_trainer():
    """A trainer of this process alone on given graphs."""

    def make(graphs, policy=None, seed=0, **learning):
        comm = Communicator()
        if policy is None:
            policy = make_policy("s2v", {"width": 4}, seed=2)
        settings = LearningSettings(**learning)
        rows = TrainingRows([HeldRows([row_block(graph, 0, 1) for graph in graphs])])
        engine = make_engine(settings.engine, comm, rows, MinimumVertexCover(), policy, "allgather")
        return Trainer(comm, comm, 0, 1, engine, policy, settings, seed)

    return make


@pytest.fixture(scope="session")
def small_document():
    """A run of a second: the content of its TOML file."""
    source = {"family": "ba", "nodes": [8, 12], "d": 1, "count": 6}
    return {
        "model": {"width": 8},
        "train": [source],
        "validation": [{**source, "seed": 9, "nodes": 14, "count": 8}],
        "learning": {"steps": 24, "batch": 8, "tau": 2, "epsilon_steps": 12, "target_refresh": 5},
        "output": {
            "checkpoint_every": 8,
            "evaluate_every": 10,
            "check_every": 7,
            "tensorboard": False,
        },
    }


@pytest.fixture(scope="session")
def small_settings(small_document):
    """Settings of the small run, with changes by table."""

    def make(**changes):
        document = dict(small_document)
        for table, values in changes.items():
            document[table] = (
                {**document.get(table, {}), **values} if isinstance(values, dict) else values
            )
        return build(TrainSettings, document)

    return make
