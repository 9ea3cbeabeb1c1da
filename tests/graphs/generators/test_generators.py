import hashlib
import math
from collections.abc import Callable
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from graph_faults import graph_faults
from scipy.sparse.csgraph import connected_components

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import (
    GENERATORS,
    barabasi_albert,
    erdos_renyi,
    erdos_renyi_rows,
    geometric_inhomogeneous,
    model_rb,
    planar_union,
    powerlaw_cluster,
    random_geometric,
    random_regular,
    recursive_matrix,
    toroidal_grid,
    watts_strogatz,
    with_random_node_weights,
    with_random_signs,
)
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.independence import independence_number
from ogg_hpc.runtime.random import stream, uniform

EXAMPLES: dict[str, Callable[[int], Graph]] = {
    "er": lambda seed: erdos_renyi(150, 0.1, seed),
    "ba": lambda seed: barabasi_albert(150, 4, seed),
    "ws": lambda seed: watts_strogatz(150, 6, 0.2, seed),
    "plc": lambda seed: powerlaw_cluster(150, 4, 0.5, seed),
    "regular": lambda seed: random_regular(150, 5, seed),
    "girg": lambda seed: geometric_inhomogeneous(150, 12, seed),
    "torus": lambda seed: toroidal_grid(150, seed),
    "planar": lambda seed: planar_union(150, 2, seed),
    "rb": lambda seed: model_rb(150, 10, 0.25, seed),
    "rmat": lambda seed: recursive_matrix(128, 8, seed),
    "geometric": lambda seed: random_geometric(150, 6.5, seed),
}


def same(a: Graph, b: Graph) -> bool:
    return np.array_equal(a.row_offsets, b.row_offsets) and np.array_equal(a.columns, b.columns)


def test_every_command_line_name_has_an_example() -> None:
    assert set(GENERATORS) == set(EXAMPLES)


# Recorded benchmarks and shipped policies come from these very graphs.
DIGESTS = [
    ("er", (150, 0.1), "9a1e1bbbff095a06"),
    ("er", (3000, 0.01), "4e7615e5d0fdb5ed"),
    ("ba", (150, 4), "0f3b0d1993ed4280"),
    ("ba", (3000, 7), "745173870bdb68e6"),
    ("ws", (150, 6, 0.2), "4fc20fe8b8a97a59"),
    ("ws", (3000, 10, 0.7), "5af8a338fdb9c52a"),
    ("plc", (150, 4, 0.5), "2a1aee85716de71b"),
    ("plc", (2000, 5, 0.9), "421c0cc7cc3015fd"),
    ("regular", (150, 5), "e658f3b477c6871a"),
    ("regular", (100, 70), "b52315b8e4144677"),
    ("girg", (150, 12), "2ec9176b8587b749"),
    ("girg", (400, 6.5), "3b7919a834e04a8b"),
    ("torus", (150,), "45d9a8a088445d39"),
    ("torus", (1024,), "9e03d7836310a165"),
    ("planar", (150, 2), "4396345f0e667022"),
    ("planar", (500, 3), "1aa80cf5aaf4b160"),
    ("rb", (150, 10, 0.25), "ed35389ddc367b7d"),
    ("rb", (450, 15, 0.25), "7a2e700920aba4f8"),
]


def digest(graph: Graph) -> str:
    sha = hashlib.sha256()
    for array in (graph.row_offsets, graph.columns, graph.weights, graph.node_weights):
        if array is not None:
            sha.update(str(array.dtype).encode() + array.tobytes())
    return sha.hexdigest()[:16]


@pytest.mark.parametrize(("name", "parameters", "expected"), DIGESTS)
def test_graphs_stay_what_they_were(
    name: str, parameters: tuple[float, ...], expected: str
) -> None:
    assert digest(GENERATORS[name](*parameters, 7)) == expected


def test_random_weights_stay_what_they_were() -> None:
    graph = erdos_renyi(150, 0.1, 7)
    assert digest(with_random_signs(graph, 7)) == "07148bcf8eeada6f"
    assert digest(with_random_node_weights(graph, 1, 100, 7)) == "e9ca48e883769cba"


@pytest.mark.parametrize("name", EXAMPLES)
def test_graphs_are_simple_symmetric_and_a_function_of_the_seed(name: str) -> None:
    graph = EXAMPLES[name](1)
    assert list(graph_faults(graph)) == []
    assert graph.columns.dtype == np.int32
    assert same(graph, EXAMPLES[name](1))
    assert not same(graph, EXAMPLES[name](2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: erdos_renyi(-1, 0.5, 0),
        lambda: erdos_renyi(2**31, 0.5, 0),
        lambda: erdos_renyi(5, 1.5, 0),
        lambda: erdos_renyi(5, math.nan, 0),
        lambda: barabasi_albert(5, 0, 0),
        lambda: barabasi_albert(5, 5, 0),
        lambda: watts_strogatz(10, 3, 0.1, 0),
        lambda: watts_strogatz(10, 10, 0.1, 0),
        lambda: watts_strogatz(10, 4, -0.1, 0),
        lambda: powerlaw_cluster(5, 5, 0.1, 0),
        lambda: powerlaw_cluster(5, 2, 2.0, 0),
        lambda: random_regular(5, 3, 0),
        lambda: random_regular(5, 5, 0),
        lambda: random_regular(5, -1, 0),
        lambda: geometric_inhomogeneous(5, 5, 0),
        lambda: geometric_inhomogeneous(5, -1, 0),
        lambda: geometric_inhomogeneous(5, 2, 0, dimension=0),
        lambda: geometric_inhomogeneous(5, 2, 0, temperature=0.0),
        lambda: geometric_inhomogeneous(5, 2, 0, temperature=1.0),
        lambda: geometric_inhomogeneous(5, 2, 0, long_range=1.5),
        lambda: recursive_matrix(0, 4, 0),
        lambda: recursive_matrix(12, 4, 0),
        lambda: recursive_matrix(16, -1, 0),
        lambda: recursive_matrix(16, 4, 0, a=0.7, b=0.2, c=0.2),
        lambda: recursive_matrix(16, 4, 0, a=-0.1),
        lambda: recursive_matrix(16, 4, 0, a=math.nan),
        lambda: random_geometric(11, -1, 0),
        lambda: random_geometric(11, 8, 0),
        lambda: random_geometric(11, math.nan, 0),
        lambda: model_rb(10, 3, 0.25, 0),
        lambda: model_rb(10, 0, 0.25, 0),
        lambda: model_rb(10, 5, 0.0, 0),
        lambda: model_rb(10, 5, 1.0, 0),
        lambda: toroidal_grid(0, 0),
        lambda: toroidal_grid(8, 0),
        lambda: toroidal_grid(22, 0),
        lambda: planar_union(2, 1, 0),
        lambda: planar_union(5, 0, 0),
    ],
)
def test_impossible_parameters_are_refused(make: Callable[[], Graph]) -> None:
    with pytest.raises(SettingsError):
        make()


def test_small_sizes_have_exact_counts() -> None:
    for n in range(12):
        assert erdos_renyi(n, 0.0, 1).m == 0
        assert erdos_renyi(n, 1.0, 1).m == n * (n - 1) // 2
        for d in range(1, n):
            for graph in (barabasi_albert(n, d, d), powerlaw_cluster(n, d, 0.8, d)):
                assert graph.m == d * (n - d)
                assert list(graph_faults(graph)) == []
        for d in range(0, n, 2):
            for p in (0.0, 0.5, 1.0):
                graph = watts_strogatz(n, d, p, 3)
                assert graph.m == n * d // 2
                assert list(graph_faults(graph)) == []
        for d in range(n):
            if n * d % 2 == 0:
                graph = random_regular(n, d, 4)
                assert (graph.degrees == d).all()
                assert list(graph_faults(graph)) == []


# Erdős-Rényi


def er_by_the_textbook(n: int, p: float, seed: int) -> set[tuple[int, int]]:
    edges = set()
    for v in range(n):
        u, draw = -1, 0
        while True:
            r = float(uniform(seed, stream("erdos-renyi"), v, draw))
            draw += 1
            u += 1 + math.floor(math.log1p(-r) / math.log1p(-p))
            if u >= v:
                break
            edges.add((u, v))
    return edges


@pytest.mark.parametrize(("n", "p"), [(40, 0.3), (300, 0.01)])
def test_er_skips_equal_a_plain_reference(n: int, p: float) -> None:
    u, v, _ = erdos_renyi(n, p, 5).edges()
    assert set(zip(u.tolist(), v.tolist(), strict=True)) == er_by_the_textbook(n, p, 5)


def test_er_rows_are_the_same_in_every_range() -> None:
    n, p = 500, 0.05
    counts, columns = erdos_renyi_rows(n, p, 9, 0, n)
    for cuts in ([0, 1, 250, 500], [0, 0, 333, 334, 500]):
        parts = [erdos_renyi_rows(n, p, 9, lo, hi) for lo, hi in pairwise(cuts)]
        assert np.array_equal(np.concatenate([part[0] for part in parts]), counts)
        assert np.array_equal(np.concatenate([part[1] for part in parts]), columns)


def test_er_edge_count_has_the_binomial_mean_and_variance() -> None:
    n, p, samples = 100, 0.1, 400
    counts = np.array([erdos_renyi(n, p, seed).m for seed in range(samples)])
    slots = n * (n - 1) / 2
    mean, variance = slots * p, slots * p * (1 - p)
    assert abs(counts.mean() - mean) < 4 * math.sqrt(variance / samples)
    assert abs(counts.var() / variance - 1) < 4 * math.sqrt(2 / samples)


def test_er_pairs_are_equally_likely() -> None:
    n, p, samples = 30, 0.2, 500
    hits = np.zeros((n, n))
    for seed in range(samples):
        u, v, _ = erdos_renyi(n, p, seed).edges()
        hits[u, v] += 1
    z = (hits[np.triu_indices(n, 1)] - samples * p) / math.sqrt(samples * p * (1 - p))
    chi_square, freedom = float((z**2).sum()), len(z)
    assert abs(chi_square - freedom) < 4 * math.sqrt(2 * freedom)


# Barabási-Albert


def ba_by_the_textbook(n: int, d: int, seed: int) -> set[tuple[int, int]]:
    edges = {(0, leaf) for leaf in range(1, d + 1)}
    ends = [end for leaf in range(1, d + 1) for end in (leaf, 0)]
    for v in range(d + 1, n):
        targets: list[int] = []
        attempt = 0
        while len(targets) < d:
            r = float(uniform(seed, stream("barabasi-albert"), v, attempt))
            attempt += 1
            target = ends[int(r * len(ends))]
            if target not in targets:
                targets.append(target)
        for target in targets:
            edges.add((target, v))
            ends += [v, target]
    return edges


@pytest.mark.parametrize(("n", "d"), [(50, 1), (80, 4), (12, 9)])
def test_ba_equals_a_plain_reference(n: int, d: int) -> None:
    u, v, _ = barabasi_albert(n, d, 6).edges()
    assert set(zip(u.tolist(), v.tolist(), strict=True)) == ba_by_the_textbook(n, d, 6)


def test_ba_degrees_follow_the_power_law() -> None:
    # Of large graphs, 2 d (d + 1) / (k (k + 1) (k + 2)) of the nodes have degree k: exponent 3.
    n, d = 200_000, 3
    degrees = barabasi_albert(n, d, 1).degrees
    for k in (3, 4, 6, 10, 20, 40):
        at_least = d * (d + 1) / (k * (k + 1))
        found = np.count_nonzero(degrees >= k) / n
        assert abs(found - at_least) < 5 * math.sqrt(at_least / n) + 0.001


def test_ba_is_connected() -> None:
    for seed in range(5):
        assert connected_components(barabasi_albert(300, 2, seed).to_scipy())[0] == 1


# Watts-Strogatz


def ws_by_the_textbook(n: int, d: int, p: float, seed: int) -> set[tuple[int, int]]:
    def draw(*item: int) -> float:
        return float(uniform(seed, stream("watts-strogatz"), *item))

    ring = [(i, (i + j) % n) for j in range(1, d // 2 + 1) for i in range(n)]
    graph = nx.Graph(ring)
    graph.add_nodes_from(range(n))
    for e, (source, target) in enumerate(ring):
        if graph.degree[source] == n - 1 or draw(e, 0) >= p:
            continue
        number, other = 1, source
        while other == source or graph.has_edge(source, other):
            other = int(draw(e, number) * n)
            number += 1
        graph.remove_edge(source, target)
        graph.add_edge(source, other)
    return {(min(edge), max(edge)) for edge in graph.edges}


@pytest.mark.parametrize(
    ("n", "d", "p"), [(50, 4, 0.3), (40, 2, 1.0), (9, 8, 1.0), (8, 6, 0.9), (12, 10, 0.5)]
)
def test_ws_equals_a_plain_reference(n: int, d: int, p: float) -> None:
    for seed in range(5):
        u, v, _ = watts_strogatz(n, d, p, seed).edges()
        edges = set(zip(u.tolist(), v.tolist(), strict=True))
        assert edges == ws_by_the_textbook(n, d, p, seed)


# Against NetworkX, as distributions


def clustering(graph: Graph) -> float:
    return float(nx.average_clustering(nx.from_scipy_sparse_array(graph.to_scipy())))


def second_moment(degrees: np.ndarray) -> float:
    return float((degrees.astype(float) ** 2).mean())


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("ba", lambda seed: nx.barabasi_albert_graph(150, 4, seed=seed)),
        ("ws", lambda seed: nx.watts_strogatz_graph(150, 6, 0.2, seed=seed)),
        ("plc", lambda seed: nx.powerlaw_cluster_graph(150, 4, 0.5, seed=seed)),
        ("regular", lambda seed: nx.random_regular_graph(5, 150, seed=seed)),
    ],
)
def test_moments_agree_with_networkx(name: str, theirs: Callable[[int], nx.Graph]) -> None:
    samples = 30
    ours = [EXAMPLES[name](seed) for seed in range(samples)]
    references = [theirs(seed) for seed in range(samples)]
    measured = [
        ([clustering(g) for g in ours], [nx.average_clustering(g) for g in references]),
        (
            [second_moment(g.degrees) for g in ours],
            [second_moment(np.array([d for _, d in g.degree])) for g in references],
        ),
    ]
    for a, b in measured:
        error = math.sqrt((np.var(a) + np.var(b)) / samples)
        assert abs(np.mean(a) - np.mean(b)) <= 4 * error + 0.01 * np.mean(b)


def test_small_regular_graphs_are_close_to_uniform() -> None:
    # There are 70 labelled cubic graphs on 6 nodes: 60 prisms and 10 of K(3,3).
    samples = 700
    bipartite = sum(
        nx.is_bipartite(nx.from_scipy_sparse_array(random_regular(6, 3, seed).to_scipy()))
        for seed in range(samples)
    )
    assert abs(bipartite / samples - 1 / 7) < 4 * math.sqrt(6 / 49 / samples)


@pytest.mark.parametrize("d", [0, 3, 20, 60])
@pytest.mark.parametrize(("dimension", "long_range"), [(1, 0.0), (2, 0.15), (3, 1.0)])
def test_geometric_graph_has_its_mean_degree(d: int, dimension: int, long_range: float) -> None:
    graphs = [geometric_inhomogeneous(300, d, i, dimension, 0.6, long_range) for i in range(6)]
    found = np.mean([2 * graph.m / graph.n for graph in graphs])
    assert abs(found - d) <= 5 * math.sqrt(2 * d / (300 * 6))


def test_geometric_graph_of_all_pairs_is_complete() -> None:
    for n in range(4):
        assert geometric_inhomogeneous(n, max(n - 1, 0), 1, 2, 0.5, 0.0).m == n * (n - 1) // 2


def test_distance_clusters_a_geometric_graph_and_long_range_edges_do_not() -> None:
    near, mixed, far = (
        nx.transitivity(
            nx.from_scipy_sparse_array(
                geometric_inhomogeneous(400, 20, 1, 2, 0.3, share).to_scipy()
            )
        )
        for share in (0.0, 0.3, 1.0)
    )
    assert near > 1.2 * mixed
    assert mixed > 1.2 * far


# Grids, planar graphs, signs


@pytest.mark.parametrize("n", [9, 15, 36, 200])
def test_torus_is_a_product_of_two_cycles(n: int) -> None:
    height = max(h for h in range(3, n) if n % h == 0 and h * h <= n)
    product = nx.cartesian_product(nx.cycle_graph(height), nx.cycle_graph(n // height))
    found = nx.from_scipy_sparse_array(toroidal_grid(n, 1).to_scipy())
    assert nx.faster_could_be_isomorphic(found, product)
    assert nx.vf2pp_is_isomorphic(found, product)


@pytest.mark.parametrize("n", [3, 4, 10, 300])
def test_one_planar_graph_is_maximal(n: int) -> None:
    graph = planar_union(n, 1, 2)
    assert graph.m == 3 * n - 6
    assert nx.check_planarity(nx.from_scipy_sparse_array(graph.to_scipy()))[0]


def test_planar_union_has_nearly_the_edges_of_all() -> None:
    graph = planar_union(500, 3, 1)
    assert 0.95 * 3 * (3 * 500 - 6) < graph.m <= 3 * (3 * 500 - 6)
    assert list(graph_faults(graph)) == []


def test_signs_are_fair_and_keep_the_graph() -> None:
    graph = erdos_renyi(300, 0.1, 1)
    signed = with_random_signs(graph, 5)
    assert same(graph, signed)
    assert list(graph_faults(signed)) == []
    assert signed.weights is not None
    assert set(signed.weights.tolist()) == {-1.0, 1.0}
    assert abs(signed.weights.mean()) < 0.03
    assert not np.array_equal(signed.weights, with_random_signs(graph, 6).weights)


# Model RB


@pytest.mark.parametrize(("n", "d", "p"), [(24, 4, 0.25), (30, 6, 0.5), (40, 5, 0.1), (6, 6, 0.5)])
def test_hidden_independent_set_takes_one_node_of_each_clique(n: int, d: int, p: float) -> None:
    for seed in range(8):
        graph = model_rb(n, d, p, seed)
        assert independence_number(graph) == n // d
        dense = graph.to_scipy().toarray() > 0
        for start in range(0, n, d):
            assert dense[start : start + d, start : start + d].sum() == d * (d - 1)


def test_frb_graphs_have_the_size_of_those_of_bhoslib() -> None:
    # The five frb30-15 have 17,794 to 17,874 edges.
    edges = [model_rb(450, 15, 0.25, seed).m for seed in range(10)]
    assert 17_700 < np.mean(edges) < 17_950
    assert [model_rb(n, d, 0.5, 1).m for n, d in ((0, 3), (4, 4), (5, 1))] == [0, 6, 0]
    assert model_rb(600, 2, 1e-12, 1).m == 300  # shares too small for an edge take no time
