"""What the scalar engine on a device must do, on whichever device a subclass gives."""

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi, watts_strogatz
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.degree_messages import TWO_MESSAGES, two_messages
from ogg_hpc.policies.scalar_form import ScalarForm, inverse_degree_form
from ogg_hpc.runtime.launch import promised_size
from ogg_hpc.search import scalar_state
from ogg_hpc.search.device_scalar_state import DeviceScalarState
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE, PAPER, Schedule

NONE = np.empty(0, np.int64)
COARSE = Schedule("coarse", ((0.5, 40), (0.2, 3), (0.1, 5)))
GRAPHS = {
    "erdos-renyi": erdos_renyi(120, 0.15, 1),
    "sparse": erdos_renyi(150, 0.01, 2),
    "barabasi-albert": barabasi_albert(130, 4, 3),
    "watts-strogatz": watts_strogatz(90, 6, 0.2, 4),
    **{
        name: Graph.from_networkx(graph)
        for name, graph in {
            "star": nx.star_graph(70),
            "path": nx.path_graph(17),
            "edge": nx.path_graph(2),
            "complete": nx.complete_graph(9),
            "disconnected": nx.disjoint_union(nx.cycle_graph(7), nx.empty_graph(5)),
            "no edges": nx.empty_graph(4),
            "nothing": nx.empty_graph(0),
        }.items()
    },
}
# Ranks that share cores take milliseconds a step: the fewest steps there.
_, RANKS = promised_size() or ("", 1)
SCHEDULES = (ONE, PAPER, COARSE) if RANKS == 1 else (COARSE,)


def linear_form(seed):
    """Degrees as messages, and a score of some pieces with both signs."""
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0.0], np.sort(random.uniform(1, 20, 6))])
    return ScalarForm(None, starts, random.standard_normal(7), random.standard_normal(7))


FORMS = {
    "linear-1": lambda n: linear_form(1),
    "linear-2": lambda n: linear_form(2),
    "ties": lambda n: ScalarForm(None, np.zeros(1), np.ones(1), np.zeros(1)),
    "zeros": lambda n: ScalarForm(None, np.array([0.0, 4.0]), *np.array([[0.0, -0.0]] * 2)),
    "inverse-degree": lambda n: inverse_degree_form(n, 1.25),
    "inverse-degree-3": lambda n: inverse_degree_form(n, 3.0),
    "two-message": lambda n: two_messages(n, 0.05, **TWO_MESSAGES),
    "two-message-always": lambda n: two_messages(n, 0.0, **TWO_MESSAGES),
}


def use_devices(monkeypatch):
    """Search on a device that has kernels, however little work that is."""
    monkeypatch.setattr("ogg_hpc.search.scalar_search.DEVICE_PAYS", -1)


class ScalarEngineChecks:
    """Tests against `scalar_search`; a subclass has the fixture `on_device`, a communicator."""

    @pytest.fixture(params=["lists", "bits"], autouse=True)
    def _columns(self, request, monkeypatch):
        """Hold the block as lists or, where messages allow it, as bits, whatever its density."""
        monkeypatch.setattr(scalar_state, "DENSE", 2.0 if request.param == "lists" else -1.0)
        use_devices(monkeypatch)

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("name", GRAPHS)
    def test_covers_are_those_of_the_cpu(self, on_device, alone, name, form):
        graph = GRAPHS[name]
        for schedule in SCHEDULES:
            of_form = FORMS[form](graph.n)
            expected = scalar_search(alone, row_block(graph, 0, 1), of_form, schedule, NONE)
            block = row_block(graph, on_device.rank, on_device.size)
            found = scalar_search(on_device, block, of_form, schedule, NONE)
            assert found.solutions[0].tolist() == expected.solutions[0].tolist()
            assert len(found.step_seconds) == len(expected.step_seconds)

    @pytest.mark.parametrize("balance", ["rows", "edges"])
    @pytest.mark.parametrize("form", ["linear-1", "inverse-degree", "two-message"])
    def test_forced_nodes_are_chosen_first(self, on_device, alone, form, balance):
        graph = GRAPHS["barabasi-albert"]
        of_form = FORMS[form](graph.n)
        forced = np.random.default_rng(5).permutation(graph.n)[:55]
        expected = scalar_search(alone, row_block(graph, 0, 1), of_form, COARSE, forced)
        block = row_block(graph, on_device.rank, on_device.size, balance)
        found = scalar_search(on_device, block, of_form, COARSE, forced)
        assert found.solutions[0].tolist() == expected.solutions[0].tolist()

    @pytest.mark.parametrize("name", ["erdos-renyi", "barabasi-albert", "star"])
    @pytest.mark.parametrize("form", ["linear-1", "inverse-degree"])
    def test_state_is_that_of_the_residual_graph(self, on_device, name, form):
        graph, device = GRAPHS[name], on_device.device
        messages = FORMS[form](graph.n).messages
        block = row_block(graph, on_device.rank, on_device.size)
        state = DeviceScalarState(on_device, block, messages, width=8)
        active = np.ones(graph.n, bool)
        adjacency = graph.to_scipy().toarray().astype(np.int64)
        order = np.random.default_rng(1).permutation(graph.n)
        candidates = int(np.count_nonzero(graph.degrees))
        for count in (1, 8, 3, 8, 8, 1):
            nodes, order = np.sort(order[:count]), order[count:]
            both = device.from_host(np.array([candidates, 0]))
            state.remove(
                device.from_host(nodes),
                device.from_host(np.array([count])),
                both,
                state.counts(nodes) if on_device.size > 1 else None,
            )
            active[nodes] = False
            degrees = adjacency @ active * active
            assert (device.to_host(state.degrees) == degrees).all()
            candidates = int(both[1])
            assert candidates == np.count_nonzero(degrees)
            table = np.arange(graph.n) if messages is None else messages
            sums = (adjacency @ (table[degrees] * active))[state.lo : state.lo + state.rows]
            mine = active[state.lo : state.lo + state.rows]
            assert (device.to_host(state.sums)[mine] == sums[mine]).all()

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    @pytest.mark.parametrize("scale", [1e300, np.nan, np.inf])
    def test_scores_that_are_not_finite_are_no_choice(self, on_device, alone, scale):
        graph = GRAPHS["barabasi-albert"]
        form = linear_form(1)
        form.slopes[3:] = scale
        expected = scalar_search(alone, row_block(graph, 0, 1), form, COARSE, NONE)
        block = row_block(graph, on_device.rank, on_device.size)
        found = scalar_search(on_device, block, form, COARSE, NONE)
        assert found.solutions[0].tolist() == expected.solutions[0].tolist()

    def test_progress_and_bytes_are_told(self, on_device):
        graph, told = GRAPHS["erdos-renyi"], []
        block = row_block(graph, on_device.rank, on_device.size)
        result = scalar_search(
            on_device, block, linear_form(1), COARSE, NONE, lambda *call: told.append(call)
        )
        steps, left = zip(*told, strict=True)
        assert steps[-1] == len(result.step_seconds)
        assert left[0] == [graph.n]
        assert list(left) == sorted(left, reverse=True)
        words = -(-graph.n // 64)
        if scalar_state.DENSE < 0:
            assert result.adjacency_bytes == 8 * block.rows * words
        else:
            entries = 4 * len(block.columns) + 8 * (block.rows + 1)
            other = 4 * len(block.columns) + 8 * (graph.n + 1)
            assert result.adjacency_bytes == entries + (other if on_device.size > 1 else 0)
