"""Environments that actors step, by the name that the settings give them."""
