"""Convert a graph in pieces so small that there are many: SOURCE OUTPUT.h5."""

import sys
from pathlib import Path

from ogg_hpc.graphs.conversion.convert import convert
from ogg_hpc.graphs.conversion.request import Request
from ogg_hpc.runtime.launch import start

source, output = map(Path, sys.argv[1:])
convert(start("cpu"), Request(source, output, piece_bytes=1 << 14), memory=1 << 26)
