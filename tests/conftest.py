from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a compiled function takes as long as its compilation.
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real graphs beside the repository, which may not be redistributed with it."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the real graphs of ../shared/data")
    return folder
