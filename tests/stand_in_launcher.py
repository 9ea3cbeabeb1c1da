"""Stands for srun and jsrun where scripts are tested without a batch system."""

# Starts what follows its options, once.
LAUNCHER = '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n'
