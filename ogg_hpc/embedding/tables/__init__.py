"""Matrices whose rows are spread over the ranks."""
