"""Learned graph optimisation on supercomputers.

Importing this package starts neither MPI nor CUDA and loads no heavy library.
"""
