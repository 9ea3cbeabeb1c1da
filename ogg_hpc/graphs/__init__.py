"""Graphs on disk and in memory: readers, shards, generators, row blocks."""
