"""``python -m ogg_hpc``: the same as the ``ogg-hpc`` command."""

from ogg_hpc.cli.main import main

main()
