import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.roles import Role, assign_roles, take_role
from ogg_hpc.actors.settings import RolesSettings
from ogg_hpc.runtime.communicator import Communicator


def assign(sizes, gpus=None, **settings):
    """Assign roles on nodes of so many ranks, all of which see so many GPUs."""
    nodes = [node for node, size in enumerate(sizes) for _ in range(size)]
    gpus = gpus or [0] * len(sizes)
    return assign_roles(
        nodes, [list("abcdef"[: gpus[node]]) for node in nodes], RolesSettings(**settings)
    )


def cells(roles):
    """Actors by learner's rank."""
    return {role.rank: list(role.actors) for role in roles if role.kind == "learner"}


def test_a_rank_that_is_alone_learns():
    assert take_role(Communicator(), RolesSettings(), "cpu") == Role("learner", 0, 0, 0, ())


def test_one_rank_of_a_node_learns_where_there_are_no_gpus():
    assert cells(assign([4])) == {0: [1, 2, 3]}
    assert cells(assign([3, 2])) == {0: [1, 2], 3: [4]}


def test_as_many_ranks_of_a_node_learn_as_it_has_gpus():
    assert cells(assign([5, 7], [2, 2])) == {0: [2], 1: [3, 4], 5: [7, 8], 6: [9, 10, 11]}


def test_ranks_that_were_given_a_gpu_each_learn():
    found = [["a"], [], ["b"], [], ["a"], ["b"], []]
    roles = assign_roles([0] * 4 + [1] * 3, found, RolesSettings())
    assert cells(roles) == {0: [1], 2: [3], 4: [], 5: [6]}
    assert [role.place for role in roles if role.kind == "learner"] == [0, 1, 0, 1]
    one_each = assign_roles([0] * 4 + [1] * 3, found, RolesSettings(learners_per_node=1))
    assert cells(one_each) == {0: [1, 2, 3], 4: [5, 6]}


def test_ranks_of_nodes_without_gpus_act_for_the_learners_with_the_fewest_actors():
    roles = assign([2, 4, 3], [2, 2, 0])
    assert cells(roles) == {0: [6, 8], 1: [7], 2: [4], 3: [5]}


def test_actors_are_as_many_as_asked_for_and_the_rest_is_idle():
    roles = assign([6], learners_per_node=2, actors_per_learner=1)
    assert [role.kind for role in roles] == ["learner"] * 2 + ["actor"] * 2 + ["idle"] * 2
    assert roles[5] == Role()


def test_actors_come_from_other_nodes_where_the_own_has_too_few():
    assert cells(assign([1, 3], [1, 0], actors_per_learner=2)) == {0: [1, 2]}


def test_without_local_actors_all_ranks_learn():
    assert cells(assign([2, 1], local=False)) == {0: [], 1: [], 2: []}


def test_a_node_of_fewer_ranks_than_gpus_has_learners_alone():
    assert cells(assign([2], [6])) == {0: [], 1: []}


def test_each_node_is_led_by_its_first_learner():
    roles = assign([4, 4], [2, 2])
    assert [role.leads_node for role in roles] == [True, False, False, False] * 2
    assert [role.place for role in roles if role.kind == "learner"] == [0, 1, 0, 1]


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4)), min_size=1, max_size=5),
    st.integers(0, 3),
    st.integers(0, 4),
    st.booleans(),
)
def test_every_rank_is_in_one_cell_or_idle(nodes, learners, actors, local):
    sizes, gpus = zip(*nodes, strict=True)
    roles = assign(sizes, gpus, learners_per_node=learners, actors_per_learner=actors, local=local)
    found = cells(roles)
    assert found
    members = [*found, *itertools.chain(*found.values())]
    idle = [rank for rank, role in enumerate(roles) if role.kind == "idle"]
    assert sorted([*members, *idle]) == list(range(sum(sizes)))
    assert [role.learner for role in roles if role.kind == "learner"] == list(range(len(found)))
    for rank, role in enumerate(roles):
        if role.kind != "idle":
            assert role == Role(role.kind, role.learner, role.rank, role.place, role.actors)
            assert (rank in role.actors) == (role.kind == "actor")
            assert found[role.rank] == list(role.actors)
    if actors:
        assert all(len(each) <= actors for each in found.values())
    else:
        assert not idle


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_cells_on_one_node_differ_by_one_actor_at_most(ranks):
    sizes = [len(each) for each in cells(assign([20], [ranks])).values()]
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == 20 - ranks


ON_NODES = """
from ogg_hpc.actors.roles import take_role
from ogg_hpc.actors.settings import RolesSettings
from ogg_hpc.runtime.launch import start

comm = start("cpu")
roles = comm.gather_objects(take_role(comm, RolesSettings(), "cpu"))
if comm.rank == 0:
    for role in roles:
        print(role.kind, role.learner, role.rank, role.place, role.actors, role.leads_node)
"""


def test_ranks_of_each_node_are_a_cell(run_ranks, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ON_NODES)
    # MPICH takes ranks of one machine for those of two nodes, in turn; other libraries do not.
    run = run_ranks(4, [script], variables={"MPIR_CVAR_NUM_CLIQUES": "2"})
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    if lines[0] == "learner 0 0 0 (1, 2, 3) True":
        pytest.skip("only MPICH takes ranks of one machine for several nodes")
    assert sum(line.startswith("learner") and line.endswith("True") for line in lines) == 2
    assert sum(line.startswith("actor") for line in lines) == 2
    assert {line.split("(")[1] for line in lines if line.startswith("learner")} in (
        {"1,) True", "3,) True"},
        {"2,) True", "3,) True"},
    )
