"""Policy and value networks, in NumPy for those who act and in torch for those who learn."""
