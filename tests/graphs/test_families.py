import inspect

import numpy as np
import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.families import parse_family
from ogg_hpc.graphs.generators import GENERATORS
from ogg_hpc.graphs.members import is_family
from ogg_hpc.graphs.shards import GraphStore


def test_graphs_are_those_of_data_generate(tmp_path):
    from ogg_hpc.cli.main import main

    path = tmp_path / "er.h5"
    arguments = f"data generate er --nodes 30 --p 0.2 --count 3 --seed 7 --output {path}"
    with pytest.raises(SystemExit):
        main(arguments.split())
    family = parse_family("er:n=30,p=0.2,count=3,seed=7")
    assert family.count == 3
    with GraphStore(path) as store:
        for i in range(3):
            np.testing.assert_array_equal(family.graph(i).columns, store.read(i).columns)


def test_weighted_graphs_are_those_of_data_generate(tmp_path):
    from ogg_hpc.cli.main import main

    path = tmp_path / "ba.h5"
    arguments = (
        f"data generate ba --nodes 300 --d 2 --seed 7 --lightest 20 --heaviest 24 --output {path}"
    )
    with pytest.raises(SystemExit):
        main(arguments.split())
    weighted = parse_family("ba:n=300,d=2,seed=7,lightest=20,heaviest=24").graph(0)
    plain = parse_family("ba:n=300,d=2,seed=7").graph(0)
    with GraphStore(path) as store:
        assert store.read(0).node_weights.tolist() == weighted.node_weights.tolist()
    assert np.unique(weighted.node_weights).tolist() == [20, 21, 22, 23, 24]
    assert weighted.columns.tolist() == plain.columns.tolist()
    assert plain.node_weights is None


def test_every_generator_can_be_named():
    for kind, generator in GENERATORS.items():
        wanted = inspect.signature(generator).parameters.values()
        needed = [each for each in wanted if each.default is each.empty and each.name != "seed"]
        given = {"n": 16, "d": 4, "p": 0.5}
        text = f"{kind}:" + ",".join(f"{each.name}={given[each.name]}" for each in needed)
        assert parse_family(text).graph(0).n == 16


@pytest.mark.parametrize("text", ["er.mtx", "store.h5:3", "folder/", "C:/graphs/er.mtx", "er"])
def test_file_is_no_family(text):
    assert not is_family(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tree:n=4", "family 'tree' is unknown; use er, ba, ws, plc, regular"),
        ("er:n=4", "er needs p too"),
        ("er:", "er needs n, p too"),
        ("er:n=4,p=0.5,d=3", "'d' is unknown; er takes n, p, count, seed, lightest, heaviest"),
        ("er:n=4,p=0.5,n=3", "'n' is given twice"),
        ("er:n=four,p=0.5", "n has to be a whole number, not 'four'"),
        ("er:n=4,p=much", "p has to be a number, not 'much'"),
        ("er:n=4,p=0.5,heaviest=0.5", "heaviest has to be a whole number"),
        ("er:n=4,p=0.5,count=0", "count must be at least 1, not 0"),
    ],
)
def test_wrong_text_is_explained(text, message):
    assert is_family(text)
    with pytest.raises(SettingsError) as error:
        parse_family(text)
    assert message in str(error.value)
    assert text in str(error.value)


@pytest.mark.parametrize(("lightest", "heaviest"), [(20, 0), (0, 3), (4, 3)])
def test_weights_from_least_to_largest_are_asked_for_together(lightest, heaviest):
    family = parse_family(f"er:n=4,p=0.5,{lightest=},{heaviest=}")
    with pytest.raises(SettingsError, match=f"not {lightest} to {heaviest}"):
        family.graph(0)
