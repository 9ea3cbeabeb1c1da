"""From a file of any size to a store, in pieces that do not depend on the number of ranks."""
