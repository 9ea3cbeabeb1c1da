"""Actors and learners: reinforcement learning from environments that are costly to step."""
