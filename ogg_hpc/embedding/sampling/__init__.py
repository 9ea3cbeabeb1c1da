"""Samplers: what pairs of nodes an embedding learns from."""
