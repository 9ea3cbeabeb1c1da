"""Graph embedding: samplers draw pairs of nodes, strategies train vectors on them."""
