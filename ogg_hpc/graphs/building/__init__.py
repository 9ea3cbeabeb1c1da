"""From blocks of edges to a graph store that is larger than memory, over all ranks."""
