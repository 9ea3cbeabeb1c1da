"""The models that score nodes, and the parameter files they live in."""
