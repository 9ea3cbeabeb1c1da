"""A reward of your own for molecules: drug-like, and about as soluble in fat as asked for.

Use: in the TOML file of a run,

    [environment]
    name = "molecules"

    [environment.options]
    reward = "examples/molecule_reward.py:Soluble"
    reward_options = { log_p = 2.0 }
"""

from dataclasses import dataclass

from ogg_hpc.actors.environments.molecules import scores
from ogg_hpc.actors.environments.molecules.rewards import Reward, Score
from ogg_hpc.settings import setting


@dataclass(frozen=True)
class Soluble(Reward):
    """QED, less what logP is away from the one that is wanted."""

    log_p: float = setting(2.0, "logP that is wanted")
    weight: float = setting(0.2, "cost of being away from it by one")

    def score(self, molecule, start):
        """Return the score of a molecule of RDKit."""
        parts = {"qed": scores.qed(molecule), "log_p": scores.log_p(molecule)}
        return Score(parts["qed"] - self.weight * abs(parts["log_p"] - self.log_p), parts)
