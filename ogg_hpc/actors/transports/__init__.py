"""The ways on which a learner reaches its hosts."""
