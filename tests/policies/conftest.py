import pytest


@pytest.fixture(scope="session")
def own_network(tmp_path_factory):
    """``FILE.py:CLASS`` of a network as a user would write one: a slope times the degree."""
    file = tmp_path_factory.mktemp("own") / "network.py"
    file.write_text(
        "from dataclasses import dataclass\n"
        "from ogg_hpc.policies.initial import uniform_parameter\n"
        "from ogg_hpc.policies.policy import Policy\n"
        "@dataclass(frozen=True)\n"
        "class Settings:\n"
        "    bound: float = 1.0\n"
        "class Slope(Policy):\n"
        "    name = 'slope'\n"
        "    settings_type = Settings\n"
        "    def __init__(self, settings, seed=0):\n"
        "        super().__init__()\n"
        "        self.settings = settings\n"
        "        self.slope = uniform_parameter('slope', (1,), settings.bound, seed)\n"
        "    def forward(self, batch, solution, at=None, degrees=None):\n"
        "        if degrees is None:\n"
        "            degrees = batch.degrees(solution.active)\n"
        "        scores = batch.comm.device.tensor(degrees) * self.slope\n"
        "        return scores if at is None else scores[at]\n"
    )
    return f"{file}:Slope"
