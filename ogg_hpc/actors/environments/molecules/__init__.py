"""Molecules built atom by atom and bond by bond, after You et al. (NeurIPS 2018)."""
