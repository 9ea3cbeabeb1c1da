"""Verification of stored graphs, shared by all ranks, in memory that does not grow with them."""
