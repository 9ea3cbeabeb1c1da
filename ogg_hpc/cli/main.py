"""Entry point of ``ogg-hpc``."""


def main() -> None:
    """Run the command line."""
