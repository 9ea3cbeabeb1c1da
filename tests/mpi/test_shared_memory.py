import numpy as np
import pytest

from ogg_hpc.errors import OggError
from ogg_hpc.runtime import shared_memory
from ogg_hpc.runtime.communicator import MPICommunicator
from ogg_hpc.runtime.shared_memory import NodeArrays, require_room

REMEDY = "use something else"
ARRAYS = {
    "wide": np.arange(1000, dtype=np.int64),
    "odd": np.arange(7, dtype=np.uint8),
    "none": np.empty(0, np.float32),
    "narrow": np.linspace(0, 1, 333, dtype=np.float32),
}


def share(comm):
    return NodeArrays(comm, ARRAYS if comm.rank == 0 else None, REMEDY)


def test_all_ranks_read_what_rank_0_has(comm):
    shared = share(comm)
    assert list(shared) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert shared[name].dtype == array.dtype
        assert np.array_equal(shared[name], array)
    comm.barrier()
    shared.free()


def test_large_arrays_are_handed_over_in_blocks(comm, monkeypatch):
    monkeypatch.setattr(shared_memory, "_BLOCK_BYTES", 100)
    shared = share(comm)
    for name, array in ARRAYS.items():
        assert np.array_equal(shared[name], array)
    comm.barrier()
    shared.free()


def test_nobody_can_write_what_all_read(comm):
    shared = share(comm)
    with pytest.raises(ValueError, match="read-only"):
        shared["wide"][0] = 5
    assert ARRAYS["wide"].flags.writeable
    comm.barrier()
    shared.free()


def test_ranks_of_a_node_have_one_copy(comm):
    node = comm.node()
    assert (node.rank, node.size) == (comm.local_rank, comm.local_size)
    memory, free = node.allocate_shared(8)
    memory[node.rank] = 40 + node.rank
    node.barrier()
    assert memory[: node.size].tolist() == [40 + rank for rank in range(node.size)]
    node.barrier()
    free()


def test_a_node_without_room_is_named_on_all_ranks(comm, monkeypatch):
    if comm.rank == 0:
        monkeypatch.setattr(shared_memory, "free_shared_bytes", lambda: 1000)
    if comm.size == 1:
        share(comm)  # shares nothing
        return
    with pytest.raises(OggError, match=f"MiB left.*{REMEDY}.*--shm-size"):
        share(comm)


@pytest.mark.parametrize("use", [lambda comm: share(comm).free(), lambda c: require_room(c, 8, "")])
def test_no_communicator_is_kept(comm, use, monkeypatch):
    """MPI has about 2,000 of them."""
    made, freed = [], []
    part, free = MPICommunicator._part, MPICommunicator.free
    monkeypatch.setattr(
        MPICommunicator, "_part", lambda self, *how: made.append(one := part(self, *how)) or one
    )
    monkeypatch.setattr(MPICommunicator, "free", lambda self: freed.append(self) or free(self))
    use(comm)
    assert made or comm.size == 1
    assert set(made) == set(freed)
