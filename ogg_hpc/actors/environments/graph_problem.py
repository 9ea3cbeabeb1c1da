"""Graph optimisation problems as environments: a solution is built node by node."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ogg_hpc.actors.environments.constructions import Construction, Constructions
from ogg_hpc.errors import SettingsError
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.settings import build
from ogg_hpc.training.rows import TrainingRows, training_rows
from ogg_hpc.training.settings import GraphSource

Observation = dict[str, Any]


class GraphProblem(gymnasium.Env[Observation, np.int64]):
    """An episode is one graph, drawn at random, and its return is what the solution is worth.

    That is the objective, negative where the problem is to minimise. An action is a node to choose
    next, or with two sides ``2 * node + side``. One that ``action_mask`` rules out changes nothing
    and costs `penalty`; the episode is truncated after as many of these as the graph has nodes. It
    terminates when no node may be chosen any more.

    An observation is the graph as a list of its edges, each once, and the state of its nodes. The
    lists are as long as the largest graph needs; places that are left are filled with the number
    of nodes of the largest graph, which is no node, or with 0.

    Parameters
    ----------
    problem
        Name of a problem, or ``FILE.py:CLASS`` of the user's own.
    graphs
        Tables as in the settings of a training run: where graphs come from.
    penalty
        What an action costs that cannot be taken.
    graph_cache
        Megabytes of graphs from stores that a process keeps.

    Attributes
    ----------
    problem : Problem
        The rules.
    graphs : TrainingRows
        All graphs; the environments of a process share them.
    """

    def __init__(
        self,
        problem: str = "mvc",
        graphs: Sequence[Mapping[str, Any]] = (),
        penalty: float = 1.0,
        graph_cache: float = 2000.0,
    ) -> None:
        if not graphs:
            raise SettingsError("no graphs: add an [[environment.options.graphs]] table")
        sources = tuple(
            build(GraphSource, dict(table), "environment.options.graphs.") for table in graphs
        )
        self.problem = problem_by_name(problem)
        self.graphs = _graphs(problem, sources, graph_cache)
        self._penalty = penalty
        self._nodes = int(self.graphs.sizes.max())
        self._edges = max(1, int(self.graphs.entries.max()) // 2)
        self.action_space = spaces.Discrete(self._nodes * self.problem.sides)
        self.observation_space = self._space()

    @property
    def digest(self) -> str:
        """SHA-256 of the graphs: of all that is held, and of the sizes of what is stored."""
        return _digest(self.graphs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode on a random graph, or on number ``options["graph"]``.

        Raises
        ------
        SettingsError
            No graph has a node that may be chosen.
        """
        super().reset(seed=seed)
        given = None if options is None else options.get("graph")
        for _ in range(100 * len(self.graphs)):
            number = int(self.np_random.integers(len(self.graphs))) if given is None else given
            self._state = Constructions(self.problem, [Construction.begun(self.graphs[number])])
            if not self._state.finished[0]:
                break
            if given is not None:
                raise SettingsError(f"graph {given} has no candidate node; are there edges in it?")
        else:
            raise SettingsError("no graph has a candidate node; are there edges in them?")
        self._steps = self._invalid = 0
        self._worth = 0.0
        self._graph_part = self._observed_graph()
        return self._observation(), {"graph": number}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Choose a node."""
        node = int(action) // self.problem.sides
        state, n = self._state, int(self._state.batch.sizes[0])
        self._steps += 1
        if 0 <= node < n and state.candidates[node, 0]:
            reward = float(state.choose(np.zeros(1, np.int64), np.array([int(action)]))[0])
            self._worth += reward
        else:
            reward = -self._penalty
            self._invalid += 1
        terminated = bool(state.finished[0])
        truncated = not terminated and self._invalid >= n
        info: dict[str, Any] = {}
        if terminated or truncated:
            sign = 1 if self.problem.maximize else -1
            info["episode"] = {"objective": sign * self._worth, "invalid": self._invalid}
        return self._observation(), reward, terminated, truncated, info

    def _space(self) -> spaces.Dict:
        n, edges = self._nodes, self._edges
        flags = {"selected": n, "active": n, "action_mask": n * self.problem.sides}
        space: dict[str, gymnasium.Space[Any]] = {
            "nodes": spaces.Discrete(n + 1),
            "edges": spaces.Box(0, n, (2, edges), np.int32),
            **{name: spaces.MultiBinary(length) for name, length in flags.items()},
        }
        if self.graphs.weighted:
            space["edge_weights"] = spaces.Box(-np.inf, np.inf, (edges,), np.float32)
        if self.problem.uses_node_weights:
            space["node_weights"] = spaces.Box(0, np.inf, (n,), np.float32)
        return spaces.Dict(space)

    def _observed_graph(self) -> Observation:
        """Return what does not change in an episode."""
        block = self._state[0].block
        rows = np.arange(block.n).repeat(np.diff(block.row_offsets))
        once = rows < block.columns
        edges = np.stack([rows[once], block.columns[once]]).astype(np.int32)
        part: Observation = {
            "nodes": np.int64(block.n),
            "edges": _padded(edges, self._edges, self._nodes),
        }
        if self.graphs.weighted:
            weights = np.ones(len(rows)) if block.weights is None else block.weights
            part["edge_weights"] = _padded(weights[once].astype(np.float32), self._edges)
        if self.problem.uses_node_weights:
            weights = np.ones(block.n) if block.node_weights is None else block.node_weights
            part["node_weights"] = _padded(weights.astype(np.float32), self._nodes)
        return part

    def _observation(self) -> Observation:
        state, sides = self._state, self.problem.sides
        flags = {
            "selected": state.solution.selected[:, 0],
            "active": state.solution.active[:, 0],
            "action_mask": state.candidates[:, 0].repeat(sides),
        }
        lengths = {"action_mask": self._nodes * sides}
        return {
            **copy.deepcopy(self._graph_part),
            **{
                name: _padded(mask.astype(np.int8), lengths.get(name, self._nodes))
                for name, mask in flags.items()
            },
        }


def _padded(array: NDArray[Any], length: int, filling: int = 0) -> NDArray[Any]:
    """Return an array whose last axis is as long as asked for."""
    widths = [(0, 0)] * (array.ndim - 1) + [(0, length - array.shape[-1])]
    return np.pad(array, widths, constant_values=filling)


@cache
def _graphs(problem: str, sources: tuple[GraphSource, ...], cache: float) -> TrainingRows:
    weighted = problem_by_name(problem).uses_weights
    return training_rows(Communicator(), sources, "rows", weighted, cache)


@cache
def _digest(graphs: TrainingRows) -> str:
    digest = hashlib.sha256()
    digest.update(np.stack([graphs.sizes, graphs.entries]).tobytes())
    for number in range(0 if graphs.stored else len(graphs)):
        block = graphs[number]
        for array in (block.row_offsets, block.columns, block.weights, block.node_weights):
            if array is not None:
                digest.update(array.tobytes())
    return digest.hexdigest()
