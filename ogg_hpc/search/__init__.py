"""Finding a solution with a policy (Alg. 4)."""
