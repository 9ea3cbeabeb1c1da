"""Samplers: what pairs of nodes an embedding learns from."""

from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.sampling.registry import make_sampler
from ogg_hpc.embedding.sampling.sampler import Sampler

__all__ = ["Pairs", "Sampler", "make_sampler"]
