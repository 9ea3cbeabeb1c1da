"""Where the program runs: ranks, devices, collectives, failure, files."""
