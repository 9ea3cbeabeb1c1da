"""Strategies: where vectors lie while they are trained, and what crosses the ranks."""
