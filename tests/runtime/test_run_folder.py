import socket

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.run_folder import hosts_without


def test_hosts_that_do_not_see_a_folder_are_named(tmp_path):
    comm = Communicator()
    assert hosts_without(comm, tmp_path) == []
    assert hosts_without(comm, tmp_path / "elsewhere") == [socket.gethostname()]
    comm.local_rank = 1  # one rank of a host speaks for it
    assert hosts_without(comm, tmp_path / "elsewhere") == []
