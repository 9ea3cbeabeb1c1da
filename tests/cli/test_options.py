import argparse

import pytest

from ogg_hpc.cli.options import add_memory_option, memory_of_rank, parse_size
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.resources import total_memory_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1000", 1000),
        ("64k", 65536),
        ("512M", 512 << 20),
        ("1.5G", 3 << 29),
        ("2T", 2 << 40),
        ("1GiB", 1 << 30),
        ("1GB", 1 << 30),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "many", "1X", "G", "1e9", "0.0001K"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="512M"):
        parse_size(text)


def test_ranks_of_a_host_share_half_of_its_memory_unless_told():
    parser = argparse.ArgumentParser()
    add_memory_option(parser)
    comm = Communicator()
    alone = memory_of_rank(parser.parse_args([]), comm)
    assert 0 < alone <= total_memory_bytes() // 2
    comm.local_size = 4
    assert memory_of_rank(parser.parse_args([]), comm) == alone // 4
    assert memory_of_rank(parser.parse_args(["--memory", "1G"]), comm) == 1 << 30
