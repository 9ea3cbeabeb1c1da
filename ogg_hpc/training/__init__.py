"""Learning a policy (Alg. 5)."""
