"""The ``ogg-hpc`` command: one module a subcommand, no numerics."""
