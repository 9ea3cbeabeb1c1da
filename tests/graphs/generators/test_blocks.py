import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import EDGES, GENERATORS, RandomEdges
from ogg_hpc.graphs.graph import Graph

EXAMPLES: dict[str, tuple[float, ...]] = {
    "er": (300, 0.03),
    "ba": (300, 4),
    "ws": (300, 6, 0.3),
    "rmat": (256, 6),
    "geometric": (300, 8.0),
}


def glued(edges: RandomEdges) -> Graph:
    blocks = [edges.read(block) for block in range(edges.count)]
    sources = [block.sources for block in blocks]
    targets = [block.targets for block in blocks]
    none = np.empty(0, np.int32)
    return Graph.from_edges(
        edges.n, np.concatenate([none, *sources]), np.concatenate([none, *targets])
    )


def assert_same(a: Graph, b: Graph) -> None:
    assert a.row_offsets.tolist() == b.row_offsets.tolist()
    assert a.columns.tolist() == b.columns.tolist()
    assert a.looped.tolist() == b.looped.tolist()
    assert (a.self_loops, a.duplicates) == (b.self_loops, b.duplicates)


def test_every_family_in_blocks_has_an_example() -> None:
    assert set(EDGES) == set(EXAMPLES) <= set(GENERATORS)


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
@pytest.mark.parametrize("name", EXAMPLES)
def test_blocks_of_every_size_make_the_same_graph(name: str, size: int) -> None:
    edges = EDGES[name](*EXAMPLES[name], seed=3, block_size=size)
    assert_same(glued(edges), GENERATORS[name](*EXAMPLES[name], seed=3))
    assert (edges.count > 1) == (size < 1 << 20)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_block_does_not_depend_on_those_made_before(name: str) -> None:
    def make() -> RandomEdges:
        return EDGES[name](*EXAMPLES[name], seed=5, block_size=90)

    together = make()
    for block in reversed(range(together.count)):
        alone, after_others = make().read(block), together.read(block)
        assert alone.sources.tolist() == after_others.sources.tolist()
        assert alone.targets.tolist() == after_others.targets.tolist()


@pytest.mark.parametrize("name", EXAMPLES)
def test_blocks_are_about_as_large_as_asked_for(name: str) -> None:
    edges = EDGES[name](*EXAMPLES[name], seed=1, block_size=200)
    sizes = [len(edges.read(block).sources) for block in range(edges.count)]
    assert max(sizes) <= 300
    assert edges.count <= 300 + sum(sizes) // 100


def test_no_block_is_no_edges() -> None:
    assert len(EDGES["ba"](10, 2, seed=1).read(None).sources) == 0


@settings(deadline=None, max_examples=60)
@given(data=st.data(), seed=st.integers(-(2**70), 2**70), size=st.integers(1, 60))
def test_blocks_of_any_parameters_make_the_graph(data: st.DataObject, seed: int, size: int) -> None:
    name = data.draw(st.sampled_from(sorted(EDGES)))
    n = data.draw(st.integers(0, 40))
    p = data.draw(st.floats(0, 1))
    parameters: dict[str, tuple[float, ...]] = {
        "er": (n, p),
        "ba": (n + 2, 1 + data.draw(st.integers(0, n))),
        "ws": (n + 1, 2 * data.draw(st.integers(0, n // 2)), p),
        "rmat": (2 ** (n % 7), n, p, (1 - p) / 2, (1 - p) / 4),
        "geometric": (n + 1, p * 0.785 * n),
    }
    if name == "rmat":
        n_rmat, d, a, b, c = parameters[name]
        edges = EDGES[name](n_rmat, d, seed, a, b, c, block_size=size)
        assert_same(glued(edges), GENERATORS[name](n_rmat, d, seed, a, b, c))
    else:
        edges = EDGES[name](*parameters[name], seed=seed, block_size=size)
        assert_same(glued(edges), GENERATORS[name](*parameters[name], seed=seed))


@pytest.mark.parametrize("name", EXAMPLES)
def test_impossible_parameters_are_refused_before_any_block(name: str) -> None:
    with pytest.raises(SettingsError):
        EDGES[name](-1, *EXAMPLES[name][1:], seed=0)
